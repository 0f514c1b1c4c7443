internal import Media
internal import SDP

/// One media section of our offer or answer, before it is serialized.
struct LocalSection: Sendable, Hashable {
  var kind: String
  var transportProtocol: String
  var mid: String?
  var content: Content

  enum Content: Sendable, Hashable {
    /// Refused, or not used any more: port 0, with one format because the m-line must have one.
    case refused(format: String)
    case media(LocalMedia)
    case data(DataSection)
  }

  /// The kind of a section with data channels (RFC 8841, 4.2).
  static let dataKind = "application"

  init(kind: String, transportProtocol: String, mid: String?, content: Content) {
    self.kind = kind
    self.transportProtocol = transportProtocol
    self.mid = mid
    self.content = content
  }

  /// Creates the refusal of a remote section.
  init(refusing section: RemoteDescription.Section) {
    self.init(
      kind: section.mediaLine.kind, transportProtocol: section.mediaLine.transportProtocol, mid: section.mid,
      content: .refused(format: section.mediaLine.formats.first ?? "0"))
  }

  /// Whether the section is not refused.
  var isUsed: Bool {
    if case .refused = content { false } else { true }
  }

  /// The data channels of the section; nil if it has none.
  var data: DataSection? {
    if case .data(let data) = content { data } else { nil }
  }

  /// The media of the section; nil if it has none.
  var media: LocalMedia? {
    if case .media(let media) = content { media } else { nil }
  }

  /// The same section, refused.
  var refused: LocalSection {
    var section = self
    switch content {
    case .refused: break
    case .media(let media): section.content = .refused(format: String(media.formats[0].payloadType))
    case .data(let data): section.content = .refused(format: data.formats[0])
    }
    return section
  }
}

/// Our side of a media section that is not refused.
struct LocalMedia: Sendable, Hashable {
  /// The formats, the preferred one first; at least one.
  var formats: [MediaFormat]
  /// The format of RED that repeats one of ``formats``; nil without RED.
  var redundancy: RedundancyFormat?
  /// The number of our stream whose track is, or would be, sent in the section, from 1.
  var stream = 1
  var extensions: NegotiatedMedia.Extensions
  /// The direction of each extension, as we see it, where the offer states it.
  var extensionDirections: [HeaderExtension: MediaDirection] = [:]
  var direction: MediaDirection
  /// Whether we had media to send when this was written, whether or not the remote side receives it.
  var wantsToSend: Bool
  var supportsReducedSizeRTCP: Bool
  var supportsRRTR: Bool
  /// Whether header extensions with one-byte and with two-byte headers may be mixed (RFC 8285, 6): in our offers, and in an answer to
  /// an offer that allows it.
  var allowsMixedExtensions = false
  /// Whether we ask for Opus in stereo (RFC 7587, 6.1). A browser sends two channels only if asked, and then those of a
  /// mono microphone as well, so an answer asks only for what the offer mentions.
  var acceptsStereo: Bool
  /// The simulcast streams that we receive.
  var streams: [RestrictionIdentifier] = []

  var kind: MediaKind { formats[0].codec.kind }
  /// Names our track.
  var key: LocalDescription.Key { .init(stream: stream, kind: kind) }

  /// The payload types of the `m=` line. RED stands before the codec that it repeats: libwebrtc sends the first format.
  var payloadTypes: [UInt8] {
    formats.flatMap { format in
      (format.payloadType == redundancy?.blockPayloadType ? redundancy.map { [$0.payloadType] } ?? [] : [])
        + format.payloadTypes
    }
  }
}

extension LocalMedia {
  /// Creates the answer to a media section that the remote side offers, with its ids and payload types, and those of its
  /// capabilities that we share.
  ///
  /// - Parameters:
  ///   - stream: the number of our stream whose track belongs to the section.
  ///   - choice: the format that we choose of the section's.
  ///   - sending: whether we have media to send.
  ///   - receiving: whether we receive the remote side's media.
  init(answering remote: RemoteMedia, stream: Int = 1, choice: FormatChoice, sending: Bool, receiving: Bool) {
    let format = choice.format
    self.init(
      formats: ([format] + choice.alternatives).map { format in
        var format = format
        format.feedback = format.feedback.intersection(.all(for: format.codec))
        format.parameters = format.parameters?.answer
        return format
      },
      redundancy: choice.redundancy, stream: stream, extensions: remote.extensions,
      extensionDirections: remote.extensionDirections.mapValues { $0.reversed },
      direction: MediaDirection(
        sends: sending && choice.isSendable && remote.direction.receives,
        receives: receiving && remote.direction.sends),
      wantsToSend: sending, supportsReducedSizeRTCP: remote.supportsReducedSizeRTCP, supportsRRTR: remote.supportsRRTR,
      allowsMixedExtensions: remote.allowsMixedExtensions,
      acceptsStereo: remote.acceptsStereo || receiving && remote.sendsStereo,
      streams: !receiving
        ? []
        : remote.streams.filter { $0.payloadTypes?.contains(format.payloadType) ?? true }.map { stream in
          let restrictions = stream.restrictions.compactMap { Self.answered($0, payloadType: format.payloadType) }
          return RestrictionIdentifier(id: stream.id, direction: .receive, restrictions: restrictions)
        })
  }

  /// Returns the answer to a restriction of a stream: the payload type that we chose, a limit of RFC 8851, 5 unchanged, and nil
  /// for anything else. So an answer is never longer than needed, whatever the offer contains.
  private static func answered(_ restriction: String, payloadType: UInt8) -> String? {
    guard let (name, value) = restriction.cut(at: "=") else { return nil }
    switch name {
    case "pt": return "pt=\(payloadType)"
    case "max-width", "max-height", "max-fps", "max-fs", "max-br", "max-pps", "max-bpp":
      let isNumber = value.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
      }
      return isNumber && (1...16).contains(value.utf8.count) ? restriction : nil
    default: return nil
    }
  }

  /// Returns what remains of this offer after the remote side's answer.
  ///
  /// - Parameters:
  ///   - sent: the codec of the frames that we send; nil for any.
  ///   - preferences: which of its formats we can send.
  func agreed(with remote: RemoteMedia, sending sent: Codec?, _ preferences: CodecPreferences) -> LocalMedia {
    var agreed = self
    agreed.formats = remote.formats.compactMap { theirs in
      // The profile of an answer may be another than we offered; what the stream is, its parameter sets say.
      let ours =
        formats.first { $0.isSame(as: theirs) }
        ?? formats.first { $0.codec == theirs.codec && $0.payloadType == theirs.payloadType }
      guard let ours = ours ?? formats.first(where: { $0.codec == theirs.codec }) else { return nil }
      var format = theirs
      if ours.retransmissionPayloadType == nil { format.retransmissionPayloadType = nil }
      format.feedback = ours.feedback.intersection(theirs.feedback)
      format.parameters = theirs.parameters?.answer
      return format
    }
    // An answer should have nothing that was not offered; if it has nothing else, that is what the remote side sends.
    if agreed.formats.isEmpty {
      agreed.formats = remote.formats.map { theirs in
        var format = theirs
        format.feedback = theirs.feedback.intersection(.all(for: theirs.codec))
        format.parameters = theirs.parameters?.answer
        return format
      }
    }
    agreed.redundancy =
      redundancy == nil
      ? nil
      : remote.redundancies.first { red in
        agreed.formats.contains { $0.payloadType == red.blockPayloadType }
      }
    for known in HeaderExtension.allCases where extensions[known] != remote.extensions[known] {
      // An answer may omit an extension, but not change its id (RFC 8285, 6).
      agreed.extensions[known] = nil
      agreed.extensionDirections[known] = nil
    }
    if agreed.extensions.transportSequenceNumber == nil {
      for position in agreed.formats.indices { agreed.formats[position].feedback.transportWide = false }
    }
    let canSend = sent.map { sent in agreed.formats.contains { $0.codec == sent && preferences.canSend($0) } } ?? true
    agreed.direction = MediaDirection(
      sends: direction.sends && canSend && remote.direction.receives,
      receives: direction.receives && remote.direction.sends)
    agreed.allowsMixedExtensions = allowsMixedExtensions && remote.allowsMixedExtensions
    agreed.supportsReducedSizeRTCP = supportsReducedSizeRTCP && remote.supportsReducedSizeRTCP
    agreed.supportsRRTR = supportsRRTR && remote.supportsRRTR
    agreed.streams = streams.filter { stream in remote.streams.contains { $0.id == stream.id } }
    return agreed
  }

  /// Returns the settings for the media session: one for each track that the remote side may send in the section.
  ///
  /// - Parameters:
  ///   - numbers: the numbers of the streams of these tracks; nil for one that is not received.
  ///   - track: our track.
  func negotiated(
    index: Int, mid: String?, remote: RemoteMedia, numbers: [Int?], track: LocalTrack
  ) -> [NegotiatedMedia] {
    zip(remote.tracks, numbers).enumerated().map { ordinal, theirs in
      let (remoteTrack, number) = theirs
      let format = formats[0]
      var media = NegotiatedMedia(
        index: index, mid: mid, format: format, sends: direction.sends && ordinal == 0,
        receives: direction.receives && number != nil,
        extensions: extensions, remoteSources: remoteTrack.sources, remoteStreamIDs: streams.map(\.id),
        localSSRC: track.ssrc,
        localRetransmissionSSRC: formats.contains { $0.retransmissionPayloadType != nil }
          ? track.retransmissionSSRC : nil)
      media.alternatives = Array(formats.dropFirst())
      media.redundancyPayloadType = redundancy?.payloadType
      media.redundantPayloadType = redundancy?.blockPayloadType
      media.ordinal = ordinal
      media.stream = number ?? 1
      media.localStream = stream
      media.streamID = remoteTrack.streamID
      media.content = remote.content
      return media
    }
  }
}

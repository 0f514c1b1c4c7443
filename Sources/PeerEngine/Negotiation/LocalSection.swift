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
  /// Whether header extensions with one-byte and with two-byte headers may be mixed (RFC 8285, 6): in an answer to an offer that
  /// allows it.
  var allowsMixedExtensions = false
  /// Whether we ask for Opus in stereo (RFC 7587, 6.1). A browser sends two channels only if asked, and then those of a
  /// mono microphone as well, so an answer asks only for what the offer mentions.
  var acceptsStereo: Bool
  /// The simulcast streams that we receive.
  var streams: [RestrictionIdentifier] = []

  var kind: MediaKind { formats[0].codec.kind }
  /// Names our track.
  var key: LocalDescription.Key { .init(stream: stream, kind: kind) }
}

extension LocalMedia {
  /// Creates the answer to a media section that the remote side offers, with its ids and payload types, and those of its
  /// capabilities that we share.
  ///
  /// - Parameters:
  ///   - stream: the number of our stream whose track belongs to the section.
  ///   - sending: whether we have media to send.
  ///   - receiving: whether we receive the remote side's media.
  init(answering remote: RemoteMedia, stream: Int = 1, sending: Bool, receiving: Bool) {
    self.init(
      formats: remote.formats.map { format in
        var ours = format
        ours.feedback = format.feedback.intersection(.all(for: format.codec))
        return ours
      },
      stream: stream, extensions: remote.extensions,
      extensionDirections: remote.extensionDirections.mapValues { $0.reversed },
      direction: MediaDirection(
        sends: sending && remote.direction.receives, receives: receiving && remote.direction.sends),
      wantsToSend: sending, supportsReducedSizeRTCP: remote.supportsReducedSizeRTCP, supportsRRTR: remote.supportsRRTR,
      allowsMixedExtensions: remote.allowsMixedExtensions,
      acceptsStereo: remote.acceptsStereo || receiving && remote.sendsStereo,
      streams: !receiving
        ? []
        : remote.streams.map { stream in
          let restrictions = stream.restrictions.compactMap {
            Self.answered(
              $0, payloadTypes: remote.formats.map(\.payloadType).filter { stream.payloadTypes?.contains($0) ?? true })
          }
          return RestrictionIdentifier(id: stream.id, direction: .receive, restrictions: restrictions)
        })
  }

  /// Returns the answer to a restriction of a stream: the payload types that we chose of it, a limit of RFC 8851, 5 unchanged, and
  /// nil for anything else. So an answer is never longer than needed, whatever the offer contains.
  private static func answered(_ restriction: String, payloadTypes: [UInt8]) -> String? {
    guard let (name, value) = restriction.cut(at: "=") else { return nil }
    switch name {
    case "pt": return "pt=" + payloadTypes.map { String($0) }.joined(separator: ",")
    case "max-width", "max-height", "max-fps", "max-fs", "max-br", "max-pps", "max-bpp":
      let isNumber = value.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
      }
      return isNumber && (1...16).contains(value.utf8.count) ? restriction : nil
    default: return nil
    }
  }

  /// Returns what remains of this offer after the remote side's answer.
  func agreed(with remote: RemoteMedia) -> LocalMedia {
    var agreed = self
    agreed.formats = remote.formats.compactMap { theirs in
      guard let ours = formats.first(where: { $0.codec == theirs.codec }) else { return nil }
      return MediaFormat(
        codec: theirs.codec, payloadType: theirs.payloadType,
        retransmissionPayloadType: ours.retransmissionPayloadType == nil ? nil : theirs.retransmissionPayloadType,
        feedback: ours.feedback.intersection(theirs.feedback))
    }
    if agreed.formats.isEmpty { agreed.formats = formats }
    for known in HeaderExtension.allCases where extensions[known] != remote.extensions[known] {
      // An answer may omit an extension, but not change its id (RFC 8285, 6).
      agreed.extensions[known] = nil
      agreed.extensionDirections[known] = nil
    }
    if agreed.extensions.transportSequenceNumber == nil {
      for position in agreed.formats.indices { agreed.formats[position].feedback.transportWide = false }
    }
    agreed.direction = MediaDirection(
      sends: direction.sends && remote.direction.receives, receives: direction.receives && remote.direction.sends)
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
      media.ordinal = ordinal
      media.stream = number ?? 1
      media.localStream = stream
      media.streamID = remoteTrack.streamID
      media.content = remote.content
      return media
    }
  }
}

internal import Media
internal import SDP

/// The remote side's capabilities in one media section, reduced to those that we support.
struct RemoteMedia: Sendable, Hashable {
  /// The formats that both sides support, in the order of the remote side's preference; at least one.
  var formats: [MediaFormat]
  /// The formats of RED (RFC 2198) that repeat only one of ``formats``.
  var redundancies: [RedundancyFormat]
  var extensions: NegotiatedMedia.Extensions
  /// The direction of each extension, as the remote side sees it, where it is stated.
  var extensionDirections: [HeaderExtension: MediaDirection]
  /// The direction as the remote side sees it.
  var direction: MediaDirection
  /// Whether the remote side accepts reduced-size RTCP (RFC 5506).
  var supportsReducedSizeRTCP: Bool
  /// Whether the remote side measures round-trip times by extended reports (RFC 3611, 5.1).
  var supportsRRTR: Bool
  /// Whether the remote side wants to receive Opus in stereo (RFC 7587, 6.1).
  var acceptsStereo: Bool
  /// Whether the remote side is likely to send Opus in stereo.
  var sendsStereo: Bool
  /// The tracks that the section describes, at least one.
  var tracks: [RemoteTrack]
  /// What the media shows, if the section says it (`a=content`, RFC 4796).
  var content: String?
  /// Whether the remote side sends header extensions with two-byte headers beside others (RFC 8285, 6).
  var allowsMixedExtensions: Bool
  /// The simulcast streams that the remote side offers to send.
  var streams: [RestrictionIdentifier]

  /// The protocol in our offers.
  static let usualProtocol = "UDP/TLS/RTP/SAVPF"
  /// The protocols of RTP over DTLS-SRTP that other programs write (RFC 8829, 5.1.2).
  private static let protocols: Set<String> = [
    "UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVP", "TCP/DTLS/RTP/SAVPF", "TCP/TLS/RTP/SAVPF", "RTP/SAVPF", "RTP/SAVP",
  ]

  /// - Parameters:
  ///   - section: the section; its port is not inspected, because only the caller knows the bundles.
  ///   - direction: the direction of the section, or of the session if the section has none.
  ///   - isMultiplexed: whether RTP and RTCP share its transport.
  ///   - allowsMixedExtensions: whether the session allows header extensions of both forms (RFC 8285, 6).
  ///   - codecs: what we support.
  init(
    _ section: MediaSection, direction: MediaDirection, isMultiplexed: Bool, allowsMixedExtensions: Bool = false,
    codecs: CodecPreferences = CodecPreferences()
  ) throws(SectionRejection) {
    let line = section.mediaLine
    guard let kind = MediaKind(rawValue: line.kind) else { throw .notAudioOrVideo }
    guard Self.protocols.contains(line.transportProtocol.uppercased()) else {
      throw .unknownProtocol(line.transportProtocol, supported: Self.usualProtocol)
    }
    guard isMultiplexed else { throw .noRTCPMultiplexing }
    let offered = section.payloadFormats
    let supported = codecs[kind]
    formats = Self.formats(of: supported, in: offered)
    guard !formats.isEmpty else {
      throw .noKnownCodec(offered: section.codecNames(besides: supported), supported: supported)
    }
    redundancies = kind == .audio ? Self.redundancies(of: formats, in: offered) : []
    acceptsStereo = offered.contains { $0.parameters["stereo"] == "1" }
    sendsStereo = offered.contains { $0.parameters["sprop-stereo"] == "1" }
    supportsReducedSizeRTCP = section.hasAttribute("rtcp-rsize")
    supportsRRTR = section.attribute("rtcp-xr")?.fields().contains { $0.hasPrefix("rcvr-rtt=") } ?? false
    self.direction = direction

    self.allowsMixedExtensions = allowsMixedExtensions || section.hasAttribute("extmap-allow-mixed")
    (extensions, extensionDirections) = Self.extensions(
      of: section, kind: kind, maximumID: self.allowsMixedExtensions ? 255 : 14)
    tracks = RemoteTrack.tracks(of: section)
    content = section.attribute("content")
    streams = Self.streams(of: section, payloadTypes: formats.map(\.payloadType))
    // Without transport-wide sequence numbers in the packets, there is nothing to give feedback on.
    if extensions.transportSequenceNumber == nil {
      for position in formats.indices { formats[position].feedback.transportWide = false }
    }
    // Without stream ids in the packets, the streams could not be distinguished.
    if extensions.streamID == nil { streams = [] }
  }

  var kind: MediaKind { formats[0].codec.kind }

  /// Returns the formats of supported codecs, in the order of the section.
  private static func formats(of supported: [Codec], in offered: [PayloadFormat]) -> [MediaFormat] {
    offered.compactMap { format in
      guard var media = supported.lazy.compactMap({ $0.format(format) }).first else { return nil }
      let retransmission = offered.first {
        $0.associatedPayloadType == format.payloadType && $0.clockRate == format.clockRate
      }
      media.retransmissionPayloadType = retransmission?.payloadType
      return media
    }
  }

  /// Returns the formats of RED whose blocks all have the payload type of one of the formats.
  private static func redundancies(of formats: [MediaFormat], in offered: [PayloadFormat]) -> [RedundancyFormat] {
    offered.compactMap { red in
      // `111/111`: the payload types of a packet's blocks.
      guard red.name.lowercased() == RedundancyFormat.encodingName, let list = red.parameters.pairs.first?.name else {
        return nil
      }
      let blocks = Set(list.fields(separatedBy: "/", keepingEmpty: true).map { UInt8($0) })
      guard blocks.count == 1, let only = blocks.first, let payloadType = only,
        let format = formats.first(where: { $0.payloadType == payloadType }),
        red.clockRate == UInt32(format.codec.clockRate)
      else { return nil }
      return RedundancyFormat(payloadType: red.payloadType, blockPayloadType: payloadType)
    }
  }

  /// Returns the supported extensions.
  ///
  /// - Parameter maximumID: 14, the highest id that fits one-byte headers (RFC 8285, 4.2), or 255 if the two-byte form is allowed.
  private static func extensions(
    of section: MediaSection, kind: MediaKind, maximumID: UInt16
  ) -> (NegotiatedMedia.Extensions, [HeaderExtension: MediaDirection]) {
    var extensions = NegotiatedMedia.Extensions()
    var directions: [HeaderExtension: MediaDirection] = [:]
    var taken: Set<UInt16> = []
    for map in section.attributes("extmap").compactMap({ HeaderExtensionMap(parsing: $0) }) {
      let known = HeaderExtension.allCases.first { $0.uri == map.uri && $0.isMeant(for: kind) }
      guard let known, extensions[known] == nil, (1...maximumID).contains(map.id), map.id != 15,
        map.direction != .inactive,
        taken.insert(map.id).inserted
      else { continue }
      extensions[known] = UInt8(map.id)
      directions[known] = map.direction
    }
    return (extensions, directions)
  }

  /// Refuses a header extension.
  mutating func leaveOut(_ extension: HeaderExtension) {
    extensions[`extension`] = nil
    extensionDirections[`extension`] = nil
  }

  /// Returns the simulcast streams with one of our payload types, in the order of `a=simulcast`.
  private static func streams(of section: MediaSection, payloadTypes: [UInt8]) -> [RestrictionIdentifier] {
    /// No program sends more layers.
    let most = 8
    guard let simulcast = section.attribute("simulcast").flatMap({ SimulcastDescription(parsing: $0) }) else {
      return []
    }
    let fitting = section.attributes("rid").compactMap { RestrictionIdentifier(parsing: $0) }
      .filter { $0.direction == .send && $0.payloadTypes.map { !Set($0).isDisjoint(with: payloadTypes) } ?? true }
    let positions = Dictionary(zip(fitting.map(\.id), fitting.indices)) { first, _ in first }
    var chosen: [Int] = []
    for alternatives in simulcast.sent {
      guard chosen.count < most, let position = alternatives.lazy.compactMap({ positions[$0] }).min(),
        !chosen.contains(position)
      else { continue }
      chosen.append(position)
    }
    return chosen.map { fitting[$0] }
  }
}

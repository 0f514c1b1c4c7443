internal import Media
internal import SDP

/// The remote side's capabilities in one media section, reduced to those that we support.
struct RemoteMedia: Sendable, Hashable {
  var codec: Codec
  var payloadType: UInt8
  var retransmissionPayloadType: UInt8?
  var feedback: NegotiatedMedia.Feedback
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
  var sources: [NegotiatedMedia.RemoteSource]
  /// Whether the remote side can send the orientation of its frames beside them.
  var signalsOrientation: Bool
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
  init(_ section: MediaSection, direction: MediaDirection, isMultiplexed: Bool) throws(SectionRejection) {
    let line = section.mediaLine
    guard let kind = MediaKind(rawValue: line.kind) else { throw .notAudioOrVideo }
    guard Self.protocols.contains(line.transportProtocol.uppercased()) else {
      throw .unknownProtocol(line.transportProtocol, supported: Self.usualProtocol)
    }
    guard isMultiplexed else { throw .noRTCPMultiplexing }
    let formats = section.payloadFormats
    let supported = Codec.all(of: kind)
    let known = supported.lazy.compactMap { codec in codec.format(in: formats).map { (codec, $0) } }.first
    guard let (codec, format) = known else {
      throw .noKnownCodec(offered: section.codecNames(besides: supported), supported: supported)
    }
    self.codec = codec
    payloadType = format.payloadType
    retransmissionPayloadType =
      formats.first { $0.associatedPayloadType == format.payloadType && $0.clockRate == format.clockRate }?.payloadType
    feedback = NegotiatedMedia.Feedback(parsing: format.feedback)
    acceptsStereo = format.parameters["stereo"] == "1"
    sendsStereo = format.parameters["sprop-stereo"] == "1"
    supportsReducedSizeRTCP = section.hasAttribute("rtcp-rsize")
    supportsRRTR = section.attribute("rtcp-xr")?.fields().contains { $0.hasPrefix("rcvr-rtt=") } ?? false
    self.direction = direction

    (extensions, extensionDirections, signalsOrientation) = Self.extensions(of: section, kind: kind)
    sources = Self.sources(of: section)
    streams = Self.streams(of: section, payloadType: format.payloadType)
    // Without transport-wide sequence numbers in the packets, there is nothing to give feedback on.
    if extensions.transportSequenceNumber == nil { feedback.transportWide = false }
    // Without stream ids in the packets, the streams could not be distinguished.
    if extensions.streamID == nil { streams = [] }
  }

  /// Returns the supported extensions, with ids that fit one-byte headers (RFC 8285, 4.2). The two-byte form, which larger
  /// ids need, is left out on purpose: no browser needs it.
  private static func extensions(
    of section: MediaSection, kind: MediaKind
  ) -> (NegotiatedMedia.Extensions, [HeaderExtension: MediaDirection], signalsOrientation: Bool) {
    var extensions = NegotiatedMedia.Extensions()
    var directions: [HeaderExtension: MediaDirection] = [:]
    var taken: Set<UInt16> = []
    var signalsOrientation = false
    for map in section.attributes("extmap").compactMap({ HeaderExtensionMap(parsing: $0) }) {
      if map.uri == HeaderExtension.orientationURI { signalsOrientation = true }
      let known = HeaderExtension.allCases.first { $0.uri == map.uri && $0.isMeant(for: kind) }
      guard let known, extensions[known] == nil, (1...14).contains(map.id), map.direction != .inactive,
        taken.insert(map.id).inserted
      else { continue }
      extensions[known] = UInt8(map.id)
      directions[known] = map.direction
    }
    return (extensions, directions, signalsOrientation)
  }

  /// Returns the announced sources, without those that only retransmit or protect others.
  private static func sources(of section: MediaSection) -> [NegotiatedMedia.RemoteSource] {
    /// Far more than any program announces in one section.
    let most = 64
    var sources: [NegotiatedMedia.RemoteSource] = []
    var positions: [UInt32: Int] = [:]
    for attribute in section.attributes("ssrc").lazy.compactMap({ SourceAttribute(parsing: $0) }) {
      let position = positions[attribute.ssrc] ?? sources.count
      if position == sources.count {
        guard sources.count < most else { continue }
        sources.append(NegotiatedMedia.RemoteSource(ssrc: attribute.ssrc))
        positions[attribute.ssrc] = position
      }
      if attribute.name == "cname", sources[position].cname == nil { sources[position].cname = attribute.value }
    }
    var repairing: Set<UInt32> = []
    for group in section.attributes("ssrc-group").compactMap({ SourceGroup(parsing: $0) }) {
      guard group.sources.count == 2, group.sources[0] != group.sources[1] else { continue }
      guard let position = positions[group.sources[0]] else { continue }
      switch group.semantics {
      case "FID" where sources[position].retransmissionSSRC == nil:
        sources[position].retransmissionSSRC = group.sources[1]
        repairing.insert(group.sources[1])
      case "FEC-FR":
        repairing.insert(group.sources[1])
      default: break
      }
    }
    return sources.filter { !repairing.contains($0.ssrc) }
  }

  /// Returns the simulcast streams with our payload type, in the order of `a=simulcast`.
  private static func streams(of section: MediaSection, payloadType: UInt8) -> [RestrictionIdentifier] {
    /// No program sends more layers.
    let most = 8
    guard let simulcast = section.attribute("simulcast").flatMap({ SimulcastDescription(parsing: $0) }) else {
      return []
    }
    let fitting = section.attributes("rid").compactMap { RestrictionIdentifier(parsing: $0) }
      .filter { $0.direction == .send && $0.payloadTypes?.contains(payloadType) != false }
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

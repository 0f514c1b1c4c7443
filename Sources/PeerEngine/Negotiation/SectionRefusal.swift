/// Why a media section carries nothing between the remote side and us.
package enum SectionRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The remote side itself set the port to 0.
  case refusedByRemote
  /// For example the data channel's `application`.
  case notAudioOrVideo(kind: String)
  case unknownProtocol(String)
  /// Without it RTP and RTCP would need two transports (RFC 8834, 4.5).
  case noRTCPMultiplexing
  /// The codec that we speak for this kind of media is not among the section's.
  case noKnownCodec(wanted: String)

  package var description: String {
    switch self {
    case .refusedByRemote: "refused by the other side"
    case .notAudioOrVideo(let kind): "\"\(kind.prefix(20))\" is neither audio nor video"
    case .unknownProtocol(let name): "protocol \"\(name.prefix(40))\" is not SRTP keyed by DTLS"
    case .noRTCPMultiplexing: "no rtcp-mux"
    case .noKnownCodec(let wanted): "no \(wanted)"
    }
  }
}

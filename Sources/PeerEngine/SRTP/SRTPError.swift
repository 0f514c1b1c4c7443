/// Why libsrtp refused a session or a packet.
package enum SRTPError: Error, Sendable, Hashable, CustomStringConvertible {
  case sessionNotMade(status: UInt32)
  /// The packet was seen before, or is older than the replay window (RFC 3711, 3.3.2).
  case replayed
  /// The authentication tag is wrong: forged, damaged, or under another key.
  case notAuthentic
  case refused(status: UInt32)

  package var description: String {
    switch self {
    case .sessionNotMade(let status): "libsrtp could not make a session (status \(status))."
    case .replayed: "The packet was seen before or is too old."
    case .notAuthentic: "The packet's authentication tag is wrong."
    case .refused(let status): "libsrtp refused the packet (status \(status))."
    }
  }
}

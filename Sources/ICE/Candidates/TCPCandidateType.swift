/// How a TCP candidate's connection comes about (RFC 6544, 4.1); the raw value is that of `tcptype`.
package enum TCPCandidateType: String, Sendable, Hashable {
  /// The candidate opens the connection; its port in a description means nothing.
  case active
  /// The candidate accepts the connection.
  case passive
  /// Both do at once. The agent has no such candidates.
  case simultaneousOpen = "so"

  /// The preference of a host candidate's direction, 0 to 7: the local preference of a TCP candidate begins with it (RFC
  /// 6544, 4.2).
  var directionPreference: UInt16 {
    switch self {
    case .active: 6
    case .passive: 4
    case .simultaneousOpen: 2
    }
  }
}

extension TransportAddress {
  /// The port that stands for "none" in active candidates (RFC 6544, 4.5): that of the Discard protocol.
  package static let discardPort: UInt16 = 9

  /// The base of an active TCP candidate. The system chooses the port of each connection.
  package static func activeTCP(_ ip: IPAddress) -> TransportAddress {
    TransportAddress(ip: ip, port: discardPort, transport: .tcp)
  }

  /// Whether connections are opened from this local address, not accepted at it.
  package var isActiveTCP: Bool { transport == .tcp && port == Self.discardPort }

  /// The type of this local address's TCP candidate; nil for UDP.
  var tcpType: TCPCandidateType? {
    guard transport == .tcp else { return nil }
    return port == Self.discardPort ? .active : .passive
  }

  /// Whether connections to this port may be opened. Of the ports below 1,024 only those of the web are allowed, and those
  /// not in private networks: a remote peer must not make this machine connect to other services (as libwebrtc).
  func mayBeConnectedTo(isLocal: Bool) -> Bool { port >= 1_024 || (port == 80 || port == 443) && !isLocal }
}

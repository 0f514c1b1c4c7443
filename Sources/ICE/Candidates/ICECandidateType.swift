/// How a candidate's address was found (RFC 8445, 4), by its name in SDP.
package enum ICECandidateType: String, Sendable, Hashable, CaseIterable {
  /// An address of the machine itself.
  case host
  /// What a STUN server saw the host address as.
  case serverReflexive = "srflx"
  /// What the other peer saw the host address as.
  case peerReflexive = "prflx"
  /// An address of a TURN server.
  case relayed = "relay"

  /// The recommended type preference, 0 to 126 (RFC 8445, 5.1.2.2).
  package var preference: UInt32 {
    switch self {
    case .host: 126
    case .peerReflexive: 110
    case .serverReflexive: 100
    case .relayed: 0
    }
  }

  /// The priority of a candidate of component 1 (RFC 8445, 5.1.2.1).
  package func priority(localPreference: UInt16) -> UInt32 {
    preference << 24 | UInt32(localPreference) << 8 | 255
  }
}

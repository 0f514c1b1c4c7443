/// The type of a candidate (RFC 8445, 4); the raw value is its name in SDP.
package enum ICECandidateType: String, Sendable, Hashable, CaseIterable {
  /// An address of the machine itself.
  case host
  /// The host address as a STUN server sees it.
  case serverReflexive = "srflx"
  /// The host address as the remote peer sees it.
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

  /// Returns the priority of a candidate of component 1 (RFC 8445, 5.1.2.1).
  package func priority(localPreference: UInt16) -> UInt32 {
    preference << 24 | UInt32(localPreference) << 8 | 255
  }
}

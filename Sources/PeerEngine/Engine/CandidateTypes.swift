internal import ICE

/// The types of the two candidates between which media flows (RFC 8839, 5.1): `host`, `srflx`, `prflx` or `relay`.
public struct CandidateTypes: Sendable, Hashable {
  public let local: String
  public let remote: String

  init(local: ICECandidateType, remote: ICECandidateType) {
    self.local = local.rawValue
    self.remote = remote.rawValue
  }

  /// Whether datagrams pass through a TURN server.
  public var isRelayed: Bool { [local, remote].contains(ICECandidateType.relayed.rawValue) }
}

package import ICE

/// The types of the two candidates between which media flows (RFC 8839, 5.1): `host`, `srflx`, `prflx` or `relay`.
public struct CandidateTypes: Sendable, Hashable {
  public let local: String
  public let remote: String
  /// The transport protocol between them, `udp` or `tcp` (RFC 6544). That to a TURN server may be another one.
  public let transport: String

  /// - Parameter transport: that of the path, even if a TURN server is reached by another one.
  package init(local: ICECandidateType, remote: ICECandidateType, transport: TransportProtocol) {
    self.local = local.rawValue
    self.remote = remote.rawValue
    self.transport = transport.rawValue
  }

  /// Whether datagrams pass through a TURN server.
  public var isRelayed: Bool { [local, remote].contains(ICECandidateType.relayed.rawValue) }
}

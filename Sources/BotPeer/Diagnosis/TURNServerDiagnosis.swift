/// Whether a TURN server relays for us over one transport.
public struct TURNServerDiagnosis: Sendable, Hashable, Codable {
  /// Without user name and password.
  public var url: String
  /// `udp`, `tcp` or `tls`.
  public var transport: String
  /// Whether a call with this URL uses the transport; TCP is also tried for a `turn:` URL that names no transport.
  public var isUsedByCalls: Bool
  /// The address that was asked; nil if the name could not be resolved.
  public var address: String?
  /// Whether the server answered, perhaps with a refusal.
  public var hasAnswered = false
  public var isAllocated = false
  /// From the first packet to the allocation, with TCP and TLS; in milliseconds.
  public var allocationTime: Double?
  public var relayed: [String] = []
  /// Our address as the server sees it.
  public var mapped: String?
  /// Whether data came back through the relay; nil if that was not tested.
  public var returnsData: Bool?
  /// What was tested, as a clause.
  public var dataTest: String?
  /// The certificate, if the transport is TLS and the server has sent one.
  public var certificate: CertificateDiagnosis?
  /// Why there is no allocation, as a sentence.
  public var failure: String?

  public init(url: String, transport: String, isUsedByCalls: Bool) {
    self.url = url
    self.transport = transport
    self.isUsedByCalls = isUsedByCalls
  }
}

/// The result of `chatbot diagnose`: the object that `--json` prints. Times are milliseconds. Fields without a value
/// are absent.
public struct DiagnosisReport: Sendable, Hashable, Encodable {
  /// A STUN server, with what its measurement means.
  public struct STUNEntry: Sendable, Hashable, Encodable {
    public var measured: STUNServerDiagnosis

    private enum CodingKeys: String, CodingKey {
      case meaning
    }

    public func encode(to encoder: any Encoder) throws {
      try measured.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encodeIfPresent(measured.meaning, forKey: .meaning)
    }
  }

  /// The version of this object; incremented only when a field changes its meaning or is removed.
  public let version = 1
  public var interfaces: [InterfaceDiagnosis]
  public var ipv6Only: IPv6OnlyDiagnosis?
  public var stun: [STUNEntry]
  public var turn: [TURNServerDiagnosis]
  public var server: RoomServerDiagnosis?
  public var verdict: CallVerdict

  public init(_ diagnosis: NetworkDiagnosis) {
    interfaces = diagnosis.interfaces
    ipv6Only = diagnosis.ipv6Only
    stun = diagnosis.stun.map(STUNEntry.init)
    turn = diagnosis.turn
    server = diagnosis.roomServer
    verdict = CallVerdict(diagnosis)
  }
}

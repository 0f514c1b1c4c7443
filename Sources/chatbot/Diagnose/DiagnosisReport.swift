import BotPeer
import FoundationEssentials

/// The result of `chatbot diagnose`: the object that `--json` prints. Times are milliseconds. Fields without a value
/// are absent.
struct DiagnosisReport: Sendable, Hashable, Encodable {
  /// A STUN server, with what its measurement means.
  struct STUNEntry: Sendable, Hashable, Encodable {
    var measured: STUNServerDiagnosis

    private enum CodingKeys: String, CodingKey {
      case meaning
    }

    func encode(to encoder: any Encoder) throws {
      try measured.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encodeIfPresent(measured.meaning, forKey: .meaning)
    }
  }

  /// The version of this object; incremented only when a field changes its meaning or is removed.
  let version = 1
  var interfaces: [InterfaceDiagnosis]
  var ipv6Only: IPv6OnlyDiagnosis?
  var stun: [STUNEntry]
  var turn: [TURNServerDiagnosis]
  var server: RoomServerDiagnosis?
  var verdict: CallVerdict

  init(_ diagnosis: NetworkDiagnosis) {
    interfaces = diagnosis.interfaces
    ipv6Only = diagnosis.ipv6Only
    stun = diagnosis.stun.map(STUNEntry.init)
    turn = diagnosis.turn
    server = diagnosis.roomServer
    verdict = CallVerdict(diagnosis)
  }

  /// The object as JSON, with the keys in alphabetical order.
  var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
}

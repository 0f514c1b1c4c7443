import BotPeer
import Foundation
import Testing

@Suite("the report of a diagnosis")
struct DiagnosisReportTests {
  private func stun(
    _ mapping: String? = "endpoint-independent", _ filtering: String? = "address and port-dependent"
  ) -> STUNServerDiagnosis {
    var server = STUNServerDiagnosis(url: "stun:stun.example")
    server.address = "203.0.113.10:3478"
    server.isReachable = true
    server.roundTripTime = 12.3
    server.mapped = "203.0.113.100:40000"
    (server.mapping, server.filtering) = (mapping, filtering)
    (server.mappingMethod, server.filteringMethod) = ("compared at A and B", "no answer arrived")
    return server
  }

  private var silent: STUNServerDiagnosis {
    var server = STUNServerDiagnosis(url: "stun:stun.example")
    server.failure = "The STUN server does not answer."
    return server
  }

  private func turn(_ transport: String = "udp", isUsed: Bool = true, data: Bool? = true) -> TURNServerDiagnosis {
    var server = TURNServerDiagnosis(url: "turn:turn.example", transport: transport, isUsedByCalls: isUsed)
    server.isAllocated = true
    server.allocationTime = 30
    server.relayed = ["203.0.113.12:50000"]
    server.returnsData = data
    return server
  }

  private var unanswered: TURNServerDiagnosis {
    var server = TURNServerDiagnosis(url: "turn:turn.example", transport: "udp", isUsedByCalls: true)
    server.failure = "The TURN server has not answered for 5 s."
    return server
  }

  private var refused: TURNServerDiagnosis {
    var server = TURNServerDiagnosis(url: "turn:turn.example", transport: "udp", isUsedByCalls: true)
    server.hasAnswered = true
    server.failure = "The TURN server refused the user name or the password."
    return server
  }

  private func diagnosis(
    _ stun: [STUNServerDiagnosis] = [], _ turn: [TURNServerDiagnosis] = [], _ room: RoomServerDiagnosis? = nil
  ) -> NetworkDiagnosis {
    var diagnosis = NetworkDiagnosis()
    diagnosis.interfaces = [
      InterfaceDiagnosis(name: "lo", address: "127.0.0.1", isUsed: false, reason: "loopback"),
      InterfaceDiagnosis(name: "eth0", address: "10.1.0.2", isUsed: true),
    ]
    (diagnosis.stun, diagnosis.turn, diagnosis.roomServer) = (stun, turn, room)
    return diagnosis
  }

  private func json(of report: DiagnosisReport) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return String(decoding: try encoder.encode(report), as: UTF8.self)
  }

  @Test("the verdict names the calls that work")
  func verdicts() {
    var verdict = CallVerdict(diagnosis([stun()], [turn()]))
    #expect(verdict.calls == .direct && !verdict.isServerMissing && verdict.advice == [])
    #expect(
      verdict.summary
        == "Direct calls work, except with users whose NAT has a port for each destination; all other calls go through the relay."
    )
    verdict = CallVerdict(diagnosis([stun("address and port-dependent")]))
    #expect(verdict.calls == .direct)
    #expect(verdict.summary.hasPrefix("Direct calls work only with users who let in datagrams from any port"))
    #expect(verdict.advice == ["Add a TURN server for the others: --ice-server turn:HOST."])
    verdict = CallVerdict(diagnosis([stun(nil, nil)], [refused]))
    #expect(verdict.summary.hasPrefix("Direct calls may work"))
    verdict = CallVerdict(diagnosis([silent], [turn("tcp")]))
    #expect(verdict.calls == .relayed)
    #expect(verdict.summary.contains("only through the relay turn:turn.example, because no STUN server answers"))
    verdict = CallVerdict(diagnosis([], [turn(data: false)]))
    #expect(verdict.calls == .relayed && verdict.summary.contains("no data came back"))
    verdict = CallVerdict(diagnosis())
    #expect(verdict.calls == .local)
  }

  @Test("a network without IPv4 is named, with the prefix of its NAT64 or what its absence means")
  func ipv6Only() throws {
    var network = diagnosis([stun()], [turn()])
    var report = DiagnosisReport(network)
    #expect(try !json(of: report).contains("ipv6Only"))
    #expect(!DiagnosisTable(report).lines.contains("network"))
    network.ipv6Only = IPv6OnlyDiagnosis(nat64Prefix: "64:ff9b::/96")
    report = DiagnosisReport(network)
    #expect(try json(of: report).contains("\"nat64Prefix\":\"64:ff9b::/96\""))
    #expect(
      DiagnosisTable(report).lines.contains(
        "  IPv6 only    IPv4 is reached through a NAT64 with the prefix 64:ff9b::/96"))
    #expect(report.verdict.advice == [])
    network.ipv6Only = IPv6OnlyDiagnosis()
    report = DiagnosisReport(network)
    #expect(
      DiagnosisTable(report).lines.contains("  IPv6 only    there is no NAT64, so that IPv4 is not reached"))
    #expect(report.verdict.advice.last?.contains("users with only IPv4 need a TURN server") == true)
    network.ipv6Only = IPv6OnlyDiagnosis(failure: "The resolver has not answered.")
    #expect(
      DiagnosisTable(DiagnosisReport(network)).lines.contains("  IPv6 only    The resolver has not answered."))
  }

  @Test("a server that answered with a refusal needs other credentials, not another port")
  func refusal() {
    let verdict = CallVerdict(diagnosis([silent], [unanswered, refused]))
    #expect(verdict.calls == .none)
    #expect(verdict.advice == ["Remove what the TURN server's failure names."])
  }

  @Test("without a path no call works, and the advice is to use TLS at port 443 or TCP")
  func noPath() {
    var verdict = CallVerdict(diagnosis([silent], [unanswered]))
    #expect(verdict.calls == .none && !verdict.isServerMissing)
    #expect(verdict.summary.hasSuffix("no STUN server answers over UDP, and no TURN server relays."))
    #expect(verdict.advice.contains { $0.contains("turns:HOST:443") })
    verdict = CallVerdict(diagnosis([silent], [refused, turn("tcp", isUsed: false)]))
    #expect(verdict.calls == .none)
    #expect(
      verdict.advice == ["The TURN server relays over TCP, which calls use with --ice-server 'turn:turn.example'."])
  }

  @Test("a room server that cannot be used makes every call impossible, and a wrong clock is named")
  func room() {
    var room = RoomServerDiagnosis(address: "wss://calls.example")
    room.clockOffset = .init(seconds: -8.5, bound: 0.6)
    var verdict = CallVerdict(diagnosis([stun()], [turn()], room))
    #expect(verdict.calls == .direct && !verdict.isServerMissing)
    #expect(verdict.advice.count == 1 && verdict.advice[0].contains("8.5 s ahead of the server's"))
    room.failure = "The room server does not accept a connection: Connection refused."
    room.clockOffset = .init(seconds: 4.9, bound: 0.6)
    verdict = CallVerdict(diagnosis([stun()], [turn()], room))
    #expect(verdict.calls == .none && verdict.isServerMissing)
    #expect(verdict.summary.hasSuffix("Connection refused."))
    #expect(verdict.advice == [])
  }

  @Test("the table shows every measurement, and escapes what strangers wrote")
  func table() throws {
    var room = RoomServerDiagnosis(address: "wss://calls.example")
    (room.connectTime, room.tlsTime, room.answerTime, room.answer) = (1, 2.25, 3, "WebSocket")
    room.clockOffset = .init(seconds: 0.3, bound: 0.6)
    var tls = turn("tls")
    let certificate = #"""
      {"subject": "CN = \u001B[2Jevil", "issuer": "CN = CA", "expiry": "2027-01-31T12:00:00Z", "isTrusted": false,
       "problem": "certificate has expired"}
      """#
    tls.certificate = try JSONDecoder().decode(CertificateDiagnosis.self, from: Data(certificate.utf8))
    let lines = DiagnosisTable(DiagnosisReport(diagnosis([stun(), silent], [turn("tcp", isUsed: false), tls], room)))
      .lines
    let text = lines.joined(separator: "\n")
    #expect(!text.contains("\u{1B}"))
    for expected in [
      "  eth0         10.1.0.2                   used", "not used: loopback", "stun:stun.example at 203.0.113.10:3478",
      "  reached      12.3 ms", "  mapping      endpoint-independent: compared at A and B",
      "  filtering    address and port-dependent: no answer arrived", "  failed       The STUN server does not answer.",
      "turn:turn.example over TLS", "203.0.113.12:50000 after 30.0 ms", "?transport=tcp", "valid until 2027-01-31",
      "  trusted      no: certificate has expired", "TCP 1.0 ms, TLS 2.3 ms, WebSocket 3.0 ms",
      "  clock        0.3 s behind, ± 0.6 s", "Direct calls work",
    ] {
      #expect(text.contains(expected), "\(expected)")
    }
  }

  @Test("the object has the documented fields")
  func object() throws {
    let json = try json(of: DiagnosisReport(diagnosis([stun()], [turn()], RoomServerDiagnosis(address: "ws://a"))))
    let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(object["version"] as? Int == 1)
    let stun = try #require((object["stun"] as? [[String: Any]])?.first)
    #expect(stun["mapping"] as? String == "endpoint-independent")
    #expect((stun["meaning"] as? String)?.isEmpty == false)
    #expect(stun["failure"] == nil)
    #expect(((object["turn"] as? [[String: Any]])?.first?["relayed"] as? [String]) == ["203.0.113.12:50000"])
    #expect((object["server"] as? [String: Any])?["address"] as? String == "ws://a")
    let verdict = try #require(object["verdict"] as? [String: Any])
    #expect(Set(verdict.keys) == ["calls", "summary", "advice"])
    #expect(verdict["calls"] as? String == "direct")
  }
}

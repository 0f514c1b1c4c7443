import ArgumentParser
import BotPeer
import Testing

@testable import chatbot

@Suite("the options of chatbot diagnose")
struct DiagnoseOptionsTests {
  private func read(_ arguments: String) throws -> DiagnoseOptions {
    try DiagnoseOptions.parse(arguments.split(separator: " ").map(String.init))
  }

  @Test("all of them are read")
  func all() throws {
    let options = try read(
      "--server wss://calls.example:8443/path?token=x --ice-server stun:a --ice-server turns:b:443 --timeout 3s --json "
        + "--bind-address 127.0.0.1")
    let configuration = try options.configuration()
    #expect(configuration.timeout == .seconds(3))
    #expect(configuration.bindAddresses == ["127.0.0.1"])
    let server = try #require(configuration.roomServer)
    #expect(server.host == "calls.example" && server.port == 8_443 && server.isSecure && server.isWebSocket)
    #expect(server.target == "/path?token=x")
    #expect(server.shown == "wss://calls.example:8443", "a query may be a secret")
    #expect(options.json)
    #expect(options.ice.iceServer == ["stun:a", "turns:b:443"])
  }

  @Test("by default nothing but the addresses is measured, in 10 s")
  func defaults() throws {
    let configuration = try read("").configuration()
    #expect(configuration.timeout == .seconds(10))
    #expect(configuration.roomServer == nil)
    #expect(!configuration.includesLoopback)
    #expect(try read("--server ws://localhost:3000").configuration().includesLoopback)
  }

  @Test(
    "each signalling system is asked for what it speaks",
    arguments: [
      ("ws://a:1", "GET", true, nil), ("janus+wss://a", "GET", true, "janus-protocol"),
      ("socketio+https://a", "OPTIONS", false, nil), ("whip+http://a/whip/room", "OPTIONS", false, nil),
      ("whep+https://a/x", "OPTIONS", false, nil), ("firestore://project/rooms/1", "GET", false, nil),
    ] as [(String, String, Bool, String?)])
  func systems(server: String, method: String, isWebSocket: Bool, name: String?) throws {
    let address = try RoomServerAddress(server: server)
    #expect(address.method == method)
    #expect(address.isWebSocket == isWebSocket)
    #expect(address.webSocketProtocol == name)
  }

  @Test(
    "invalid options are rejected",
    arguments: [
      "--timeout 0s", "--timeout 6m", "--server ftp://a", "--ice-server stuns:a", "--bind-address here", "--timeout x",
    ])
  func invalid(arguments: String) {
    #expect(throws: (any Error).self) { try read(arguments) }
  }

  @Test("the exit code says whether no network or no room server is reached")
  func exitCodes() {
    var diagnosis = NetworkDiagnosis()
    #expect(CallVerdict(diagnosis).exitStatus == nil)
    var server = STUNServerDiagnosis(url: "stun:stun.example")
    server.failure = "The STUN server does not answer."
    diagnosis.stun = [server]
    #expect(CallVerdict(diagnosis).exitStatus == .notConnected)
    var room = RoomServerDiagnosis(address: "wss://calls.example")
    room.failure = "The room server does not accept a connection: Connection refused."
    diagnosis.roomServer = room
    #expect(CallVerdict(diagnosis).exitStatus == .serverNotReached)
  }

  @Test("the result is one JSON object with its keys in order")
  func json() throws {
    var diagnosis = NetworkDiagnosis()
    diagnosis.ipv6Only = IPv6OnlyDiagnosis(nat64Prefix: "64:ff9b::/96")
    let json = try DiagnosisReport(diagnosis).json
    #expect(json.contains("\"nat64Prefix\" : \"64:ff9b::/96\""))
    #expect(json.hasSuffix("  \"version\" : 1\n}"))
  }
}

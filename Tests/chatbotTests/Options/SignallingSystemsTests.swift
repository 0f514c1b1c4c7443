import ArgumentParser
import ExecSignalling
import Foundation
import Logging
import PeerEngine
import Room
import SCTP
import Signalling
import SignallingAdapters
import Testing

@testable import chatbot

@Suite("The signalling systems")
struct SignallingSystemsTests {
  @Test(
    "the scheme of an address selects the system",
    arguments: [
      ("ws://localhost:3000", "SkyRTC"), ("WSS://calls.example", "SkyRTC"),
      ("socketio+http://calls.example:9012", "socket.io calls"), ("firestore://project/rooms/1", "Firestore"),
      ("whip+https://media.example/whip/1", "WHIP"), ("whep+http://media.example/whep/1", "WHEP"),
      ("janus+ws://janus.example:8188", "Janus VideoRoom"), ("exec:python3 adapter.py", "Child process"),
      ("Exec:a ws://b", "Child process"),
    ])
  func schemes(address: String, system: String) {
    #expect(SignallingSystems.supported.adapter(of: address)?.name == system)
  }

  @Test(
    "other schemes, and texts without one, select none", arguments: ["ftp://x", "sip://x", "ws:x", "", "://", "exec"])
  func unknown(address: String) {
    #expect(SignallingSystems.supported.adapter(of: address)?.name == nil)
    let failure = #expect(throws: CallFailure.self) { _ = try SignallingSystems.supported.known(of: address) }
    #expect(failure?.sentence == "No signalling system has the address \(address); see chatbot signallings.")
    #expect(failure?.code == .usage)
  }

  @Test("no two systems share a scheme, and each has one in lower case, a name and something that it is used for")
  func distinct() {
    let schemes = SignallingSystems.supported.all.flatMap(\.schemes)
    #expect(Set(schemes).count == schemes.count)
    #expect(Set(SignallingSystems.supported.all.map(\.name)).count == SignallingSystems.supported.all.count)
    for system in SignallingSystems.supported.all {
      #expect(!system.schemes.isEmpty && system.schemes.allSatisfy { $0 == $0.lowercased() }, "\(system.name)")
      #expect(!system.uses.isEmpty, "\(system.name)")
    }
  }

  /// The address in a system's example.
  private static func exampleAddress(of system: any SignallingAdapter) throws -> SignallingAddress {
    let words = try ExecCommand(system.example).words
    let index = try #require(words.firstIndex(of: "--server"))
    return SignallingAddress(try #require(words.dropFirst(index + 1).first))
  }

  @Test("each system makes a client from an address, a room and a name, which can do what the system said before")
  func clients() async throws {
    for system in SignallingSystems.supported.all {
      let address = try Self.exampleAddress(of: system)
      #expect(system.accepts(address))
      var settings = SignallingSettings(address: address)
      settings.room = "1"
      settings.user = "bot"
      let client = try system.makeClient(settings, logger: Logger(label: "test"))
      #expect(client.capabilities == system.capabilities(at: address), "\(system.name)")
      await client.leave()
    }
  }

  @Test(
    "systems differ in what they can do",
    arguments: [
      // trickles, restarts ICE, data channels, assigns ICE servers, names users
      ("ws://a", [true, true, true, true, true]), ("socketio+http://a", [true, true, true, true, true]),
      ("firestore://a/rooms/1", [false, false, true, false, true]),
      ("whip+http://a", [true, true, false, true, false]),
      ("whep+http://a", [true, true, false, true, false]), ("janus+ws://a", [true, true, false, false, true]),
      ("exec:a", [true, true, true, true, true]),
    ])
  func capabilities(address: String, expected: [Bool]) throws {
    let system = try SignallingSystems.supported.known(of: address)
    let capabilities = system.capabilities(at: SignallingAddress(address))
    let found = [
      capabilities.tricklesCandidates, capabilities.restartsICE, capabilities.carriesDataChannels,
      capabilities.assignsICEServers, capabilities.namesUsers,
    ]
    #expect(found == expected)
    #expect(capabilities.reportsEndedConnections == address.hasPrefix("janus"))
    #expect(capabilities.requiresHangUpWhenClosedByParticipant == address.hasPrefix("janus"))
  }

  @Test("data channels are opened as the clients of a system expect them")
  func dataChannels() throws {
    func channels(_ server: String) throws -> DataChannelOptions? {
      try ServerSettings(address: server).capabilities.dataChannels.map { DataChannelOptions($0) }
    }
    let page = try channels("ws://a")
    #expect(page?.opened.map(\.label) == ["undefined"] && page?.opensWhenAnswering == false)
    let people = try channels("firestore://project/people/tom?peer=jerry")
    #expect(people?.opened.map(\.label) == ["WebRTCData"] && people?.opensWhenAnswering == true)
    for server in ["firestore://project/rooms/1", "socketio+http://a", "exec:a"] {
      #expect(try channels(server)?.opened.isEmpty == true, "\(server)")
    }
    for server in ["whip+http://a", "whep+http://a", "janus+ws://a"] {
      #expect(try channels(server) == nil, "\(server)")
    }
  }

  @Test("an address has a scheme, the URL of its server and a host")
  func addresses() {
    let media = SignallingAddress("WHIP+https://[::1]:8443/whip/a+b")
    #expect(media.scheme == "whip+https" && media.url == "https://[::1]:8443/whip/a+b" && media.host == "::1")
    let room = SignallingAddress("ws://calls.example/a+b")
    #expect(room.scheme == "ws" && room.url == room.description && room.host == "calls.example")
    let program = SignallingAddress("exec:a ws://b:1")
    #expect(program.opaque == "a ws://b:1" && program.scheme == "exec")
    #expect("\(SignallingSettings(address: program))" == "settings of a client of exec", "arguments may be secret")
    let none = SignallingAddress("a+b")
    #expect(none.scheme == nil && none.url == "a+b" && none.host == nil && none.opaque == "")
  }

  @Test(
    "what is shown of an address has no secret",
    arguments: [
      ("ws://localhost:3000", "ws://localhost:3000"),
      ("whip+https://user:pa@ss@host:8443/whip/1?token=s3cret#s3cret", "whip+https://host:8443/whip/1"),
      ("janus+wss://[::1]:8989/janus?token=s3cret", "janus+wss://[::1]:8989/janus"),
      ("firestore://project/rooms/1?role=guest", "firestore://project/rooms/1"),
      ("whep+https://host/whep/a@b", "whep+https://host/whep/a@b"),
      ("exec:/opt/bin/adapter --token s3cret", "exec:adapter"), ("exec:a 's3cret", "exec"),
    ])
  func shown(address: String, text: String) throws {
    #expect(try ServerSettings(address: address).name == text)
  }

  @Test("the server of a program is on the host of its first argument that is a URL, and cannot be measured")
  func programs() throws {
    func host(_ address: String) throws -> String? {
      try SignallingSystems.supported.known(of: address).host(of: SignallingAddress(address), environment: [:])
    }
    #expect(try host("exec:python3 adapter.py") == nil)
    #expect(try host("exec:adapter --key a/b 'ws://localhost:3000/a b' ws://other") == "localhost")
    #expect(try host("exec:ws://localhost") == nil)
    #expect(try host("exec:a 'ws://localhost") == nil)
    let system = try SignallingSystems.supported.known(of: "exec:a")
    #expect(throws: SignallingSettingsError.self) {
      try system.probe(of: SignallingAddress("exec:a ws://b"), environment: [:])
    }
    #expect(try ServerSettings(address: "exec:adapter ws://127.0.0.1:3000").isHere)
    #expect(try !ServerSettings(address: "exec:adapter").isHere)
  }

  @Test("the server of Firestore is the emulator that the environment names")
  func emulator() throws {
    let address = SignallingAddress("firestore://project/rooms/1")
    let system = try SignallingSystems.supported.known(of: address.description)
    func shown(_ environment: [String: String]) throws -> String {
      guard case .http(let url, "GET") = try system.probe(of: address, environment: environment) else { return "" }
      return "\(url)"
    }
    let emulator = ["FIRESTORE_EMULATOR_HOST": "localhost:8080"]
    #expect(try shown([:]) == "https://firestore.googleapis.com/")
    #expect(try shown(["FIRESTORE_EMULATOR_HOST": ""]) == "https://firestore.googleapis.com/")
    #expect(try shown(emulator) == "http://localhost:8080/")
    #expect(system.host(of: address, environment: [:]) == nil)
    #expect(system.host(of: address, environment: emulator) == "localhost")
  }

  @Test("the help names the systems that understand an option")
  func optionNames() {
    #expect(SignallingSystems.supported.names(with: .user) == "socket.io and exec")
    #expect(SignallingSystems.supported.names(with: .name) == "SkyRTC, Janus and exec")
    #expect(SignallingSystems.supported.names(with: .callees) == "socket.io and exec")
    #expect(SignallingSystems.supported.names(with: .token) == "WHIP, WHEP, Janus and exec")
    #expect(SignallingSystems.supported.names(with: .redirects, conjunction: "or") == "WHIP or WHEP")
    for option in SignallingOption.allCases {
      #expect(!SignallingSystems.supported.names(with: option).isEmpty, "\(option)")
    }
  }

  @Test("the list names each system with its addresses and an example that the parser accepts")
  func list() throws {
    for system in SignallingSystems.supported.all {
      #expect(SignallingSystems.supported.list.contains(system.example))
      #expect(system.addressPrefixes.allSatisfy { SignallingSystems.supported.list.contains($0) })
      _ = try CallOptions.parse(Array(try ExecCommand(system.example).words.dropFirst()))
    }
  }

  @Test("docs/signalling.md has the same table of systems and uses")
  func documentedUses() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(contentsOf: folder.appendingPathComponent("docs/signalling.md"), encoding: .utf8)
    for system in SignallingSystems.supported.all {
      let addresses = system.addressPrefixes.map { "`\($0)`" }.joined(separator: ", ")
      let uses = SignallingUse.allCases.map { system.uses.contains($0) ? "yes" : "no" }
      let row = "| \(system.name) | \(addresses) | \(uses.joined(separator: " | ")) |"
      let hasRow = text.contains(row)
      #expect(hasRow, "docs/signalling.md has no row that begins with \(row)")
    }
  }

  @Test("a use that the system does not allow is rejected with those that it allows")
  func impossibleUses() {
    let record = rejection(of: CallOptions.self, "--server", "whip+http://localhost/whip/1", "--record", "out")
    #expect(record?.contains("WHIP does not allow record; it allows play, load.") == true)
    #expect(record?.contains("WHEP receives: whep+http://localhost/whep/1") == true)
    let play = rejection(of: CallOptions.self, "--server", "whep+http://localhost/whep/1", "--play", "pattern")
    #expect(play?.contains("WHEP does not allow play; it allows record, check, load.") == true)
    #expect(play?.contains("WHIP publishes: whip+http://localhost/whip/1") == true)
    let other = rejection(of: CallOptions.self, "--server", "whip+http://localhost/app", "--record", "out")
    #expect(other?.contains("WHEP") == false)
    let loopback = rejection(of: CallOptions.self, "--server", "janus+ws://localhost:8188", "--loopback")
    #expect(loopback?.contains("Janus VideoRoom does not allow loopback") == true)
  }

  @Test("systems that need a name or a room say so")
  func missingNames() {
    let log = Logger(label: "test")
    let phone = #expect(throws: CallFailure.self) {
      _ = try ServerSettings(address: "socketio+http://localhost:9012").client(log: log)
    }
    #expect(phone?.sentence == "A socket.io server needs --user, the name to log in with.")
    let janus = #expect(throws: CallFailure.self) {
      _ = try ServerSettings(address: "janus+ws://localhost:8188").client(log: log)
    }
    #expect(janus?.sentence == "A Janus server needs --room, the id of a room.")
    let program = #expect(throws: CallFailure.self) {
      _ = try ServerSettings(address: "exec: ").client(log: log)
    }
    #expect(
      program?.sentence == "The address exec: needs a program: exec:python3 adapter.py." && program?.code == .usage)
  }

  @Test("the file of a secret that the system uses is read")
  func unreadSecrets() throws {
    let missing = "/nowhere/secret"
    func client(_ server: String) throws -> any SignallingClient {
      try ConnectionOptions.parse(["--server", server, "--token-file", missing])
        .settings(sends: false, receives: true).server.client(log: Logger(label: "test"))
    }
    for server in ["whip+http://localhost/whip/1", "janus+ws://localhost:8188/?room=1", "firestore://project/rooms/1"] {
      let failure = #expect(throws: CallFailure.self) { _ = try client(server) }
      #expect(failure?.sentence.contains(missing) == true && failure?.code == .usage, "\(server)")
    }
  }
}

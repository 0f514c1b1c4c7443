import ArgumentParser
import Foundation
import Logging
import Testing

@testable import chatbot

@Suite("The signalling systems")
struct SignallingSystemTests {
  @Test(
    "the scheme of an address selects the system",
    arguments: [
      ("ws://localhost:3000", SignallingSystem.skyRTC), ("WSS://calls.example", .skyRTC),
      ("socketio+http://calls.example:9012", .socketIO), ("firestore://project/rooms/1", .firestore),
      ("whip+https://media.example/whip/1", .whip), ("whep+http://media.example/whep/1", .whep),
      ("janus+ws://janus.example:8188", .janus),
    ])
  func schemes(address: String, system: SignallingSystem) {
    #expect(SignallingSystem(address: address) == system)
  }

  @Test("other schemes, and texts without one, select none", arguments: ["http://x", "sip://x", "ws:x", "", "://"])
  func unknown(address: String) {
    #expect(SignallingSystem(address: address) == nil)
  }

  @Test("the list names each system with its addresses and an example that the parser accepts")
  func list() throws {
    for system in SignallingSystem.allCases {
      #expect(SignallingSystem.list.contains(system.example))
      #expect(system.schemes.allSatisfy { SignallingSystem.list.contains("\($0)://") })
      let words = system.example.split(separator: " ").dropFirst().map { $0.trimmingCharacters(in: ["'"]) }
      _ = try CallOptions.parse(words)
    }
  }

  @Test("docs/signalling.md has the same table of systems and uses")
  func documentedUses() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(contentsOf: folder.appendingPathComponent("docs/signalling.md"), encoding: .utf8)
    for system in SignallingSystem.allCases {
      let addresses = system.schemes.map { "`\($0)://`" }.joined(separator: ", ")
      let uses = SignallingSystem.Use.allCases.map { system.uses.contains($0) ? "yes" : "no" }
      #expect(text.contains("| \(system.name) | \(addresses) | \(uses.joined(separator: " | ")) |"), "\(system)")
    }
  }

  @Test("a use that the system does not allow is rejected with those that it allows")
  func impossibleUses() {
    let record = rejection(of: CallOptions.self, "--server", "whip+http://localhost/whip/1", "--record", "out")
    #expect(record?.contains("WHIP does not allow record; it allows play, load.") == true)
    let play = rejection(of: CallOptions.self, "--server", "whep+http://localhost/whep/1", "--play", "pattern")
    #expect(play?.contains("WHEP does not allow play; it allows record, check.") == true)
    let loopback = rejection(of: CallOptions.self, "--server", "janus+ws://localhost:8188", "--loopback")
    #expect(loopback?.contains("Janus VideoRoom does not allow loopback") == true)
  }

  @Test("a secret comes from a file with one word, and its error does not contain it")
  func secrets() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(" s3cret\n".utf8).write(to: file)
    let secret = SecretFile(path: file.path, variable: "CHATBOT_NO_SUCH_VARIABLE")
    #expect(try secret.read() == "s3cret")
    try Data("s3cret and more".utf8).write(to: file)
    let error = #expect(throws: CallFailure.self) { try secret.read() }
    #expect(error?.sentence.contains("s3cret") == false && error?.sentence.contains("one word") == true)
    #expect(try SecretFile(path: nil, variable: "CHATBOT_NO_SUCH_VARIABLE").read() == nil)
    #expect(throws: CallFailure.self) { try SecretFile(path: file.path + "-missing", variable: "X").read() }
  }

  @Test("systems that need a name or a room say so")
  func missingNames() {
    let directions = ConnectionSettings.Directions(sends: false, receives: true)
    let log = Logger(label: "test")
    let phone = #expect(throws: CallFailure.self) {
      _ = try ConnectionSettings(server: "socketio+http://localhost:9012").client(directions, log: log)
    }
    #expect(phone?.sentence == "A socket.io server needs --user, the name to log in with.")
    let janus = #expect(throws: CallFailure.self) {
      _ = try ConnectionSettings(server: "janus+ws://localhost:8188").client(directions, log: log)
    }
    #expect(janus?.sentence == "A Janus server needs --room, the id of a room.")
  }
}

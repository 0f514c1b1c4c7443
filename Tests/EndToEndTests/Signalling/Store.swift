import Foundation
import TestSupport

/// A Firestore database, which is a program of `Tests/Interop`, and bots that use it.
struct Store {
  let environment: [String: String]
  private let scenario: Scenario
  private let process: ChildProcess

  /// The addresses of the two sides of one room.
  var host: String { room("lounge", "role=host&create=yes") }
  var guest: String { room("lounge", "role=guest") }

  init(in scenario: Scenario) async throws {
    let port = try await scenario.network.freePort()
    let script = BuiltProgram.repository.appendingPathComponent("Tests/Interop/firestore-server.py").path
    process = try await scenario.service("firestore", ["/usr/bin/python3", script, "--port", "\(port)"])
    try await scenario.listening(process, at: port)
    self.scenario = scenario
    environment = ["FIRESTORE_EMULATOR_HOST": "127.0.0.1:\(port)"]
  }

  /// The address of a room, with parameters.
  func room(_ name: String, _ parameters: String) -> String { "firestore://proj/rooms/\(name)?\(parameters)" }

  /// The address of a person who talks with another one.
  func person(_ name: String, with peer: String, _ role: String) -> String {
    "firestore://proj/people/\(name)?peer=\(peer)&role=\(role)"
  }

  func bot(_ name: String, _ address: String, _ arguments: [String]) async throws -> Bot {
    try await scenario.bot(name, at: address, arguments, environment: environment)
  }

  /// Starts a bot without waiting until it has joined.
  func start(_ name: String, _ address: String, _ arguments: [String]) async throws -> Bot {
    try await scenario.start(name, ["--server", address] + arguments, environment: environment)
  }

  func check(_ name: String, _ address: String, content: String = "pattern") async throws -> RunningCheck {
    try await scenario.check(
      name, at: address, Scenario.smallPattern + ["--content", content], environment: environment)
  }

  func kill() async { await process.end() }
}

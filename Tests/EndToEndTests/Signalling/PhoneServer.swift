import Foundation
import TestSupport

/// A generation of the server, with its interpreter from `scripts/install-python-packages.sh`.
enum Generation: Int, CaseIterable, Sendable, CustomStringConvertible {
  case third = 3
  case fourth = 4

  static let available = allCases.filter(\.isInstalled)
  /// Where CI is set, missing packages fail the tests.
  static let tested = Machine.isCI ? allCases : available
  static let areMissing = """
    SKIPPED: the Python packages of the socket.io servers are not installed. `make test` installs them, if there is a \
    network.
    """

  var description: String { "EIO\(rawValue)" }

  var interpreter: String {
    ProcessInfo.processInfo.environment["CHATBOT_SOCKETIO_PYTHON\(rawValue)"]
      ?? BuiltProgram.repository.appendingPathComponent(".build/python/socketio\(rawValue)/bin/python3").path
  }

  private var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: interpreter) }
}

/// A server of `Tests/Interop`, and phones of the same generation.
struct PhoneServer {
  let port: Int
  private let generation: Generation
  private let scenario: Scenario
  private let process: ChildProcess

  var address: String { "socketio+http://127.0.0.1:\(port)" }

  init(_ generation: Generation, port wanted: Int? = nil, in scenario: Scenario) async throws {
    if let wanted { port = wanted } else { port = try await scenario.network.freePort() }
    self.generation = generation
    self.scenario = scenario
    process = try await scenario.service(
      "server", Self.command(generation, "socketio-server.py") + ["--port", "\(port)"])
    try await scenario.listening(process, at: port)
  }

  /// Starts a phone and waits until it has logged in.
  func phone(_ name: String, _ arguments: String...) async throws -> ChildProcess {
    let phone = try await scenario.service(
      "phone \(name)",
      Self.command(generation, "socketio-phone.py") + ["http://127.0.0.1:\(port)", name] + arguments)
    try await eventually("login of phone \(name)", within: .seconds(15)) {
      guard phone.isRunning else { throw NotStarted(name: phone.name, output: phone.output) }
      return phone.output.contains("\"login\": true") ? true : nil
    }
    return phone
  }

  func kill() async { await process.end() }

  /// The command that runs a program of `Tests/Interop`.
  static func command(_ generation: Generation, _ script: String) -> [String] {
    [generation.interpreter, "-u", BuiltProgram.repository.appendingPathComponent("Tests/Interop/\(script)").path]
  }
}

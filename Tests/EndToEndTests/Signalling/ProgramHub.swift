import Foundation
import TestSupport

/// The hub of `Examples/ExecSignalling`, and its adapter in Python.
struct ProgramHub {
  let port: Int
  private let process: ChildProcess

  private static func path(_ name: String) -> String {
    BuiltProgram.repository.appendingPathComponent("Examples/ExecSignalling/\(name)").path
  }

  /// The value for `--server`.
  var address: String { "exec:python3 '\(Self.path("adapter.py"))' tcp://127.0.0.1:\(port)" }

  init(port wanted: Int? = nil, in scenario: Scenario) async throws {
    if let wanted { port = wanted } else { port = try await scenario.network.freePort() }
    process = try await scenario.service("hub", ["python3", "-u", Self.path("hub.py"), "\(port)"])
    try await scenario.listening(process, at: port)
  }

  func kill() async { await process.end() }

  /// The value for `--server` with the adapter in JavaScript, for a SkyRTC server.
  static func address(of server: Server) -> String { "exec:node '\(path("adapter.mjs"))' \(server.address)" }

  /// Whether there is a version of Node.js with a WebSocket.
  static let hasNode: Bool = {
    let script = "process.exit(typeof WebSocket === 'function' ? 0 : 1)"
    return (try? ExternalTool.run("node", ["-e", script]))?.status == 0
  }()
}

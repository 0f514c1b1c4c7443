import Foundation
import HTTPTransport
import Testing

/// A Janus of the system on 127.0.0.1, with a configuration in the scenario's folder.
struct JanusProcess: Sendable {
  private static let program = "/usr/bin/janus"
  static let isInstalled = FileManager.default.isExecutableFile(atPath: program)
  static let isMissing = "SKIPPED: \(program) is missing; `make test` installs it."

  let port: Int
  private let adminPort: Int
  private let folder: URL
  private let process: ChildProcess

  var address: String { "janus+ws://127.0.0.1:\(port)" }

  /// Starts the server and waits until it accepts connections. Room 1234 is open, and 5678 has the PIN `let-me-in`.
  static func start(in scenario: Scenario) async throws -> JanusProcess {
    let folder = scenario.folder.appendingPathComponent("janus")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let port = try await scenario.network.freePort()
    let adminPort = try await scenario.network.freePort()
    for (name, text) in configuration(folder: folder.path, port: port, adminPort: adminPort) {
      try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }
    return JanusProcess(
      port: port, adminPort: adminPort, folder: folder, process: try await run(folder, port, in: scenario))
  }

  /// Starts the server again, with the same configuration.
  func restarted(in scenario: Scenario) async throws -> JanusProcess {
    JanusProcess(
      port: port, adminPort: adminPort, folder: folder, process: try await Self.run(folder, port, in: scenario))
  }

  /// Kills the server, as a crash would.
  func kill() async throws {
    process.signal(SIGKILL)
    _ = try await process.ending(within: .seconds(5))
  }

  /// Returns the number of handles of each session, in ascending order, as the Admin API states it.
  func handleCounts() async throws -> [Int] {
    var options = WebSocketClient.Options()
    options.headers = [("Sec-WebSocket-Protocol", "janus-admin-protocol")]
    let socket = try await WebSocketClient.connect(to: WebSocketURL("ws://127.0.0.1:\(adminPort)"), options: options)
    defer { socket.close() }
    var messages = socket.messages.makeAsyncIterator()
    func request(_ name: String, _ field: String, _ more: String = "") async throws -> [JSON] {
      try await socket.send(text: #"{"janus":"\#(name)","transaction":"t"\#(more)}"#)
      guard case .text(let text)? = await messages.next() else { throw NotAnswered() }
      return try JSON(parsing: text)[field].list
    }
    var counts: [Int] = []
    for session in try await request("list_sessions", "sessions") {
      let id = try #require(session.int)
      // A session that has ended meanwhile has no handles.
      counts.append(try await request("list_handles", "handles", #","session_id":\#(id)"#).count)
    }
    return counts.sorted()
  }

  private struct NotAnswered: Error {}

  /// Starts a server on a host of the network laboratory, with the same rooms, and waits until it accepts connections.
  ///
  /// - Returns: its address for bots, and the process.
  static func start(on host: LabHost, of lab: NetworkLab) async throws -> (address: String, process: ChildProcess) {
    let folder = lab.folder.appendingPathComponent("janus")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let files = configuration(folder: folder.path, address: host.address, port: 8188, adminPort: 7188)
    for (name, text) in files { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
    let process = try await lab.program("janus", on: host, command(folder))
    try await eventually("Janus on \(host.name)", within: .seconds(10)) { () -> Bool? in
      guard process.isRunning else { throw NotStarted(name: "janus", output: process.output) }
      return await host.accepts(port: 8188) ? true : nil
    }
    return ("janus+ws://\(host.urlHost):8188", process)
  }

  private static func run(_ folder: URL, _ port: Int, in scenario: Scenario) async throws -> ChildProcess {
    let process = try await scenario.program("janus", command(folder))
    try await scenario.listening(process, at: port)
    return process
  }

  private static func command(_ folder: URL) -> [String] {
    [program, "--configs-folder", folder.path, "--disable-colors"]
  }

  private static func configuration(
    folder: String, address: String = "127.0.0.1", port: Int, adminPort: Int
  ) -> [String: String] {
    let found = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
    let library =
      found.map { "/usr/lib/\($0)/janus" }.first { FileManager.default.fileExists(atPath: "\($0)/plugins") }
      ?? "/usr/lib/janus"
    func others(in kind: String, than wanted: String) -> String {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(library)/\(kind)")) ?? []
      return names.filter { $0.hasSuffix(".so") && !$0.contains(wanted) }.sorted().joined(separator: ",")
    }
    return [
      "janus.jcfg": """
      general: {
        configs_folder = "\(folder)"
        plugins_folder = "\(library)/plugins"
        transports_folder = "\(library)/transports"
        events_folder = "\(folder)"
        loggers_folder = "\(folder)"
      }
      plugins: { disable = "\(others(in: "plugins", than: "videoroom"))" }
      transports: { disable = "\(others(in: "transports", than: "websockets"))" }
      """,
      "janus.transport.websockets.jcfg": """
      general: { json = "compact" ws = true ws_ip = "\(address)" ws_port = \(port) wss = false }
      admin: { admin_ws = true admin_ws_ip = "\(address)" admin_ws_port = \(adminPort) }
      """,
      "janus.plugin.videoroom.jcfg": """
      general: { events = false string_ids = false }
      room-1234: { description = "Open" publishers = 6 audiocodec = "opus" videocodec = "vp8" }
      room-5678: { description = "With a PIN" pin = "let-me-in" publishers = 6 }
      room-2640: { description = "Another codec" publishers = 6 videocodec = "h264" }
      room-9: { description = "VP9" publishers = 6 videocodec = "vp9" }
      room-1: { description = "AV1" publishers = 6 videocodec = "av1" }
      room-265: { description = "H.265" publishers = 6 videocodec = "h265" }
      """,
    ]
  }
}

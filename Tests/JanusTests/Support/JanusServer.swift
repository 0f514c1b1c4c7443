import Foundation
import Glibc
import NIOCore
import NIOPosix
import TestSupport

/// A Janus of the system, with a configuration and a port of its own, on 127.0.0.1.
final class JanusServer: Sendable {
  static let program = "/usr/bin/janus"
  static let isInstalled = access(program, X_OK) == 0
  /// The folder of the plugins, for example `/usr/lib/x86_64-linux-gnu/janus`.
  private static let plugins: String = {
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
    let found = folders.map { "/usr/lib/\($0)/janus" }.first { access("\($0)/plugins", R_OK) == 0 }
    return found ?? "/usr/lib/janus"
  }()

  let port: Int
  private let folder: URL
  private let options: [String]
  private let process = ProcessBox()

  var url: String { "ws://127.0.0.1:\(port)" }

  private final class ProcessBox: @unchecked Sendable {
    // Used by one test at a time.
    var running: (process: Process, input: Pipe)?
  }

  struct NotStarted: Error, CustomStringConvertible {
    let description: String
  }

  /// - Parameters:
  ///   - options: of the program, for example `-f` for full trickle.
  ///   - general: further lines of the general configuration.
  ///   - usesTextIDs: whether rooms and feeds have texts as ids.
  init(options: [String] = [], general: String = "", usesTextIDs: Bool = false) async throws {
    self.options = options
    port = try ServerPort.unused()
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("janus-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try write(
      "janus.jcfg",
      """
      general: {
        configs_folder = "\(folder.path)"
        plugins_folder = "\(Self.plugins)/plugins"
        transports_folder = "\(Self.plugins)/transports"
        events_folder = "\(folder.path)"
        loggers_folder = "\(folder.path)"
        \(general)
      }
      plugins: { disable = "\(Self.others(in: "plugins", than: "videoroom"))" }
      transports: { disable = "\(Self.others(in: "transports", than: "websockets"))" }
      """)
    try write(
      "janus.transport.websockets.jcfg",
      """
      general: { json = "compact" ws = true ws_ip = "127.0.0.1" ws_port = \(port) wss = false }
      admin: { admin_ws = false }
      """)
    try writeRooms(
      """
      general: { events = false string_ids = \(usesTextIDs) }
      room-1234: { description = "Open" secret = "moderator" publishers = 6 audiocodec = "opus" videocodec = "vp8" }
      \(usesTextIDs ? "room-lounge: { description = \"Text\" publishers = 6 }" : "")
      room-5678: { description = "With a PIN" pin = "let-me-in" publishers = 6 }
      room-2640: { description = "Another codec" publishers = 6 videocodec = "h264" }
      """)
    try await start()
  }

  /// Lets the server have no rooms after its next start.
  func removeRooms() throws { try writeRooms("") }

  private func writeRooms(_ text: String) throws { try write("janus.plugin.videoroom.jcfg", text) }

  /// Starts the program and waits until it accepts connections.
  func start() async throws {
    let process = Process()
    // A signal to end does not always arrive, because children inherit a thread's mask. Janus is killed when standard
    // input ends, which happens too when the tests end early.
    let command = "\"$@\" & child=$!; cat; kill -9 $child; wait $child"
    let input = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command, "sh", Self.program, "-F", folder.path, "-o"] + options
    process.standardInput = input
    let log = folder.appendingPathComponent("log")
    _ = FileManager.default.createFile(atPath: log.path, contents: nil)
    process.standardOutput = try FileHandle(forWritingTo: log)
    process.standardError = process.standardOutput
    try process.run()
    self.process.running = (process, input)
    for _ in 0..<100 {
      try await Task.sleep(for: .milliseconds(100))
      guard process.isRunning else { break }
      let channel = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(host: "127.0.0.1", port: port).get()
      if let channel {
        try await channel.close()
        return
      }
    }
    let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
    throw NotStarted(description: "Janus did not start: \(text.suffix(2_000))")
  }

  /// Ends the program and waits until it has ended.
  func stop() {
    guard let (process, input) = process.running else { return }
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    self.process.running = nil
  }

  /// Ends the program and removes its files.
  func remove() {
    stop()
    try? FileManager.default.removeItem(at: folder)
  }

  private func write(_ name: String, _ text: String) throws {
    try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
  }

  private static func others(in kind: String, than wanted: String) -> String {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(plugins)/\(kind)")) ?? []
    return names.filter { $0.hasSuffix(".so") && !$0.contains(wanted) }.sorted().joined(separator: ",")
  }
}

import Foundation
import Glibc
import TestSupport

/// A peer of aiortc that publishes in a room of Janus, in a process of its own.
final class Publisher {
  static let isInstalled =
    (try? ExternalTool.run("/usr/bin/python3", ["-c", "import aiortc, aiohttp"]))?.status == 0

  let feed: String
  private let process: Process
  private let input: Pipe

  struct NotStarted: Error {}

  /// Starts to publish; returns when the server has the connection, after 30 s at the latest.
  init(_ server: JanusServer, room: String, name: String) throws {
    let script = Bundle.module.bundleURL.appendingPathComponent("Fixtures/publisher.py").path
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = [script, server.url, room, name]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    self.process = process
    self.input = input
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    feed = line.trimmingCharacters(in: .whitespacesAndNewlines)
    if feed.isEmpty {
      kill(process.processIdentifier, SIGKILL)
      throw NotStarted()
    }
  }

  /// Leaves the room.
  func leave() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// Ends without leaving.
  func crash() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}

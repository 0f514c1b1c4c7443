import Foundation
import Synchronization

/// A program started by a test, with what it prints kept in a file.
///
/// It runs in a process group of its own, and `ProcessSupervisor` ends it should the test run die first.
final class ChildProcess: Sendable {
  /// How a program ended.
  enum EndReason: Equatable, CustomStringConvertible {
    case exit(Int32)
    case signal(Int32)

    var description: String {
      switch self {
      case .exit(let code): "exit code \(code)"
      case .signal(let number): "signal \(number)"
      }
    }
  }

  struct StillRunning: Error, CustomStringConvertible {
    let name: String
    let limit: Duration

    var description: String { "\(name) still ran \(limit) after it should have ended." }
  }

  let name: String
  /// All that it printed, both streams together.
  let log: URL
  private let process: Process
  /// Whether its end was seen: its number may belong to another program by now.
  private let isOver = Mutex(false)

  /// Starts `command`, a name on the PATH or a path.
  ///
  /// - Parameters:
  ///   - log: the file its output is appended to.
  ///   - environment: variables to set besides the test's own.
  init(
    _ name: String, _ command: [String], log: URL, environment: [String: String] = [:], folder: URL? = nil
  ) throws {
    self.name = name
    self.log = log
    if !FileManager.default.fileExists(atPath: log.path) { try Data().write(to: log) }
    let output = try FileHandle(forWritingTo: log)
    try output.seekToEnd()
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.run()
    try output.close()
    ProcessSupervisor.shared.watch(process.processIdentifier)
  }

  var id: Int32 { process.processIdentifier }

  var isRunning: Bool { process.isRunning }

  /// Sends a signal to this program alone.
  func signal(_ number: Int32) {
    guard process.isRunning else { return }
    _ = kill(process.processIdentifier, number)
  }

  /// Waits for the program's own end.
  func ending(within limit: Duration) async throws -> EndReason {
    let limit = limit * EndToEndTests.patience
    let deadline = ContinuousClock.now + limit
    while process.isRunning {
      guard ContinuousClock.now < deadline else { throw StillRunning(name: name, limit: limit) }
      try await sleepOnEventLoop(for: .milliseconds(10))
    }
    ProcessSupervisor.shared.forget(process.processIdentifier)
    isOver.withLock { $0 = true }
    return process.terminationReason == .exit
      ? .exit(process.terminationStatus) : .signal(process.terminationStatus)
  }

  /// Ends the program and all that it started: asked first if `politely` is not zero, then by force.
  func end(politely patience: Duration = .zero) async {
    if patience > .zero {
      signal(SIGTERM)
      _ = try? await ending(within: patience)
    }
    guard !isOver.withLock({ $0 }) else { return }
    _ = kill(-process.processIdentifier, SIGKILL)
    _ = try? await ending(within: .seconds(5))
  }

  /// What the program has printed so far.
  var output: String {
    String(decoding: (try? Data(contentsOf: log)) ?? Data(), as: UTF8.self)
  }
}

import Foundation
import Synchronization

/// A program started by a test, with its output in a file.
///
/// It runs in its own process group. If the test run dies first, `ProcessSupervisor` kills it.
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

    var description: String { "\(name) did not end within \(limit)." }
  }

  let name: String
  /// The file with its standard output and standard error.
  let log: URL
  private let process: Process
  /// Whether its end was observed; its process id may then belong to another program.
  private let isOver = Mutex(false)

  /// Starts `command`, which begins with a name on the PATH or a path.
  ///
  /// - Parameters:
  ///   - log: the file that the output is appended to.
  ///   - environment: variables to set in addition to the test's own.
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

  /// Sends a signal to this program only, not to its children.
  func signal(_ number: Int32) {
    guard process.isRunning else { return }
    _ = kill(process.processIdentifier, number)
  }

  /// Waits until the program ends by itself.
  func ending(within limit: Duration) async throws -> EndReason {
    let limit = limit * EndToEndTests.timeoutFactor
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

  /// Ends the program and all its children: with SIGTERM first if there is a grace period, then with SIGKILL.
  func end(gracePeriod: Duration = .zero) async {
    if gracePeriod > .zero {
      signal(SIGTERM)
      _ = try? await ending(within: gracePeriod)
    }
    guard !isOver.withLock({ $0 }) else { return }
    _ = kill(-process.processIdentifier, SIGKILL)
    _ = try? await ending(within: .seconds(5))
  }

  /// The output so far.
  var output: String {
    String(decoding: (try? Data(contentsOf: log)) ?? Data(), as: UTF8.self)
  }
}

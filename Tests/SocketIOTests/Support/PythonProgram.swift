import Foundation
import Glibc
import Synchronization
import Testing

/// A Python program of `Tests/Interop`, which writes lines of JSON and ends with its input.
final class PythonProgram: Sendable {
  /// The interpreter with the packages of one generation, from `scripts/install-python-packages.sh`.
  struct Interpreter: Sendable, CustomTestStringConvertible {
    let generation: Int
    var variable: String { "CHATBOT_SOCKETIO_PYTHON\(generation)" }
    var path: String? { ProcessInfo.processInfo.environment[variable] }
    var testDescription: String { "Engine.IO \(generation)" }

    /// Those that are installed.
    static var available: [Interpreter] {
      [Interpreter(generation: 3), Interpreter(generation: 4)].filter {
        $0.path.map(FileManager.default.isExecutableFile) ?? false
      }
    }

    static let isMissing =
      "CHATBOT_SOCKETIO_PYTHON3 and …4 name no interpreters: run scripts/install-python-packages.sh and set them."
  }

  private struct Output {
    var lines: [String] = []
    var rest = ""
  }

  private let process: Process
  private let input: Pipe
  private let output = Mutex(Output())

  init(_ interpreter: Interpreter, _ script: String, _ arguments: [String]) throws {
    process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(interpreter.path))
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Interop")
    process.arguments = ["-u", folder.appendingPathComponent(script).path] + arguments
    input = Pipe()
    let pipe = Pipe()
    process.standardInput = input
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
      let data = handle.availableData
      if data.isEmpty { handle.readabilityHandler = nil }
      self?.received(String(decoding: data, as: UTF8.self))
    }
    try process.run()
  }

  deinit {
    if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
  }

  private func received(_ text: String) {
    output.withLock { output in
      output.rest += text
      var parts = output.rest.split(separator: "\n", omittingEmptySubsequences: false)
      output.rest = parts.popLast().map(String.init) ?? ""
      output.lines += parts.map(String.init)
    }
  }

  /// Waits for a line with all of these texts.
  func line(with texts: String..., within limit: Duration = .seconds(20)) async throws -> String {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
      let found = output.withLock { $0.lines.first { line in texts.allSatisfy(line.contains) } }
      if let found { return found }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw NoLine(texts: texts, lines: output.withLock { Array($0.lines.suffix(10)) })
  }

  /// The number of lines with all of these texts.
  func count(of texts: String...) -> Int {
    output.withLock { $0.lines.count { line in texts.allSatisfy(line.contains) } }
  }

  func write(_ line: String) {
    try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Ends the program as a crash does.
  func kill() {
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Ends the input, and with it the program.
  func end() {
    try? input.fileHandleForWriting.close()
  }

  struct NoLine: Error {
    let texts: [String]
    let lines: [String]
  }
}

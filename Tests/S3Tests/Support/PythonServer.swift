import Foundation
import Glibc
import Synchronization
import Testing

/// A Python program of `Tests/Interop`, which writes lines of JSON and ends with its input.
final class PythonServer: Sendable {
  /// An interpreter with the packages of a store, from `scripts/install-python-packages.sh`.
  enum Interpreter: String, Sendable {
    case moto = "CHATBOT_MOTO_PYTHON"
    case swift = "CHATBOT_SWIFT_PYTHON"

    var path: String? {
      ProcessInfo.processInfo.environment[rawValue].flatMap {
        FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil
      }
    }
  }

  static let isMissing: Comment =
    "CHATBOT_MOTO_PYTHON or CHATBOT_SWIFT_PYTHON names no interpreter: run scripts/install-python-packages.sh and set it."

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
    // boto3 would look for other credentials.
    process.environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "HOME": "/nonexistent"]
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
    // A program that has children ends them.
    try? input.fileHandleForWriting.close()
    let process = process
    let end = ContinuousClock.now + .seconds(3)
    while process.isRunning, ContinuousClock.now < end { usleep(20_000) }
    // It inherits the blocked signals of the thread that started it.
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

  /// Waits for the next line.
  func line(within limit: Duration = .seconds(60)) async throws -> Data {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
      if let line = output.withLock({ $0.lines.isEmpty ? nil : $0.lines.removeFirst() }) { return Data(line.utf8) }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw NoLine()
  }

  func write(_ line: String) { try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

  struct NoLine: Error {}
}

/// A store of another program, with one bucket.
final class RealStore: Sendable {
  struct Address: Decodable, Sendable {
    var endpoint: String
    var key: String
    var secret: String
    var role: String?
    var otherKey: String?
    var otherSecret: String?
  }

  let address: Address
  private let server: PythonServer
  private let folder: TemporaryFolder

  static let bucket = "recordings"

  /// - Parameter isChecked: whether moto checks signatures and rights. Then it knows no links and no web identities.
  init(_ kind: PythonServer.Interpreter, isChecked: Bool = true) async throws {
    folder = try TemporaryFolder()
    switch kind {
    case .moto: server = try PythonServer(.moto, "moto-s3.py", (isChecked ? [] : ["--unchecked"]) + [Self.bucket])
    case .swift: server = try PythonServer(.swift, "swift-s3.py", [folder.path, Self.bucket])
    }
    address = try JSONDecoder().decode(Address.self, from: try await server.line())
  }
}

/// A proxy that disturbs requests.
final class DisturbingProxy: Sendable {
  let endpoint: String
  private let server: PythonServer

  private struct Start: Decodable { var port: Int }

  init(to endpoint: String, seed: Int, python: PythonServer.Interpreter) async throws {
    server = try PythonServer(python, "s3-proxy.py", [String(endpoint.dropFirst("http://".count)), "\(seed)"])
    let start = try JSONDecoder().decode(Start.self, from: try await server.line())
    self.endpoint = "http://127.0.0.1:\(start.port)"
  }

  /// - Parameter kinds: see `s3-proxy.py`.
  func disturb(_ rate: Double, _ kinds: String = "") async throws {
    server.write("\(rate) \(kinds)")
    _ = try await server.line()
  }
}

import Foundation
import Glibc
import Synchronization

/// A receiver of webhooks in Python, which verifies each by the package `standardwebhooks` (`Tests/Interop/webhook-receiver.py`).
public final class WebhookReceiver: Sendable {
  /// What it got.
  public struct Request: Sendable {
    public var path: String
    public var host: String
    /// `webhook-id`.
    public var id: String
    /// Whether the signatures are valid, for each secret of the receiver.
    public var isValid: [Bool]
    /// Whether they would be valid for another body.
    public var isValidWhenChanged: Bool
    /// Whether the object that the event names was in the store.
    public var hasObject: Bool
    /// What it answered; 0 for nothing, -1 if it closed the connection.
    public var status: Int
    /// The body.
    public var type: String
    public var job: String
    public var sequence: Int
    public var body: String
  }

  private struct Output {
    var lines: [String] = []
    var rest: [UInt8] = []
  }

  /// Why the tests that need it are skipped; nil if the package is installed.
  public static var missing: String? {
    guard let path = python, FileManager.default.isExecutableFile(atPath: path) else {
      return "CHATBOT_WEBHOOKS_PYTHON names no interpreter: run scripts/install-python-packages.sh and set it."
    }
    return nil
  }

  public static var isInstalled: Bool { missing == nil }
  public static var python: String? { ProcessInfo.processInfo.environment["CHATBOT_WEBHOOKS_PYTHON"] }

  private let process = Process()
  private let input = Pipe()
  private let output = Mutex(Output())
  /// The port on 127.0.0.1.
  public let port: Int

  /// Starts a receiver and waits until it listens.
  ///
  /// - Parameters:
  ///   - tls: the PEM files of a certificate and its key; nil: plain HTTP.
  ///   - store: the folder of objects.
  public init(
    secrets: [String], tls: (certificate: String, key: String)? = nil, store: String? = nil
  ) async throws {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Interop/webhook-receiver.py")
    process.executableURL = URL(fileURLWithPath: Self.python ?? "/usr/bin/python3")
    process.arguments =
      ["-u", script.path] + secrets + (tls.map { ["--tls", $0.certificate, $0.key] } ?? [])
      + (store.map { ["--store", $0] } ?? [])
    let pipe = Pipe()
    process.standardInput = input
    process.standardOutput = pipe
    try process.run()
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    let lines = LineReader(descriptor: descriptor)
    guard let line = lines.next(), let port = Self.fields(line)["listening"] as? Int else {
      throw Failure(description: "The receiver does not listen.")
    }
    self.port = port
    // It ends with the output of the process; the pipe lives as long.
    Thread.detachNewThread { [weak self] in
      withExtendedLifetime(pipe) {
        while let line = lines.next() { self?.output.withLock { $0.lines.append(line) } }
      }
    }
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  private static func fields(_ line: String) -> [String: Any] {
    (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any] ?? [:]
  }

  /// All lines that it wrote.
  public var lines: [String] { output.withLock { $0.lines } }

  /// All requests that it got, in their order.
  public var requests: [Request] {
    lines.compactMap { line in
      let fields = Self.fields(line)
      guard let event = fields["event"] as? [String: Any], let path = fields["path"] as? String else { return nil }
      let job = event["job"] as? [String: Any]
      let body = (try? JSONSerialization.data(withJSONObject: event, options: [.sortedKeys])) ?? Data()
      return Request(
        path: path, host: fields["host"] as? String ?? "", id: fields["id"] as? String ?? "",
        isValid: fields["valid"] as? [Bool] ?? [], isValidWhenChanged: fields["changed"] as? Bool ?? true,
        hasObject: fields["exists"] as? Bool ?? false, status: fields["status"] as? Int ?? 0,
        type: event["type"] as? String ?? "", job: job?["id"] as? String ?? "",
        sequence: event["sequence"] as? Int ?? 0, body: String(decoding: body, as: UTF8.self))
    }
  }

  /// Waits until the requests fulfil a condition.
  public func wait(within limit: Duration = .seconds(30), until condition: ([Request]) -> Bool) async throws {
    let deadline = ContinuousClock.now + limit
    while !condition(requests) {
      guard ContinuousClock.now < deadline else {
        throw Failure(description: "The receiver got only: \(lines.suffix(20).joined(separator: "\n"))")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}

/// Reads the lines of a pipe. Blocks.
private final class LineReader: @unchecked Sendable {
  private let descriptor: Int32
  private var rest: [UInt8] = []

  /// It is used by one thread after the other.
  init(descriptor: Int32) { self.descriptor = descriptor }

  func next() -> String? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest.removeSubrange(...end) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      rest += buffer[..<count]
    }
  }
}

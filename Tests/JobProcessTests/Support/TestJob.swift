import Foundation
import JSON
import JobProcess
import JobProtocol
import Synchronization

/// A job in a folder of its own, which runs in this process.
final class TestJob: Sendable {
  let folder: String

  init(_ specification: JobSpecification? = TestJob.specification()) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("job-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if let specification { try write(specification.json, to: "spec.json") }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  static func specification(_ kind: JobKind = .play, url: String = "ws://127.0.0.1:1") -> JobSpecification {
    var specification = JobSpecification(job: "job-1", attemptID: "attempt-1", kind: kind, server: JobServer(url: url))
    if kind == .play { specification.options = ["input": "pattern"] }
    return specification
  }

  func write(_ data: Data, to name: String) throws { try data.write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }

  func read(_ name: String) -> Data { (try? Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))) ?? Data() }

  /// The entries of the journal so far.
  func entries() throws -> [JournalEntry] {
    var reader = JournalReader()
    return try reader.read(read("journal.ndjson"))
  }

  func events() throws -> [JournalEvent] { try entries().map(\.event) }

  /// Why the process ended, and with which exit code.
  func ended() throws -> JournalEvent.Ended? {
    guard case .ended(let end)? = try events().last else { return nil }
    return end
  }

  /// All bytes of all files of the folder.
  func everything() -> Data {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return names.reduce(into: Data()) { $0 += read($1) }
  }

  /// Runs the job.
  ///
  /// - Parameter secrets: what is on standard input.
  /// - Returns: the exit code, and what was written to standard error.
  func run(
    secrets: String = "", _ work: @escaping @Sendable (RunningJob) async throws -> JobResult
  ) async throws -> (code: Int32, errors: String) {
    let (input, errors) = (Pipe(), Pipe())
    let writer = input.fileHandleForWriting
    Thread.detachNewThread {
      try? writer.write(contentsOf: Data(secrets.utf8))
      try? writer.close()
    }
    let process = JobProcess(
      folder: folder, version: "1.2.3", input: input.fileHandleForReading.fileDescriptor,
      errors: errors.fileHandleForWriting.fileDescriptor)
    let code = await process.run(work)
    try errors.fileHandleForWriting.close()
    let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    // The pipe of the secrets lives until here.
    withExtendedLifetime(input) {}
    return (code, text)
  }

  /// Runs the job in a task of its own with work that lasts until the job is to end.
  func start(secrets: String = "") -> Task<(code: Int32, errors: String), any Error> {
    Task {
      try await self.run(secrets: secrets) { _ in
        try await Task.sleep(for: .seconds(60))
        return JobResult(.inputEnded, "Nobody stopped the job.")
      }
    }
  }
}

/// A client of a control socket. Its calls block.
final class ControlClient: Sendable {
  struct Failure: Error {
    let text: String
  }

  private let descriptor: Int32
  private let reader = Mutex((reader: ControlLineReader(), lines: [Data]()))

  /// Connects, within some seconds.
  init(to job: TestJob) async throws {
    for _ in 0..<500 {
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let path = Array("\(job.folder)/control".utf8)
      guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { throw Failure(text: "The path is long.") }
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      if result == 0 {
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        self.descriptor = descriptor
        return
      }
      close(descriptor)
      try await Task.sleep(for: .milliseconds(20))
    }
    throw Failure(text: "Nothing listens.")
  }

  deinit { close(descriptor) }

  func send(_ text: String) {
    _ = Array((text + "\n").utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
  }

  /// Sends a request, and returns its first answer.
  func ask(_ command: ControlRequest.Command, id: Int64 = 7) throws -> ControlAnswer {
    send(String(decoding: try ControlRequest(id: id, command).line, as: UTF8.self))
    return try answer()
  }

  /// Returns the next answer.
  func answer() throws -> ControlAnswer {
    while true {
      let line = reader.withLock { $0.lines.isEmpty ? nil : $0.lines.removeFirst() }
      if let line { return try ControlAnswer(parsing: line) }
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { throw Failure(text: "The connection is closed.") }
      let more = try reader.withLock { try $0.reader.read(bytes[..<count]) }
      reader.withLock { $0.lines += more }
    }
  }

  /// Waits until the job closes the connection.
  func waitForEnd() -> Bool { (try? answer()) == nil }
}

extension ControlAnswer {
  /// The code of an error; nil for other answers.
  var errorCode: String? { if case .error(let error) = result { error.code } else { nil } }
  var status: JobStatus? { if case .status(let status) = result { status } else { nil } }
}

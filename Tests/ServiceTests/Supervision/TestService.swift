import Foundation
import JobProtocol
import Logging
import Media
import NIOCore
import NIOPosix
import OptionValues
import SQLStore
import Service
import Synchronization
import Testing

/// The jobs whose files were stored.
final class StoredJobs: Sendable {
  private let jobs = Mutex<[JobID]>([])

  var all: [JobID] { jobs.withLock { $0 } }

  func add(_ job: JobID) { jobs.withLock { $0.append(job) } }
}

/// The lines that a logger wrote.
final class RecordedLog: Sendable {
  struct Line: Sendable {
    var level: Logger.Level
    var message: String
    var fields: [String: String]
  }

  private struct Handler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    let log: RecordedLog

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let line = Line(
        level: event.level, message: "\(event.message)", fields: (event.metadata ?? [:]).mapValues { "\($0)" })
      log.lines.withLock { $0.append(line) }
    }
  }

  private let lines = Mutex<[Line]>([])

  var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }
  var all: [Line] { lines.withLock { $0 } }
  /// Those that job processes wrote.
  var ofProcesses: [Line] { lines.withLock { $0 }.filter { $0.fields["source"] == "process" } }
}

/// A supervisor with a database and the fake program, in a folder of its own.
final class TestService: Sendable {
  let folder: String
  let store: JobStore
  let configuration: ServiceConfiguration
  private let program: String
  private let secretBox: SecretBox
  private let answerWithin: Duration
  private let stored = StoredJobs()
  private let current: Mutex<JobSupervisor>
  let log = RecordedLog()

  var supervisor: JobSupervisor { current.withLock { $0 } }
  /// The jobs whose files were stored, in order.
  var storedJobs: [JobID] { stored.all }

  /// - Parameter answerWithin: after which time a process that does not answer is ended. On a busy machine one may need
  ///   seconds to start.
  init(
    answerWithin: Duration = JobLifecycle.Limits().answerWithin,
    _ configure: (inout ServiceConfiguration) -> Void = { _ in }
  ) async throws {
    self.answerWithin = answerWithin
    folder = NSTemporaryDirectory() + "supervisor-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    program = try FakeProgram.write(into: folder)
    store = try await JobStore.open("\(folder)/service.db")
    var configuration = ServiceConfiguration()
    configuration.limits.minimumFree = 0
    configuration.orphanLimit = TimeSpan(milliseconds: 60_000)
    configure(&configuration)
    self.configuration = configuration
    secretBox = try #require(SecretBox(key: [UInt8](repeating: 7, count: SecretBox.keyBytes)))
    current = Mutex(
      Self.supervisor(
        folder, store, configuration, program, secretBox, processors: 8_000, answerWithin, stored: stored, log))
    try await supervisor.start()
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Starts a supervisor; an earlier one must have ended.
  func start(processors: Int64 = 8_000) async throws {
    let next = Self.supervisor(
      folder, store, configuration, program, secretBox, processors: processors, answerWithin, stored: stored, log)
    current.withLock { $0 = next }
    try await next.start()
  }

  private static func supervisor(
    _ folder: String, _ store: JobStore, _ configuration: ServiceConfiguration, _ program: String,
    _ secretBox: SecretBox, processors: Int64, _ answerWithin: Duration, stored: StoredJobs, _ log: RecordedLog
  ) -> JobSupervisor {
    var limits = JobLifecycle.Limits()
    limits.answerWithin = answerWithin
    limits.killAfter = .seconds(1)
    limits.waits = [.milliseconds(50), .milliseconds(50), .milliseconds(50), .milliseconds(50)]
    return JobSupervisor(
      configuration: configuration, store: store, secretBox: secretBox, data: folder, program: program, version: "1",
      machine: MachineLimits(processors: processors, memory: 8 << 30), limits: limits,
      on: MultiThreadedEventLoopGroup.singleton.next(), files: .singleton, logger: log.logger
    ) { job in
      // As the storer does.
      for attempt in try await store.attempts(of: job)
      where AttemptLock.state(of: "\(folder)/\(attempt.folder)") == .held { throw InUse() }
      stored.add(job)
    }
  }

  /// Submits a job as the API does.
  @discardableResult
  func submit(
    _ room: String, state: JobState = .starting, pause: PauseState = .none, queueFor: Int64 = 0, pin: String? = nil,
    _ change: (inout JobRequest) -> Void = { _ in }
  ) async throws -> JobID {
    let id = JobID.random()
    var request = JobRequest(kind: .record, server: "main")
    request.room = room
    request.queueFor = queueFor
    change(&request)
    var secrets = JobSecrets()
    secrets.pin = pin
    let reservation = state == .starting ? try await supervisor.reserve(.record) : nil
    _ = try await store.submit(
      NewJob(
        id: id, project: "p", kind: "record", state: state, paused: try pause.databaseText,
        request: try request.stored, room: room, server: "main", startAt: request.startAt, queueFor: queueFor,
        secrets: pin == nil ? nil : try secretBox.seal(try secrets.json, context: id.text)))
    await supervisor.submitted(id, reservation: reservation)
    return id
  }

  /// Writes a job to the database, and tells nobody.
  func submitWithoutService(_ room: String) async throws -> JobID {
    let id = JobID.random()
    var request = JobRequest(kind: .record, server: "main")
    request.room = room
    _ = try await store.submit(
      NewJob(
        id: id, project: "p", kind: "record", state: .starting, paused: try PauseState.none.databaseText,
        request: try request.stored, room: room, server: "main"))
    return id
  }

  func command(_ kind: CommandRecord.Kind, _ job: JobID, users: [String]? = nil) async throws -> CommandResult? {
    let requested = try await store.request(
      kind, of: job, project: "p", argument: try CommandArgument(users: users).stored)
    guard let command = requested?.command else { return nil }
    await supervisor.commandRequested(command.id, of: job)
    guard await supervisor.isDone(command.id, within: .seconds(10)) else { return nil }
    return try await store.command(command.id)?.result.map { CommandResult(stored: $0) }
  }

  func job(_ id: JobID) async throws -> JobRecord {
    guard let record = try await store.job(id) else { throw Missing() }
    return record
  }

  struct Missing: Error {}
  struct InUse: Error {}

  /// Waits until a job is in a state.
  func wait(_ job: JobID, for state: JobState, within limit: Duration = .seconds(20)) async throws -> JobRecord {
    let deadline = ContinuousClock.now + limit
    while true {
      let record = try await self.job(job)
      if record.state == state || ContinuousClock.now > deadline { return record }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Waits until an attempt of a job runs.
  func wait(_ job: JobID, forAttempt attempt: Int64, within limit: Duration = .seconds(20)) async throws -> JobRecord {
    let deadline = ContinuousClock.now + limit
    while true {
      let record = try await self.job(job)
      if record.attempt == attempt, record.state == .running { return record }
      if record.state.isEnded || ContinuousClock.now > deadline { return record }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  func events(_ job: JobID) async throws -> [String] {
    try await store.events(project: "p", job: job, limit: 1_000).map(\.type)
  }

  /// The folder of the newest attempt, and the id of its process.
  func attempt(_ job: JobID) async throws -> (record: AttemptRecord, process: Int32) {
    guard let record = try await store.attempts(of: job).last else { throw Missing() }
    let text = try String(contentsOfFile: "\(folder)/\(record.folder)/journal.ndjson", encoding: .utf8)
    guard let line = text.split(separator: "\n").first,
      let fields = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
      let process = fields["process"] as? Int
    else { throw Missing() }
    return (record, Int32(process))
  }
}

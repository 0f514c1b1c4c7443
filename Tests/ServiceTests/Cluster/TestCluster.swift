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
import TestSupport

/// A connection to a database that can be cut.
final class CuttableConnection: SQLConnection {
  private let connection: any SQLConnection
  private let state = Mutex((isCut: false, statements: 0))

  init(_ connection: any SQLConnection) { self.connection = connection }

  var dialect: SQLDialect { connection.dialect }

  var isCut: Bool {
    get { state.withLock { $0.isCut } }
    set { state.withLock { $0.isCut = newValue } }
  }

  /// The number of statements and transactions so far.
  var statements: Int { state.withLock { $0.statements } }

  private func check() throws {
    let isCut = state.withLock { state in
      state.statements += 1
      return state.isCut
    }
    if isCut { throw SQLError(.unreachable, "The database cannot be reached.") }
  }

  @discardableResult
  func execute(_ statement: String, _ parameters: [SQLValue]) async throws -> [SQLRow] {
    try check()
    return try await connection.execute(statement, parameters)
  }

  func transaction<Result: Sendable>(
    _ body: @escaping @Sendable (any SQLTransaction) throws -> Result
  ) async throws -> Result {
    try check()
    return try await connection.transaction(body)
  }

  func changes(_ changed: @escaping @Sendable (SQLTopic) -> Void) { connection.changes(changed) }

  func close() async {}
}

/// A database of the tests with several nodes.
enum TestDatabase: String, Sendable, CaseIterable {
  case sqlite
  case postgreSQL

  /// Those that are installed.
  static let available: [TestDatabase] = PostgreSQLServer.isInstalled ? allCases : [.sqlite]

  func open(_ folder: String) async throws -> any SQLConnection {
    switch self {
    case .sqlite:
      let connection = try await SQLiteConnection.open("\(folder)/service.db")
      try await SQLSchema.migrate(connection)
      return connection
    case .postgreSQL:
      let server = try PostgreSQLServer.shared.get()
      return try await JobStore.open(PostgreSQLSettings(url: server.url(try server.makeDatabase()))).connection
    }
  }
}

/// Several supervisors with the fake program over one database, each with a folder of its own and short leases.
final class TestCluster: Sendable {
  /// A node with its supervisor.
  final class Node: Sendable {
    let name: String
    let folder: String
    let connection: CuttableConnection
    let store: JobStore
    private let stored = Mutex<[String]>([])
    /// The attempts that the node stored for jobs of others.
    var storedAttempts: [String] { stored.withLock { $0 } }
    private let current: Mutex<JobSupervisor?> = Mutex(nil)

    init(_ name: String, folder: String, connection: CuttableConnection) {
      self.name = name
      self.folder = folder
      self.connection = connection
      store = JobStore(connection, lease: TestCluster.lease)
    }

    var supervisor: JobSupervisor {
      guard let supervisor = current.withLock({ $0 }) else { preconditionFailure("The node has not begun.") }
      return supervisor
    }

    fileprivate func noteStored(_ attempt: String) { stored.withLock { $0.append(attempt) } }

    fileprivate func set(_ supervisor: JobSupervisor) { current.withLock { $0 = supervisor } }
  }

  /// In milliseconds.
  static let lease: Int64 = 2_000

  let folder: String
  /// For the test itself: it is never cut.
  let store: JobStore
  let nodes: [Node]
  private let configuration: ServiceConfiguration
  private let secretBox: SecretBox

  /// - Parameters:
  ///   - processors: of each node, in thousandths.
  ///   - waits: nodes that do not begin yet.
  init(
    _ names: [String], _ kind: TestDatabase = .sqlite, processors: Int64 = 8_000, waits: [String] = [],
    _ configure: (inout ServiceConfiguration) -> Void = { _ in }
  ) async throws {
    folder = NSTemporaryDirectory() + "cluster-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try FakeProgram.write(into: folder)
    let database = try await kind.open(folder)
    store = JobStore(database, lease: Self.lease)
    var configuration = ServiceConfiguration()
    configuration.limits.minimumFree = 0
    configuration.orphanLimit = TimeSpan(milliseconds: 60_000)
    configure(&configuration)
    self.configuration = configuration
    guard let secretBox = SecretBox(key: [UInt8](repeating: 7, count: SecretBox.keyBytes)) else { throw Missing() }
    self.secretBox = secretBox
    let folder = folder
    nodes = names.map { Node($0, folder: "\(folder)/\($0)", connection: CuttableConnection(database)) }
    for node in nodes {
      try FileManager.default.createDirectory(atPath: node.folder, withIntermediateDirectories: true)
      if !waits.contains(node.name) { try await start(node, processors: processors) }
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Starts the supervisor of a node; an earlier one must have ended.
  func start(_ node: Node, processors: Int64 = 8_000) async throws {
    var limits = JobLifecycle.Limits()
    limits.killAfter = .seconds(1)
    limits.waits = [.milliseconds(50), .milliseconds(50), .milliseconds(50), .milliseconds(50)]
    limits.storingWaits = [.milliseconds(200)]
    var settings = NodeSettings(name: node.name, identity: node.name, isShared: true)
    settings.presence.lease = .milliseconds(Self.lease)
    settings.presence.renewEach = .milliseconds(500)
    settings.presence.lookEach = .milliseconds(200)
    settings.presence.tryEach = .milliseconds(200)
    settings.drain.offerFor = .seconds(3)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let (store, folder) = (node.store, node.folder)
    let supervisor = JobSupervisor(
      configuration: configuration, store: node.store, secretBox: secretBox, data: node.folder,
      program: "\(self.folder)/chatbot", version: "1",
      machine: MachineLimits(processors: processors, memory: 8 << 30), limits: limits,
      on: MultiThreadedEventLoopGroup.singleton.next(), files: .singleton, logger: logger, node: settings,
      attemptStoring: { attempt in
        guard AttemptLock.state(of: "\(folder)/\(attempt.folder)") == .free else { throw InUse() }
        try await store.noteStored(attempt, description: "{}")
        node.noteStored(attempt.attemptID)
      },
      storing: { job in
        // As the storer does.
        for attempt in try await store.attempts(of: job) {
          if attempt.node == node.name {
            guard AttemptLock.state(of: "\(folder)/\(attempt.folder)") == .free else { throw InUse() }
            try await store.noteStored(attempt, description: "{}")
          } else if attempt.storedAt == nil {
            throw InUse()
          }
        }
      })
    node.set(supervisor)
    try await supervisor.start()
  }

  struct Missing: Error {}
  struct InUse: Error {}

  /// Ends all supervisors, and the processes that their jobs may still have.
  func end() async throws {
    for node in nodes { node.connection.isCut = false }
    for job in try await store.unfinishedJobs() {
      _ = try await store.request(.stop, of: job.id, project: "p")
    }
    let deadline = ContinuousClock.now + .seconds(15)
    while try await !store.unfinishedJobs().isEmpty, ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(50))
    }
    for node in nodes { await node.supervisor.detach() }
  }

  /// Writes a job to the database that any node may claim, or submits it to a node as the API does.
  @discardableResult
  func submit(
    _ room: String = "100", to node: Node? = nil, state: JobState = .queued, queueFor: Int64 = 20_000,
    _ change: (inout JobRequest) -> Void = { _ in }
  ) async throws -> JobID {
    let id = JobID.random()
    var request = JobRequest(kind: .record, server: "main")
    request.room = room
    request.queueFor = queueFor
    change(&request)
    let reservation = try await node?.supervisor.reserve(.record)
    var job = NewJob(
      id: id, project: "p", kind: "record", state: node == nil ? state : .starting,
      paused: try PauseState.none.databaseText, request: try request.stored, room: room, server: "main",
      startAt: request.startAt, queueFor: queueFor)
    job.node = node?.name
    _ = try await store.submit(job)
    await node?.supervisor.submitted(id, reservation: reservation)
    return id
  }

  func job(_ id: JobID) async throws -> JobRecord {
    guard let record = try await store.job(id) else { throw Missing() }
    return record
  }

  /// Waits until something holds.
  func eventually(
    within limit: Duration = .seconds(20), _ body: () async throws -> Bool
  ) async throws -> Bool {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
      if try await body() { return true }
      try await Task.sleep(for: .milliseconds(20))
    }
    return try await body()
  }

  func isRunning(_ id: JobID, on node: Node, attempt: Int64) async throws -> Bool {
    let job = try await job(id)
    return job.state == .running && job.node == node.name && job.attempt == attempt
  }

  func events(_ job: JobID) async throws -> [String] {
    try await store.events(project: "p", job: job, limit: 1_000).map(\.type)
  }

  /// Requests a command by a node, as its API does.
  func command(
    _ kind: CommandRecord.Kind, _ job: JobID, by node: Node, users: [String]? = nil
  ) async throws -> CommandResult? {
    let requested = try await store.request(
      kind, of: job, project: "p", argument: try CommandArgument(users: users).stored)
    guard let command = requested?.command else { return nil }
    await node.supervisor.commandRequested(command.id, of: job)
    guard await node.supervisor.isDone(command.id, within: .seconds(10)) else { return nil }
    return try await store.command(command.id)?.result.map { CommandResult(stored: $0) }
  }

  /// Whether the process of an attempt lives.
  func isAlive(_ attempt: AttemptRecord) -> Bool {
    guard let node = nodes.first(where: { $0.name == attempt.node }) else { return false }
    return AttemptLock.state(of: "\(node.folder)/\(attempt.folder)") == .held
  }

  /// The id of the process of an attempt.
  func process(_ attempt: AttemptRecord) throws -> Int32 {
    let journal = "\(folder)/\(attempt.node ?? "")/\(attempt.folder)/journal.ndjson"
    let text = try String(contentsOfFile: journal, encoding: .utf8)
    guard let line = text.split(separator: "\n").first,
      let fields = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
      let process = fields["process"] as? Int
    else { throw Missing() }
    return Int32(process)
  }

  func attempts(_ job: JobID) async throws -> [AttemptRecord] { try await store.attempts(of: job) }
}

import FoundationEssentials
package import Logging
import Media
package import NIOCore
import NIOPosix
import ObjectStore
import OptionValues
import S3
import SQLStore
import ServiceLifecycle
import Synchronization
import UnixSignals
import Webhooks

/// The whole service: its folder, database and store, the supervision of jobs, and the HTTP server.
package struct ServiceProgram: Sendable {
  private let configuration: ServiceConfiguration
  /// The path of `chatbot`.
  private let program: String
  private let version: String
  private let logger: Logger

  /// Why the service cannot run.
  package struct Failure: Error, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether the settings are wrong, and not the machine.
    package var isUsage = false
  }

  /// How long the server and its streams may take to end.
  private static let shutdownTime = Duration.seconds(2)
  /// How long what is in the outbox at the end is tried.
  private static let webhookTime = Duration.seconds(1)
  /// How often deletions of recordings that were asked for are carried out, and expired ones looked for.
  private static let deletionInterval = Duration.milliseconds(500)
  private static let sharedDeletionInterval = Duration.seconds(5)
  private static let retentionInterval = Duration.seconds(60)
  /// How often jobs that ended long ago are looked for, and how often while there are more of them.
  private static let pruningIntervals = (all: Duration.seconds(600), rest: Duration.seconds(1))
  /// How often copies of stored files are looked for.
  private static let localInterval = Duration.seconds(10)

  package init(configuration: ServiceConfiguration, program: String, version: String, logger: Logger) {
    self.configuration = configuration
    self.program = program
    self.version = version
    self.logger = logger
  }

  /// Runs until a signal ends it: SIGTERM or SIGINT drains, a second one leaves the jobs running, as SIGUSR2 does.
  ///
  /// - Parameter onRunning: is called with the address when the API answers.
  /// - Throws: a ``Failure`` if the service cannot begin.
  package func run(onRunning: @escaping @Sendable (SocketAddress?) async -> Void = { _ in }) async throws {
    if let problem = configuration.problem { throw Failure(description: problem, isUsage: true) }
    let parts = try await Parts(configuration, program: program, version: version, logger: logger)
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sigusr2)
    let server = ServiceGroup(
      configuration: .init(
        services: [
          .init(service: try parts.server(onRunning), successTerminationBehavior: .gracefullyShutdownGroup)
        ], logger: logger))
    let running = Task { try await server.run() }
    let supervisor = parts.supervisor
    let listening = Task { [logger] in
      var isEnding = false
      for await signal in signals {
        if signal == .sigusr2 || isEnding {
          logger.notice("The service ends and leaves its jobs running")
          await supervisor.detach()
          await server.triggerGracefulShutdown()
          return
        }
        isEnding = true
        logger.notice("The service ends when its jobs have ended; a second signal leaves them running")
        Task {
          await supervisor.drain()
          await server.triggerGracefulShutdown()
        }
      }
    }
    defer { listening.cancel() }
    do {
      if try await begin(parts) {
        try await work(parts) { try await Self.wait(for: running, after: supervisor) }
      } else {
        try await Self.wait(for: running, after: supervisor)
      }
    } catch {
      running.cancel()
      throw Failure(description: "The service failed: \("\(error)".printable(utf8Bytes: 500))")
    }
    await parts.spool.end()
    await parts.opened.close()
    logger.notice("The service has ended")
  }

  /// How long the service waits before it tries to reach its database again.
  private static let databaseInterval = Duration.seconds(1)

  /// Takes over what an earlier service left, once the database can be reached: processes of jobs run meanwhile, and the API says that
  /// nothing is accepted.
  ///
  /// - Returns: false if the service was ended before.
  private func begin(_ parts: Parts) async throws -> Bool {
    while await !parts.supervisor.isDetached {
      do {
        if let database = parts.database { try await JobStore.migrate(database) }
        try await parts.supervisor.start()
        return true
      } catch let error as SQLError where error.kind == .unreachable && parts.database != nil {
        await parts.supervisor.report(error)
        try? await ServiceTimer.sleep(for: Self.databaseInterval)
      }
    }
    return false
  }

  /// Does beside the jobs what is due, until `body` ends.
  private func work(_ parts: Parts, until body: () async throws -> Void) async throws {
    let tasks = [
      Task { await keepHouse(parts) }, Task { await keepLocalFiles(parts) }, Task { await parts.webhooks.run() },
    ]
    defer { for task in tasks { task.cancel() } }
    try await body()
    tasks.last?.cancel()
    await parts.webhooks.end(within: Self.webhookTime)
  }

  /// Tests the store at the start and while it refuses something, stores what jobs have left, and keeps the copies of stored files
  /// for their time.
  private func keepLocalFiles(_ parts: Parts) async {
    let objects = parts.opened.objects
    async let probing: Void = testStore(objects)
    // It waits for as long as the store is away. Copies make room meanwhile.
    async let amending: Void = amendLeftovers(parts.storer)
    let isShort = parts.storer.isShortOfSpace(in: parts.folder.path, minimum: configuration.limits.minimumFree)
    while !Task.isCancelled {
      do {
        try await parts.storer.removeLocalCopies(isShort: isShort)
      } catch {
        logger.error("Copies of stored files stay for now: \("\(error)".printable(utf8Bytes: 300))")
      }
      try? await ServiceTimer.sleep(for: Self.localInterval)
    }
    await probing
    await amending
  }

  private func amendLeftovers(_ storer: Storer) async {
    while !Task.isCancelled {
      do {
        try await storer.amendLeftovers()
      } catch {
        logger.error("Files of jobs that have ended stay for now: \("\(error)".printable(utf8Bytes: 300))")
      }
      try? await ServiceTimer.sleep(for: Self.retentionInterval)
    }
  }

  private func testStore(_ objects: any ObjectStore) async {
    var isTested = false
    while !Task.isCancelled {
      if !isTested || objects.problem != nil {
        do {
          try await objects.probe()
          isTested = true
        } catch {
          logger.error("The store cannot be used: \("\(error)".printable(utf8Bytes: 500))")
        }
      }
      try? await ServiceTimer.sleep(for: Self.retentionInterval)
    }
  }

  /// Waits for the end of the server, and no longer than its time after the supervision has ended.
  private static func wait(for running: Task<Void, any Error>, after supervisor: JobSupervisor) async throws {
    let result = Mutex<Result<Void, any Error>?>(nil)
    Task {
      let end = await running.result
      result.withLock { $0 = end }
    }
    var deadline: MonotonicInstant?
    while true {
      if let end = result.withLock({ $0 }) { return try end.get() }
      if await supervisor.isDetached, deadline == nil { deadline = .now + shutdownTime }
      if let deadline, MonotonicInstant.now > deadline { return running.cancel() }
      try await ServiceTimer.sleep(for: .milliseconds(20))
    }
  }

  /// Deletes recordings, and forgets what has expired.
  private func keepHouse(_ parts: Parts) async {
    var (nextRetention, nextPruning) = (MonotonicInstant.now, MonotonicInstant.now)
    while !Task.isCancelled {
      do {
        if let age = configuration.retention.jobs?.milliseconds, MonotonicInstant.now >= nextPruning {
          nextPruning = .now + Self.pruningIntervals.all
          try await parts.store.pruneNodes(age: age)
          if try await parts.store.pruneJobs(age: age).hasMore { nextPruning = .now + Self.pruningIntervals.rest }
        }
        let isRetentionDue = MonotonicInstant.now >= nextRetention
        if isRetentionDue {
          nextRetention = .now + Self.retentionInterval
          try await parts.store.forgetExpiredKeys()
        }
        try await parts.storer.deleteDue(
          retention: isRetentionDue ? configuration.retention.recordings?.milliseconds : nil)
      } catch {
        logger.error("What has expired cannot be deleted: \("\(error)".printable(utf8Bytes: 300))")
        try? await ServiceTimer.sleep(for: .seconds(10))
      }
      // Other nodes look as well.
      let interval = configuration.database == nil ? Self.deletionInterval : Self.sharedDeletionInterval
      try? await ServiceTimer.sleep(for: interval)
    }
  }
}

extension ServiceProgram {
  /// What the service consists of.
  private struct Parts: Sendable {
    let folder: DataFolder
    /// PostgreSQL, whose schema is brought up to date when the service begins; nil: SQLite, which is up to date.
    let database: PostgreSQLSettings?
    let store: JobStore
    let opened: OpenedStore
    let storer: Storer
    let spool: Spool
    let supervisor: JobSupervisor
    let metrics: ServiceMetrics
    let webhooks: WebhookDispatcher
    private let responder: APIResponder
    private let apiServer: @Sendable (@escaping @Sendable (SocketAddress?) async -> Void) throws -> APIServer

    init(_ configuration: ServiceConfiguration, program: String, version: String, logger: Logger) async throws {
      do {
        folder = try DataFolder(configuration.data)
        let data = folder.path
        let metrics = ServiceMetrics()
        self.metrics = metrics
        database = try Self.database(configuration)
        store = try await Self.store(database, data) { metrics.note($0) }
        opened = try await Self.open(configuration, data, store, metrics, logger)
        let objects = opened.objects
        let secrets = try SecretBox.load(configuration.secretKeyFile ?? "\(data)/secret.key")
        let tokens = try Self.tokens(configuration, data, logger)
        var settings = Storer.Settings(data: data, program: [program])
        settings.template = configuration.store.path
        if configuration.store.isRemote {
          settings.localRetention = configuration.retention.local.milliseconds
          settings.spareBytes = min(16 << 20, configuration.limits.minimumFree / 4)
        }
        webhooks = try Self.webhooks(configuration, store, version, metrics, logger)
        // Only one service can use a file of SQLite: its folder is locked.
        let isShared = store.connection.dialect != .sqlite
        let node = try Self.node(configuration, data, isShared: isShared)
        if isShared { settings.node = node.name }
        settings.nodeLossTimeout = configuration.nodeLossTimeout.milliseconds
        let storer = Storer(
          store, objects: objects, settings: settings, uploaded: { metrics.note($0) }, logger: logger)
        self.storer = storer
        let spool = Spool(storer, logger: logger)
        self.spool = spool
        let jobs = store
        supervisor = JobSupervisor(
          configuration: configuration, store: store, secretBox: secrets, data: data, program: program,
          version: version, machine: MachineLimits.read(), on: MultiThreadedEventLoopGroup.singleton.next(),
          files: .singleton, logger: logger, node: node, spool: spool,
          attemptStoring: { try await storer.storeAttempt($0, of: $0.job) }
        ) { job in
          // What is missing is stored now.
          await spool.remove(job)
          try await storer.store(job, attempts: try await jobs.attempts(of: job))
        }
        let access = APIAccess(
          tokens: tokens, requestsPerSecond: configuration.limits.requests,
          failuresPerMinute: configuration.limits.failures)
        let responder = APIResponder(
          configuration: configuration, data: data, store: store, objects: objects, control: supervisor,
          access: access, secrets: secrets, metrics: metrics, unstored: storer.unstored,
          peers: try Self.peers(configuration, store, isShared: isShared, logger), logger: logger)
        self.responder = responder
        apiServer = { try APIServer(responder, logger: logger, onRunning: $0) }
        // Bad certificates are found before anything runs.
        _ = try apiServer { _ in }
      } catch let failure as Failure {
        throw failure
      } catch let error as any CustomStringConvertible & Error {
        throw Failure(description: error.description.printable(utf8Bytes: 1_000))
      }
    }

    func server(_ onRunning: @escaping @Sendable (SocketAddress?) async -> Void) throws -> APIServer {
      try apiServer(onRunning)
    }

    private static func database(_ configuration: ServiceConfiguration) throws -> PostgreSQLSettings? {
      try configuration.database.map { database in
        try PostgreSQLSettings(
          url: database.url, passwordFile: database.passwordFile, connections: database.connections,
          listens: database.listens)
      }
    }

    private static func store(
      _ database: PostgreSQLSettings?, _ data: String, observe: @escaping @Sendable (SQLOperation) -> Void
    ) async throws -> JobStore {
      if let database { return JobStore.connecting(to: database, observe: observe) }
      return try await JobStore.open("\(data)/service.db", observe: observe)
    }

    private static func open(
      _ configuration: ServiceConfiguration, _ data: String, _ store: JobStore, _ metrics: ServiceMetrics,
      _ logger: Logger
    ) async throws -> OpenedStore {
      guard let url = configuration.store.url else { return try await OpenedStore.open(folder: "\(data)/store") }
      do {
        return try await OpenedStore.open(
          url: url, configuration.store.s3, environment: ProcessInfo.processInfo.environment,
          ledger: DatabaseUploadLedger(store: store), logger: logger
        ) { metrics.note($0) }
      } catch let problem as S3Configuration.Problem {
        throw Failure(description: problem.description, isUsage: true)
      }
    }

    private static func webhooks(
      _ configuration: ServiceConfiguration, _ store: JobStore, _ version: String, _ metrics: ServiceMetrics,
      _ logger: Logger
    ) throws -> WebhookDispatcher {
      let secrets = WebhookSecretFiles(configuration.webhooks.secrets)
      if let problem = secrets.problems.first { throw Failure(description: problem, isUsage: true) }
      var settings = WebhookSender.Settings()
      settings.allowsPrivate = configuration.webhooks.allowsPrivate
      settings.ca = configuration.webhooks.ca
      return WebhookDispatcher(
        store, sender: try WebhookSender(settings, userAgent: "chatbot/\(version)"), secrets: secrets,
        allowsPrivate: settings.allowsPrivate, metrics: metrics, logger: logger)
    }

    /// What this service is among those with the same database.
    private static func node(
      _ configuration: ServiceConfiguration, _ data: String, isShared: Bool
    ) throws -> NodeSettings {
      let path = "\(data)/node.id"
      try PrivateFile.create(path, JobID.randomText(20) + "\n")
      let text = try BoundedFile.read(path, longest: 64)
      guard let identity = String(validating: text, as: UTF8.self)?.split(separator: "\n").first else {
        throw Failure(description: "\(path) is empty.")
      }
      return NodeSettings(
        name: configuration.nodeName, identity: String(identity), advertise: configuration.advertise,
        isShared: isShared)
    }

    /// The other nodes, if there may be some and a common token is configured.
    private static func peers(
      _ configuration: ServiceConfiguration, _ store: JobStore, isShared: Bool, _ logger: Logger
    ) throws -> NodePeers? {
      guard isShared, let path = configuration.clusterTokenFile else { return nil }
      do {
        let token = try ClusterToken(file: path)
        return try NodePeers(
          store: store, name: configuration.nodeName, token: token, ca: configuration.clusterCA, logger: logger)
      } catch let error as ClusterToken.Failure {
        throw Failure(description: error.description, isUsage: true)
      } catch let error as NodePeers.CAFailure {
        throw Failure(description: error.description, isUsage: true)
      }
    }

    private static func tokens(
      _ configuration: ServiceConfiguration, _ data: String, _ logger: Logger
    ) throws -> TokenFile {
      let path = configuration.tokensFile ?? "\(data)/tokens"
      let admin = "\(data)/admin.token"
      if try configuration.tokensFile == nil && TokenFile.create(path, adminTokenFile: admin) {
        logger.notice("A token of an administrator was made: \(admin)")
      }
      let tokens = TokenFile(path)
      if let problem = tokens.problem { throw Failure(description: problem, isUsage: true) }
      return tokens
    }
  }
}

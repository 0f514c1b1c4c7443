internal import FoundationEssentials
package import JobProtocol
package import Logging
internal import Media
package import NIOCore
package import NIOPosix
internal import ObjectStore
internal import OptionValues
package import SQLStore

/// Runs the jobs of the database: starts their processes, reads their journals, keeps their control connections and carries out
/// commands. What happens next is decided by a ``JobLifecycle`` for each job; this does it.
package actor JobSupervisor {
  /// What stores the files of a job whose processes are dead. It may begin again at any point.
  package typealias Storing = @Sendable (_ job: JobID) async throws -> Void
  /// What stores the files of an attempt of this node whose job another node has, or that has ended.
  package typealias AttemptStoring = @Sendable (_ attempt: AttemptRecord) async throws -> Void

  let configuration: ServiceConfiguration
  let store: JobStore
  let secretBox: SecretBox
  let storing: Storing
  /// Stores files while their job runs.
  let spool: Spool?
  /// The path of `chatbot`, and the version that an attempt has until its process says its own.
  let program: String
  let version: String
  /// The absolute path of the data folder.
  let data: String
  let loop: any EventLoop
  let files: NIOThreadPool
  let logger: Logger
  let limits: JobLifecycle.Limits
  /// What this service is among those with the same database; nil: it is not one of them.
  let node: NodeSettings?
  let attemptStoring: AttemptStoring?

  var jobs: [JobID: SupervisedJob] = [:]
  var accounts: CapacityAccounts<JobID>
  let disk: DiskSpace
  var ports: PortPool
  /// What the clock of the database read at a moment.
  var clock = WallClock(moment: .now, secondsSince1970: 0)
  var isStarted = false
  var isDraining = false
  var isDetached = false
  var databaseProblem: String?
  /// What the processes have received while this service supervised them.
  package var mediaCounts = MediaCounts()
  var commandWaiters: [Int64: [EventLoopPromise<Bool>]] = [:]
  var lastSerial: UInt64 = 0
  // Other nodes.
  var presence: NodePresence
  var nodeClock = NodeClock()
  var isInNodeTurn = false
  /// Whether it hears of what others change.
  var isListening = false
  var isClaiming = false
  /// Why this node could not claim more the last time.
  var shortage: CapacityShortage?
  /// By the ids of the attempts.
  var leaving: [String: LeavingJob] = [:]
  var storingAttempts: Task<Void, Never>?
  /// Attempts that leave or have left, by their ids, until their files are stored.
  var unstoredAttempts: [String: UnstoredAttempt] = [:]
  /// Whether an operator asked this node to take no jobs.
  var isCordoned = false
  var drainPlan: NodeDrain?
  var isInDrainTurn = false
  var hasSuccessor = false
  var nextNodesLook = MonotonicInstant.now
  var nextOwnerLook = MonotonicInstant.now
  // Commands without the database.
  var localCommands: [LocalCommand] = []
  var localResults: [Int64: CommandResult] = [:]
  /// Below the number of changes that the service asks for itself.
  var lastLocalCommand = JobLifecycle.PauseChange.ofService
  var lastLocalWrite: Task<Bool, Never>?
  var localCommandFile: LocalCommandFile { LocalCommandFile(data: data) }
  private var loops: [Task<Void, Never>] = []
  private var lastTick = MonotonicInstant.now

  /// How often deadlines are looked at and journals are read.
  private static let tick = Duration.milliseconds(200)
  /// A turn that is later than this means that the service did not run.
  private static let lateness = Duration.seconds(2)
  /// By how many seconds the clock may differ before jobs that are scheduled follow it.
  private static let clockTolerance = 0.5

  /// - Parameters:
  ///   - data: the absolute path of the data folder.
  ///   - program: the path of `chatbot`.
  ///   - loop: serves the control connections and timers.
  ///   - node: what the service is among others with the same database.
  package init(
    configuration: ServiceConfiguration, store: JobStore, secretBox: SecretBox, data: String, program: String,
    version: String, machine: MachineLimits, limits: JobLifecycle.Limits = JobLifecycle.Limits(),
    on loop: any EventLoop, files: NIOThreadPool, logger: Logger, node: NodeSettings? = nil, spool: Spool? = nil,
    attemptStoring: AttemptStoring? = nil, storing: @escaping Storing
  ) {
    self.configuration = configuration
    self.store = store
    self.secretBox = secretBox
    self.storing = storing
    self.spool = spool
    self.program = program
    self.version = version
    self.data = data
    self.loop = loop
    self.files = files
    self.logger = logger
    self.limits = limits
    self.node = node
    self.attemptStoring = attemptStoring
    presence = NodePresence(limits: node?.presence ?? NodePresence.Limits(), at: .now)
    // Recordings need room in both.
    let storeFolder = configuration.store.url.flatMap { FileObjectStore.path(ofURL: $0) }
    disk = DiskSpace(folders: [data] + (storeFolder.map { [$0] } ?? []))
    ports = PortPool(configuration.media.udpPorts)
    accounts = CapacityAccounts(limits: CapacityLimits.of(configuration, on: machine))
  }

  // MARK: The life of the service

  /// Takes over what an earlier service left, and begins. A call that throws can be repeated.
  package func start() async throws {
    guard !isStarted else { return }
    try await joinNodes()
    let sent = Self.milliseconds
    let now = try await store.now()
    nodeClock.add(sent: sent, received: Self.milliseconds, database: now)
    clock = WallClock(moment: .now, secondsSince1970: Double(now) / 1_000)
    try await noteKeptCommands()
    let own =
      if let node, isShared { try await store.jobs(ofNode: node.name) } else { try await store.unfinishedJobs() }
    for record in own { try await take(record) }
    try await adoptLeaving()
    isStarted = true
    lastTick = .now
    loops = [
      repeated(Self.tick) { await $0.timers() },
      repeated(Self.tick) { await $0.readProcesses() },
    ]
    if !isShared {
      loops.append(repeated(.milliseconds(500)) { await $0.readCommands() })
      loops.append(repeated(.seconds(5)) { await $0.readJobs() })
    }
    if node != nil {
      loops.append(repeated(Self.tick) { await $0.nodeTurn() })
      loops.append(repeated(Self.tick) { await $0.leavingTurn() })
      loops.append(repeated(Self.tick) { await $0.drainTurn() })
    }
  }

  private func repeated(
    _ interval: Duration, _ body: @escaping @Sendable (JobSupervisor) async -> Void
  ) -> Task<Void, Never> {
    Task { [weak self, loop] in
      while !Task.isCancelled {
        do { try await loop.sleep(for: interval) } catch { return }
        guard let self else { return }
        await body(self)
      }
    }
  }

  /// Ends the supervision and leaves all processes running.
  package func detach() async {
    guard !isDetached else { return }
    isDetached = true
    for task in loops { task.cancel() }
    for job in jobs.values {
      job.storing?.cancel()
      job.attempt?.connectionTask?.cancel()
      job.attempt?.connection?.close()
    }
    storingAttempts?.cancel()
    for leaving in leaving.values {
      leaving.connectionTask?.cancel()
      leaving.connection?.close()
    }
    for promise in commandWaiters.values.joined() { promise.succeed(false) }
    commandWaiters = [:]
    // What is written now need not be found out again; a database that does not answer is not waited for.
    var writes = jobs.values.compactMap(\.writes)
    if let node, isShared, !presence.isCutOff {
      // The next start has the time of a lease to come back.
      writes.append(Task { [store] in _ = try? await store.renewLeases(node: node.name) })
    }
    let done = loop.makePromise(of: Void.self)
    let timer = loop.scheduleTask(in: .seconds(2)) { done.succeed() }
    let all = writes
    Task {
      for write in all { await write.value }
      timer.cancel()
      done.succeed()
    }
    try? await done.futureResult.get()
    jobs = [:]
    leaving = [:]
  }

  // MARK: Jobs

  /// Jobs that the database has and this does not: their submission was not reported.
  private func readJobs() async {
    accounts.freeDisk = disk.free(now: .now)
    do {
      for found in try await store.unfinishedJobs() where jobs[found.id] == nil {
        // It may have ended since it was read.
        guard !isDetached, let record = try await store.job(found.id) else { continue }
        try await take(record)
      }
      followClock(Double(try await store.now()) / 1_000)
      databaseProblem = nil
    } catch {
      report(error)
    }
  }

  /// Jobs begin by the wall clock, which may be set.
  private func followClock(_ seconds: Double) {
    let now = MonotonicInstant.now
    let change = seconds - clock.secondsSince1970 - (now - clock.moment).seconds
    guard abs(change) >= Self.clockTolerance else { return }
    if abs(change) > 2 { logger.warning("The clock was set by \(change.rounded()) s") }
    clock = WallClock(moment: now, secondsSince1970: seconds)
    for job in Array(jobs.values) { receive(.clockChanged(by: .seconds(change)), of: job) }
  }

  /// Begins with a job as the database has it.
  ///
  /// - Parameter isClaimed: whether this node has just claimed it: its newest attempt has no process yet.
  func take(_ record: JobRecord, reservation: CapacityReservation? = nil, isClaimed: Bool = false) async throws {
    // What no job takes is given back.
    defer { if let reservation { accounts.release(reservation.number) } }
    guard jobs[record.id] == nil, !record.state.isEnded else { return }
    let request: JobRequest
    do {
      request = try JobRequest(stored: record.request)
    } catch {
      logger.error("The job cannot be read", metadata: ["job": "\(record.id)"])
      try await store.finish(record.id, .failed, .crashing, sentence: "The job cannot be read from the database.")
      return
    }
    let attempts = record.attempt > 0 ? try await store.attempts(of: record.id) : []
    guard jobs[record.id] == nil else { return }
    var found = JobLifecycle.Record(record, attempts: attempts, request: request, clock: clock)
    if isClaimed { found.claim() }
    let (life, actions) = JobLifecycle.begin(found, limits: limits, at: .now)
    lastSerial += 1
    let job = SupervisedJob(record, request: request, life: life, serial: lastSerial)
    jobs[record.id] = job
    if isClaimed, let last = attempts.last, found.isClaimed {
      let folder = AttemptDirectory(data: data, name: last.folder)
      job.attempt = CurrentAttempt(
        number: Int(clamping: last.number), id: last.attemptID, folder: folder, now: .now)
      if last.number > 1 { job.hasPredecessorUntil = .now + .seconds(120) }
      accounts.begin(record.id, reservation: reservation?.number)
    } else if record.attempt == 0, record.state == .starting {
      accounts.begin(record.id, reservation: reservation?.number)
    }
    if record.state != .storing {
      for attempt in attempts where attempt.endedAt != nil && attempt.storedAt == nil {
        spool?.attemptEnded(attempt.attemptID, of: record.id)
      }
    }
    if !isClaimed, let last = attempts.last, last.endedAt == nil, life.hasProcess { await adopt(last, of: job) }
    if isDraining { _ = job.life.receive(.drain, at: .now) }
    perform(actions, of: job)
  }

  // MARK: Time

  private func timers() {
    let now = MonotonicInstant.now
    let late = now - lastTick - Self.tick
    lastTick = now
    if late > Self.lateness {
      logger.warning("The service did not run for \(late.seconds.rounded()) s")
      for job in Array(jobs.values) { receive(.serviceWasLate(late), of: job) }
    }
    for job in Array(jobs.values) {
      if let deadline = job.life.deadline, deadline <= now { receive(.time, of: job) }
      connect(job, now)
    }
  }

  // MARK: Events

  /// Passes an event on to a job and does what follows.
  func receive(_ event: JobLifecycle.Event, of job: SupervisedJob) {
    guard !isDetached, jobs[job.id] === job else { return }
    let before = job.life.state
    let actions = job.life.receive(event, at: .now)
    perform(actions, of: job)
    let after = job.life.state
    if before != after {
      logger.info("The job is \(after.rawValue)", metadata: ["job": "\(job.id)", "attempt": "\(job.life.attempt)"])
    }
  }

  /// Passes an event on to a job, if it has not ended.
  func receive(_ event: JobLifecycle.Event, of id: JobID) {
    if let job = jobs[id] { receive(event, of: job) }
  }

  /// Passes an event on to a job, if it is the one that was taken then.
  func receive(_ event: JobLifecycle.Event, of id: JobID, _ serial: UInt64) {
    if let job = jobs[id], job.serial == serial { receive(event, of: job) }
  }
}

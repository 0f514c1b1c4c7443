internal import JobProtocol
internal import Logging
internal import Media
internal import NIOCore
internal import NIOPosix
internal import SQLStore

/// An attempt of a job that another node has now, with its process. It belongs to its `JobSupervisor`.
final class LeavingJob {
  let job: JobID
  let attempt: CurrentAttempt
  let port: UInt16?
  var state: LeavingAttempt
  var connection: ControlConnection?
  var connectionTask: Task<Void, Never>?
  var nextConnection = MonotonicInstant.now
  var nextLook = MonotonicInstant.now
  var isBusy = false

  init(job: JobID, attempt: CurrentAttempt, port: UInt16?, state: LeavingAttempt) {
    self.job = job
    self.attempt = attempt
    self.port = port
    self.state = state
  }
}

/// An attempt of a job that another node has, whose files may have to be stored.
struct UnstoredAttempt: Sendable {
  let job: JobID
  let folder: String
}

/// Attempts whose job another node has.
extension JobSupervisor {
  /// Lets the process of a job end that another node has taken. Its files are stored when it has ended.
  func leave(_ job: SupervisedJob) {
    job.storing?.cancel()
    guard let attempt = job.attempt, job.life.hasProcess else { return forget(job) }
    let cause: LeavingAttempt.Cause = drainPlan?.isOffered(job.id) == true ? .handedOver : .superseded
    logger.notice(
      cause == .handedOver ? "Another node goes on with the job" : "Another node has taken the job",
      metadata: ["job": "\(job.id)", "attempt": "\(attempt.number)"])
    closeConnection(of: job)
    let port = job.port
    // It stays in use.
    job.port = nil
    forget(job)
    leave(job.id, attempt, port: port, cause, needsVideo: job.request.kind == .record)
  }

  private func leave(
    _ job: JobID, _ attempt: CurrentAttempt, port: UInt16?, _ cause: LeavingAttempt.Cause, needsVideo: Bool
  ) {
    let (state, actions) = LeavingAttempt.begin(
      cause, needsVideo: needsVideo, isConnected: false, limits: node?.leaving ?? LeavingAttempt.Limits(), at: .now)
    let leaving = LeavingJob(job: job, attempt: attempt, port: port, state: state)
    self.leaving[attempt.id] = leaving
    if attemptStoring != nil, isShared {
      unstoredAttempts[attempt.id] = UnstoredAttempt(job: job, folder: attempt.folder.name)
    }
    perform(actions, of: leaving)
  }

  /// Takes up the attempts of this node whose jobs others have, after a start.
  func adoptLeaving() async throws {
    guard isShared, let node else { return }
    for record in try await store.attemptsToStore(node: node.name, limit: 10_000)
    where record.endedAt == nil && leaving[record.attemptID] == nil {
      let folder = AttemptDirectory(data: data, name: record.folder)
      let state = try? await files.runIfActive { AttemptLock.state(of: folder.path) }
      guard state == .held else {
        try await store.endSupersededAttempt(record.attemptID, of: record.job)
        continue
      }
      let attempt = CurrentAttempt(
        number: Int(clamping: record.number), id: record.attemptID, folder: folder, isAdopted: true, now: .now)
      attempt.process = AttemptProcess(adopted: folder, isFenced: false)
      logger.notice(
        "A process is found whose job another node has taken",
        metadata: ["job": "\(record.job)", "attempt": "\(attempt.number)"])
      leave(record.job, attempt, port: nil, .superseded, needsVideo: false)
    }
  }

  /// A process has started whose job another node took meanwhile.
  func leavingStarted(_ process: AttemptProcess, _ id: JobID, _ number: Int) {
    for leaving in leaving.values where leaving.job == id && leaving.attempt.number == number {
      leaving.attempt.process = process
    }
  }

  /// The process of an attempt was not started whose job another node took meanwhile.
  func leavingNotStarted(_ id: JobID, _ number: Int) {
    for leaving in Array(leaving.values) where leaving.job == id && leaving.attempt.number == number {
      receive(.processDied, of: leaving)
    }
  }

  // MARK: Time

  /// Looks at all attempts that leave.
  func leavingTurn() async {
    for leaving in Array(leaving.values) where !leaving.isBusy {
      leaving.isBusy = true
      await turn(leaving)
      leaving.isBusy = false
    }
  }

  private func turn(_ leaving: LeavingJob) async {
    connect(leaving)
    if let process = leaving.attempt.process,
      let exit = try? await files.runIfActive({ process.ended() })
    {
      logger.info(
        "The process \(exit.description)", metadata: ["job": "\(leaving.job)", "attempt": "\(leaving.attempt.number)"])
      return receive(.processDied, of: leaving)
    }
    if case .overlapping = leaving.state.phase, MonotonicInstant.now >= leaving.nextLook, !presence.isCutOff {
      leaving.nextLook = .now + .milliseconds(500)
      do {
        if let successor = try await store.successor(of: leaving.job) {
          receive(
            .successor(hasJoined: successor.hasJoined, keyframes: successor.keyframes, isOver: successor.isOver),
            of: leaving)
        }
      } catch {
        report(error)
      }
    }
    if let deadline = leaving.state.deadline, deadline <= .now { receive(.time, of: leaving) }
  }

  private func receive(_ event: LeavingAttempt.Event, of leaving: LeavingJob) {
    guard self.leaving[leaving.attempt.id] === leaving, !isDetached else { return }
    perform(leaving.state.receive(event, at: .now), of: leaving)
  }

  private func perform(_ actions: [LeavingAttempt.Action], of leaving: LeavingJob) {
    for action in actions {
      switch action {
      case .sendStop:
        leaving.connection?.send(ControlRequest(id: leaving.attempt.nextRequest(), .stop(reason: .drained)))
      case .signal(let signal):
        guard let process = leaving.attempt.process else { continue }
        Task { [files] in _ = try? await files.runIfActive { process.send(signal) } }
      case .store: ended(leaving)
      }
    }
  }

  private func ended(_ leaving: LeavingJob) {
    leaving.connectionTask?.cancel()
    leaving.connection?.close()
    if let port = leaving.port { ports.release(port) }
    self.leaving[leaving.attempt.id] = nil
    let (job, id) = (leaving.job, leaving.attempt.id)
    Task { [self, store] in
      await untilItSucceeds { try await store.endSupersededAttempt(id, of: job) }
      storeAttempts()
    }
  }

  // MARK: The control connection

  private func connect(_ leaving: LeavingJob) {
    guard leaving.connectionTask == nil, MonotonicInstant.now >= leaving.nextConnection,
      leaving.attempt.process != nil
    else { return }
    let (id, folder, loop) = (leaving.attempt.id, leaving.attempt.folder, loop)
    leaving.connectionTask = Task { [self] in
      if let connection = try? await ControlConnection.open(folder, on: loop) {
        leavingOpened(connection, id)
        try? await connection.run { await leavingReceived($0, id) }
        connection.close()
      }
      leavingClosed(id)
    }
  }

  private func leavingOpened(_ connection: ControlConnection, _ id: String) {
    guard let leaving = leaving[id] else { return connection.close() }
    leaving.connection = connection
    connection.send(ControlRequest(id: leaving.attempt.nextRequest(), .hello))
    connection.send(ControlRequest(id: leaving.attempt.nextRequest(), .subscribe))
  }

  private func leavingReceived(_ answer: ControlAnswer, _ id: String) {
    guard let leaving = leaving[id] else { return }
    switch answer.result {
    case .hello(let hello):
      leaving.attempt.process?.identify(hello.process)
      receive(.connected, of: leaving)
    case .status(let status):
      let users = status.users.filter { $0.framesPerSecond > 0 && !$0.isPaused }
      receive(.sending(Set(users.map(\.user))), of: leaving)
    case .paused, .snapshot, .error, .stopping, .other: break
    }
  }

  private func leavingClosed(_ id: String) {
    guard let leaving = leaving[id] else { return }
    leaving.connection = nil
    leaving.connectionTask = nil
    leaving.nextConnection = .now + .milliseconds(500)
    receive(.disconnected, of: leaving)
  }

  // MARK: Storing

  /// Stores the attempts of this node whose jobs others have, or that were found after their job had ended.
  func storeAttempts() {
    guard storingAttempts == nil, let node, let attemptStoring, !isDetached, isShared else { return }
    let ended = unstoredAttempts.filter { leaving[$0.key] == nil }
    storingAttempts = Task { [self, store, loop] in
      var failure: (any Error)?
      do {
        let records = try await store.attemptsToStore(node: node.name, limit: Self.attemptsAtOnce)
        for record in records where !Task.isCancelled {
          do {
            guard try await mayStore(record) else { continue }
            try await attemptStoring(record)
            isStored(record.attemptID)
          } catch let error where !(error is SQLError) {
            // The others do not wait for this one.
            failure = failure ?? error
          }
        }
        if records.count < Self.attemptsAtOnce { try await forget(ended, but: Set(records.map(\.attemptID))) }
      } catch {
        failure = failure ?? error
      }
      if let failure {
        logger.error("The files of an attempt are not stored: \(failure)")
        try? await loop.sleep(for: .seconds(5))
      }
      attemptsAreStored()
    }
  }

  private static let attemptsAtOnce = 100

  /// Forgets attempts of which the database names nothing to store: they were stored with their job, their recording was deleted, or a
  /// failover lost their rows.
  ///
  /// - Parameter waiting: the ids of those that are still to be stored.
  private func forget(_ attempts: [String: UnstoredAttempt], but waiting: Set<String>) async throws {
    for (id, attempt) in attempts where !waiting.contains(id) {
      if try await !store.attempts(of: attempt.job).contains(where: { $0.attemptID == id }) {
        logger.error(
          "The database does not know the attempt; its files stay in the data folder, below \(attempt.folder)",
          metadata: ["job": "\(attempt.job)"])
      }
      isStored(id)
    }
  }

  /// Whether the process of an attempt has ended. One whose job this node seems to have is looked at: another node has it.
  private func mayStore(_ record: AttemptRecord) async throws -> Bool {
    if leaving[record.attemptID] != nil { return false }
    if let job = jobs[record.job], job.attempt?.id == record.attemptID {
      try await checkOwner(of: job.id, job.serial)
      return false
    }
    return true
  }

  private func isStored(_ attempt: String) { unstoredAttempts[attempt] = nil }

  private func attemptsAreStored() { storingAttempts = nil }
}

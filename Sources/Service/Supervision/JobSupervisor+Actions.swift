internal import JobProtocol
internal import Logging
internal import Media
internal import NIOCore
internal import SQLStore

extension JobSupervisor {
  /// Does what a job's state asks for.
  func perform(_ actions: [JobLifecycle.Action], of job: SupervisedJob) {
    for action in actions { perform(action, of: job) }
  }

  private func perform(_ action: JobLifecycle.Action, of job: SupervisedJob) {
    switch action {
    case .askForCapacity: askForCapacity(for: job)
    case .noteQueued: write(job) { [id = job.id] in try await $0.queue(id) }
    case .noteAttempt(let number, let restartOf): noteAttempt(number, restartOf: restartOf, of: job)
    case .startProcess(let pause): startProcess(of: job, pause)
    case .noteRunning: writeOfAttempt(job) { try await $0.markRunning($1, attempt: $2) }
    case .noteStopping(let end):
      let reason = end.reason
      write(job) { [id = job.id, fence = job.fence] in try await $0.markStopping(id, reason, attempt: fence) }
    case .noteStalled(let isStalled): writeOfAttempt(job) { try await $0.markStalled($1, attempt: $2, isStalled) }
    case .notePause(let state): notePause(state, of: job)
    case .keepPause(let state):
      write(job) { [id = job.id, fence = job.fence] in try await $0.setPause(state, of: id, attempt: fence) }
    case .sendChange(let kind, let command): sendChange(kind, command, of: job)
    case .sendStop: sendStop(of: job)
    case .signal(let signal): send(signal, to: job)
    case .noteAttemptEnded(let how, let failures, let next): noteAttemptEnded(how, failures, next, of: job)
    case .store(let end): store(job, end)
    case .finish(let state, let end): finish(job, state, end)
    case .complete(let command, let outcome): complete(command, outcome, of: job)
    case .abandon: leave(job)
    }
  }

  // MARK: Writing

  /// Writes to the database after everything that was written before for the job, and again until it succeeds. Then passes an
  /// event on.
  func write(
    _ job: SupervisedJob, then event: JobLifecycle.Event? = nil,
    _ body: @escaping @Sendable (JobStore) async throws -> Void
  ) {
    let (id, serial) = (job.id, job.serial)
    job.enqueue { [self, store] in
      await untilItSucceeds { try await body(store) }
      if let event { await receive(event, of: id, serial) }
    }
  }

  /// Writes for the current attempt. A job whose attempt is no longer the newest is abandoned.
  func writeOfAttempt(
    _ job: SupervisedJob, then event: JobLifecycle.Event? = nil,
    _ body: @escaping @Sendable (JobStore, JobID, String) async throws -> Bool
  ) {
    guard let attempt = job.attempt else { return }
    let (id, attemptID, serial) = (job.id, attempt.id, job.serial)
    job.enqueue { [self, store] in
      guard let isCurrent = await untilItSucceeds({ try await body(store, id, attemptID) }) else { return }
      if !isCurrent { return await receive(.superseded, of: id, serial) }
      if let event { await receive(event, of: id, serial) }
    }
  }

  /// Repeats a write until it succeeds, or the service ends.
  ///
  /// - Returns: nil if the service has ended first.
  @discardableResult
  func untilItSucceeds<Result: Sendable>(_ body: @Sendable () async throws -> Result) async -> Result? {
    while true {
      do {
        return try await body()
      } catch {
        report(error)
        guard !isDetached else { return nil }
        do { try await loop.sleep(for: .milliseconds(500)) } catch { return nil }
      }
    }
  }

  // MARK: Capacity

  private func askForCapacity(for job: SupervisedJob) {
    accounts.freeDisk = disk.free(now: .now)
    let answer: JobLifecycle.Event
    do throws(CapacityShortage) {
      if isCordoned { throw CapacityShortage(.notAccepting) }
      accounts.begin(job.id, reservation: try accounts.reserve())
      answer = .capacity(granted: true, sentence: "")
    } catch {
      answer = .capacity(granted: false, sentence: error.description)
    }
    // After the actions that this one is among.
    job.enqueue { [self, id = job.id, serial = job.serial] in await receive(answer, of: id, serial) }
  }

  // MARK: Attempts

  private func noteAttempt(_ number: Int, restartOf: String?, of job: SupervisedJob) {
    accounts.restart(job.id)
    let attemptID = JobID.randomText(16)
    let folder = AttemptDirectory(data: data, job: job.id.text, attempt: number, attemptID: attemptID)
    job.attempt = CurrentAttempt(number: number, id: attemptID, folder: folder, now: .now)
    job.fence = attemptID
    let (version, claimant) = (version, claimant)
    writeOfAttempt(job, then: .attemptNoted) { store, id, attemptID in
      try await store.beginAttempt(
        number, of: id, id: attemptID, version: version, folder: folder.name, restartOf: restartOf,
        claimant: claimant)
    }
  }

  private func noteAttemptEnded(_ how: String, _ failures: Int, _ next: Duration?, of job: SupervisedJob) {
    logger.info("The process \(how)", metadata: ["job": "\(job.id)", "attempt": "\(job.attempt?.number ?? 0)"])
    let nextAfter = next.map { Int64(clampingRounded: $0.seconds * 1_000) }
    writeOfAttempt(job) { store, id, attemptID in
      try await store.endAttempt(attemptID, of: id, how: how, failures: failures, nextAfter: nextAfter)
    }
    if next != nil, let spool, let attemptID = job.attempt?.id {
      let id = job.id
      job.enqueue { spool.attemptEnded(attemptID, of: id) }
    }
    closeConnection(of: job)
    job.attempt = nil
    releasePort(of: job)
  }

  func releasePort(of job: SupervisedJob) {
    if let port = job.port { ports.release(port) }
    job.port = nil
  }

  // MARK: Ends

  private func store(_ job: SupervisedJob, _ end: JobLifecycle.End) {
    accounts.end(job.id)
    let (id, fence, serial) = (job.id, job.fence, job.serial)
    job.enqueue { [self, store] in
      let isOwn = await untilItSucceeds {
        try await store.beginStoring(id, end.reason, sentence: end.sentence, attempt: fence)
      }
      if isOwn == false { await receiveIfShared(.superseded, of: id, serial) }
      await beginStoring(id, serial)
    }
  }

  private func receiveIfShared(_ event: JobLifecycle.Event, of id: JobID, _ serial: UInt64) {
    if isShared { receive(event, of: id, serial) }
  }

  private func beginStoring(_ id: JobID, _ serial: UInt64) {
    guard let job = jobs[id], job.serial == serial, !isDetached else { return }
    // Storing leaves a folder alone whose lock is held.
    job.fences = []
    job.storing = Task { [self, storing] in
      let event: JobLifecycle.Event
      do {
        try await storing(id)
        event = .stored
      } catch {
        logger.error("The files are not stored: \(error)", metadata: ["job": "\(id)"])
        event = .storingFailed
      }
      receive(event, of: id, serial)
    }
  }

  private func finish(_ job: SupervisedJob, _ state: JobState, _ end: JobLifecycle.End) {
    accounts.end(job.id)
    let (id, fence, serial) = (job.id, job.fence, job.serial)
    write(job) { try await $0.finish(id, state, end.reason, sentence: end.sentence, attempt: fence) }
    job.enqueue { [self] in await forget(id, serial) }
  }

  private func forget(_ id: JobID, _ serial: UInt64) {
    if let job = jobs[id], job.serial == serial { forget(job) }
  }

  func forget(_ job: SupervisedJob) {
    closeConnection(of: job)
    releasePort(of: job)
    accounts.end(job.id)
    jobs[job.id] = nil
  }
}

internal import FoundationEssentials
internal import JobProtocol
internal import Logging
internal import Media
internal import NIOCore
internal import NIOPosix
internal import SQLStore

extension JobSupervisor {
  // MARK: Starting

  /// Starts the process of the current attempt.
  func startProcess(of job: SupervisedJob, _ pause: PauseState) {
    guard let attempt = job.attempt else { return }
    job.port = ports.take()
    let (id, number, folder) = (job.id, attempt.number, attempt.folder)
    let made = Result { try specification(of: job, attempt, pause) }
    let (program, files) = (program, files)
    let credentials = configuration.servers[job.request.server]?.iceCredentialsFile
    Task {
      do {
        var (specification, secrets) = try made.get()
        if number > 1, await hadUsers(id) {
          // Whoever was there may have left while no process lived.
          specification.end.nobodyWithin = specification.end.emptyFor
        }
        let (final, passed) = (specification, secrets)
        let process = try await files.runIfActive {
          var passed = passed
          if let credentials { passed.iceCredentials = try JobSecrets.ICECredentials(file: credentials) }
          try folder.create(final)
          return try AttemptProcess.start(
            program, in: folder, secrets: passed, variables: JobProgram.environment())
        }
        started(process, id, number)
      } catch {
        receive(.processNotStarted(sentence: "\(error)"), of: id)
        leavingNotStarted(id, number)
      }
    }
  }

  private func hadUsers(_ id: JobID) async -> Bool {
    if jobs[id]?.hadUsers == true { return true }
    let had = (try? await store.hadParticipants(id)) ?? false
    if had { jobs[id]?.hadUsers = true }
    return had
  }

  private func started(_ process: AttemptProcess, _ id: JobID, _ number: Int) {
    guard let job = jobs[id], let attempt = job.attempt, attempt.number == number else {
      return leavingStarted(process, id, number)
    }
    attempt.process = process
    receive(.processStarted, of: job)
  }

  private func specification(
    of job: SupervisedJob, _ attempt: CurrentAttempt, _ pause: PauseState
  ) throws -> (JobSpecification, JobSecrets) {
    var specification = try job.request.specification(
      job: job.id.text, attempt: attempt.number, attemptID: attempt.id, paused: pause, configuration: configuration,
      udpPort: job.port)
    if let until = job.life.lastsUntil {
      specification.end.duration = max(Int64(clampingRounded: (until - .now).seconds * 1_000), 1)
    }
    var secrets = JobSecrets()
    if let sealed = job.secrets {
      secrets = try JobSecrets(parsing: try secretBox.open(sealed, context: job.id.text))
    }
    return (specification, secrets)
  }

  // MARK: Reading

  /// Reads the journals and the logs of all processes, and looks which have ended.
  func readProcesses() async {
    var work: [(id: JobID, number: Int, process: AttemptProcess, reading: Reading)] = []
    for job in jobs.values {
      guard let attempt = job.attempt, let process = attempt.process, !attempt.isReading else { continue }
      attempt.isReading = true
      work.append((job.id, attempt.number, process, Reading(tail: attempt.tail, logTail: attempt.logTail)))
    }
    guard !work.isEmpty else { return }
    let todo = work
    let found = try? await files.runIfActive { todo.map { Self.read($0.process, $0.reading) } }
    for (index, (id, number, _, before)) in work.enumerated() {
      finishReading(found?[index] ?? before, id, number)
    }
  }

  private struct Reading: Sendable {
    var tail: JournalTail
    var logTail: JobLogTail
    var entries: [JournalEntry] = []
    var lines: [JobLogLine] = []
    var exit: ChildExit?

    /// - Returns: whether there is more to read at once.
    mutating func more() -> Bool {
      let part = tail.more()
      entries += part.entries
      return part.hasMore
    }
  }

  /// How many parts of a journal are read at once.
  private static let maximumParts = 4

  private static func read(_ process: AttemptProcess, _ before: Reading) -> Reading {
    var reading = before
    reading.lines = reading.logTail.more()
    var hasMore = true
    for _ in 0..<maximumParts where hasMore { hasMore = reading.more() }
    // The rest of a long journal is read later, so that neither memory nor a transaction has all of it.
    if hasMore { return reading }
    reading.exit = process.ended()
    // What it wrote before its end.
    while reading.exit != nil, reading.more() {}
    if reading.exit != nil { reading.lines += reading.logTail.more() }
    return reading
  }

  private func finishReading(_ reading: Reading, _ id: JobID, _ number: Int) {
    guard let job = jobs[id], let attempt = job.attempt, attempt.number == number else { return }
    attempt.isReading = false
    attempt.tail = reading.tail
    attempt.logTail = reading.logTail
    passOn(reading.lines, of: attempt, id)
    if let problem = reading.tail.problem, !attempt.hasReportedProblem {
      attempt.hasReportedProblem = true
      logger.error("\(problem)", metadata: ["job": "\(id)", "attempt": "\(number)"])
    }
    if !reading.entries.isEmpty { take(reading.entries, of: job, attempt) }
    guard let exit = reading.exit else { return }
    receive(attempt.neverBegan ? .processNeverBegan : .processDied(how: exit.description), of: job)
  }

  private func take(_ entries: [JournalEntry], of job: SupervisedJob, _ attempt: CurrentAttempt) {
    writeOfAttempt(job) { try await $0.append(entries, of: $1, attempt: $2) }
    for entry in entries {
      switch entry.event {
      case .started(let started): attempt.process?.identify(started.process)
      case .joined: receive(.joined, of: job)
      case .participantJoined: job.hadUsers = true
      case .ended(let ended):
        let reason = ended.reason == .nobodyCame && job.hadUsers ? JobEndReason.empty : ended.reason
        receive(.ended(JobLifecycle.End(reason, ended.sentence.printable(utf8Bytes: 1_000))), of: job)
      case .fileClosed(let file):
        spool?.fileClosed(
          AttemptFile(
            job: job.id, attempt: Int64(attempt.number), attemptID: attempt.id, folder: attempt.folder.name,
            closed: file))
      // The process writes problems into its log as well.
      case .participantLeft, .paused, .resumed, .stalled, .problem, .other: break
      }
    }
  }

  /// Passes lines of the log of a process on to the log of the service, and counts those of a process that writes too many.
  private func passOn(_ lines: [JobLogLine], of attempt: CurrentAttempt, _ id: JobID) {
    for line in lines {
      guard attempt.logRate.consume(now: .now) else {
        attempt.skippedLogLines += 1
        continue
      }
      var metadata = line.fields.mapValues { Logger.MetadataValue.string($0) }
      metadata["job"] = "\(id)"
      metadata["attempt"] = "\(attempt.number)"
      metadata["source"] = "process"
      if attempt.skippedLogLines > 0 { metadata["lines skipped before"] = "\(attempt.skippedLogLines)" }
      attempt.skippedLogLines = 0
      logger.log(level: line.level, "\(line.message)", metadata: metadata)
    }
  }

  // MARK: The control connection

  /// Connects to the process of a job, if there is no connection.
  func connect(_ job: SupervisedJob, _ now: MonotonicInstant) {
    guard case .alive = job.life.phase, let attempt = job.attempt, attempt.connectionTask == nil,
      now >= attempt.nextConnection
    else { return }
    let (id, number, folder, loop) = (job.id, attempt.number, attempt.folder, loop)
    attempt.connectionTask = Task { [self] in
      if let connection = try? await ControlConnection.open(folder, on: loop) {
        opened(connection, id, number)
        try? await connection.run { await received($0, id, number) }
        connection.close()
      }
      closed(id, number)
    }
  }

  private func opened(_ connection: ControlConnection, _ id: JobID, _ number: Int) {
    guard let attempt = jobs[id]?.attempt, attempt.number == number else { return connection.close() }
    attempt.connection = connection
    connection.send(ControlRequest(id: attempt.nextRequest(), .hello))
    connection.send(ControlRequest(id: attempt.nextRequest(), .subscribe))
  }

  private func closed(_ id: JobID, _ number: Int) {
    guard let job = jobs[id], let attempt = job.attempt, attempt.number == number else { return }
    attempt.connection = nil
    attempt.connectionTask = nil
    attempt.nextConnection = .now + .milliseconds(attempt.status == nil ? 100 : 500)
    failSnapshots(of: attempt)
    receive(.disconnected, of: job)
  }

  func closeConnection(of job: SupervisedJob) {
    guard let attempt = job.attempt else { return }
    attempt.connectionTask?.cancel()
    attempt.connection?.close()
    attempt.connection = nil
    failSnapshots(of: attempt)
  }

  private func failSnapshots(of attempt: CurrentAttempt) {
    for snapshot in attempt.snapshots.values { snapshot.promise.fail(SnapshotProblem.noProcess) }
    attempt.snapshots = [:]
  }

  private func received(_ answer: ControlAnswer, _ id: JobID, _ number: Int) {
    guard let job = jobs[id], let attempt = job.attempt, attempt.number == number else { return }
    switch answer.result {
    case .hello(let hello):
      guard UntrustedText(hello.attemptID) == UntrustedText(attempt.id) else {
        logger.error("Another process answers", metadata: ["job": "\(id)", "attempt": "\(number)"])
        attempt.connection?.close()
        return
      }
      attempt.process?.identify(hello.process)
      receive(.connected, of: job)
    case .status(let status): received(status, of: job, attempt)
    case .paused(let change):
      guard let command = attempt.commands.removeValue(forKey: answer.id) else { return }
      receive(.changeConfirmed(command: command, effectiveAt: change.effectiveAt, paused: change.state), of: job)
    case .snapshot(let part):
      guard attempt.snapshots[answer.id]?.add(part) == true else { return }
      attempt.snapshots[answer.id] = nil
    case .error(let error):
      received(error, to: answer.id, of: job, attempt)
    case .stopping, .other: break
    }
  }

  private func received(_ error: ControlError, to request: Int64, of job: SupervisedJob, _ attempt: CurrentAttempt) {
    let code = ControlError.Code(rawValue: error.code)
    let sentence = error.sentence.printable(utf8Bytes: 1_000)
    if let command = attempt.commands.removeValue(forKey: request) {
      if code == .notNow {
        sendChangeAgain(command, of: job.id)
      } else {
        receive(.changeRejected(command: command, sentence: sentence), of: job)
      }
    }
    attempt.snapshots.removeValue(forKey: request)?.promise.fail(
      code == .tooSoon ? SnapshotProblem.tooOften : SnapshotProblem.noFrame(sentence))
  }

  /// A process that has not begun yet is asked again soon, as long as the change waits for it.
  private func sendChangeAgain(_ command: Int64, of id: JobID) {
    Task { [self, loop] in
      do { try await loop.sleep(for: .milliseconds(100)) } catch { return }
      sendChangeIfItWaits(command, of: id)
    }
  }

  private func sendChangeIfItWaits(_ command: Int64, of id: JobID) {
    guard let job = jobs[id], let change = job.life.change, change.command == command, change.step == .applying,
      !isDetached
    else { return }
    sendChange(change.kind, command, of: job)
  }

  private func received(_ status: JobStatus, of job: SupervisedJob, _ attempt: CurrentAttempt) {
    let now = MonotonicInstant.now
    attempt.status = (status, now)
    if let counted = attempt.counted { mediaCounts.add(status.totals, since: counted) }
    attempt.counted = (attempt.counted ?? status.totals).raised(to: status.totals)
    let time = (status.cpuSeconds - status.verificationCPUSeconds) * 1_000
    accounts.measure(
      JobMeter.Sample(
        processorTime: max(Int64(clampingRounded: time), 0), privateMemory: max(status.privateBytes, 0),
        bytesWritten: max(status.bytesWritten, 0), users: status.userCount),
      of: job.id, at: now)
    receive(.answered, of: job)
    receive(.stalled(status.stalledUsers > 0), of: job)
    noteKeyframes(status, of: job, now)
  }

  /// Tells the attempt before this one of which users there is video, so that it can leave.
  private func noteKeyframes(_ status: JobStatus, of job: SupervisedJob, _ now: MonotonicInstant) {
    guard let until = job.hasPredecessorUntil, now < until else { return }
    let users = status.users.filter { $0.hasRecordedVideo == true }.map(\.user)
    guard users != job.keyframes else { return }
    job.keyframes = users
    writeOfAttempt(job) { try await $0.noteKeyframes(users, of: $1, attempt: $2) }
  }

  // MARK: Requests

  func sendChange(_ kind: JobLifecycle.PauseChange.Kind, _ command: Int64, of job: SupervisedJob) {
    guard let attempt = job.attempt else { return }
    let request = attempt.nextRequest()
    attempt.commands[request] = command
    switch kind {
    case .pause(let users): attempt.connection?.send(ControlRequest(id: request, .pause(users: users)))
    case .resume(let users): attempt.connection?.send(ControlRequest(id: request, .resume(users: users)))
    }
  }

  func sendStop(of job: SupervisedJob) {
    guard let attempt = job.attempt else { return }
    attempt.connection?.send(ControlRequest(id: attempt.nextRequest(), .stop(reason: job.life.stop?.reason)))
  }

  func send(_ signal: EndingSignal, to job: SupervisedJob) {
    guard let process = job.attempt?.process else { return }
    logger.warning(
      "The process does not answer or end, and gets a signal to \(signal)",
      metadata: ["job": "\(job.id)", "attempt": "\(job.attempt?.number ?? 0)"])
    Task { [files] in _ = try? await files.runIfActive { process.send(signal) } }
  }
}

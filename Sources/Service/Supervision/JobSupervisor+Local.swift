internal import JobProtocol
internal import Logging
internal import Media
internal import NIOCore
internal import NIOPosix
package import SQLStore

/// Commands while the database cannot be reached: they are kept in a file, carried out, and noted in the database later.
extension JobSupervisor {
  package func commandWithoutDatabase(
    _ kind: CommandRecord.Kind, of id: JobID, project: String, users: [String]?
  ) async -> LocalOutcome? {
    guard node != nil, isStarted, !isDetached, let job = jobs[id], job.record.project == project else { return nil }
    guard kind == .stop || job.request.kind == .record else { return nil }
    lastLocalCommand -= 1
    let number = lastLocalCommand
    localCommands.append(
      LocalCommand(number: number, job: id.text, attempt: job.fence, kind: kind.rawValue, users: users))
    guard await keepLocalCommands() else {
      localCommands.removeAll { $0.number == number }
      return nil
    }
    logger.notice(
      "The database cannot be reached; the command \(kind.rawValue) is carried out and noted later",
      metadata: ["job": "\(id)"])
    let promise = loop.makePromise(of: Bool.self)
    commandWaiters[number, default: []].append(promise)
    switch kind {
    case .stop: receive(.stop(command: number), of: id)
    case .pause: receive(.changePause(.pause(users), command: number), of: id)
    case .resume: receive(.changePause(.resume(users), command: number), of: id)
    }
    let timer = loop.scheduleTask(in: .seconds(10)) { promise.succeed(false) }
    let isDone = (try? await promise.futureResult.get()) ?? false
    timer.cancel()
    let result = localResults.removeValue(forKey: number)
    guard let record = jobs[id]?.currentRecord else { return nil }
    return LocalOutcome(isDone: isDone, result: result ?? CommandResult(), job: record)
  }

  /// Writes the commands that are not noted yet. A command waits until they are on the disk.
  private func keepLocalCommands() async -> Bool {
    // One after the other, each with what is there then: an older state must not replace a newer one.
    let before = lastLocalWrite
    let write = Task { [self] in
      _ = await before?.value
      return await writeLocalCommands()
    }
    lastLocalWrite = write
    return await write.value
  }

  private func writeLocalCommands() async -> Bool {
    let (file, commands) = (localCommandFile, localCommands)
    return (try? await files.runIfActive { file.write(commands) }) ?? false
  }

  /// Keeps a change of the pause that the database cannot take, and lets the change go on.
  ///
  /// - Parameter state: who is paused then.
  func keepPause(_ state: PauseState, of job: SupervisedJob, _ note: UInt64) {
    guard let command = job.life.change else { return }
    if let index = localCommands.firstIndex(where: { $0.number == command.command }) {
      localCommands[index].paused = state
    } else {
      // A command of the database whose effect it does not know yet.
      lastLocalCommand -= 1
      var kept = LocalCommand(
        number: lastLocalCommand, job: job.id.text, attempt: job.fence, kind: command.isResumption ? "resume" : "pause",
        users: command.kind.users)
      kept.paused = state
      kept.note = note
      localCommands.append(kept)
    }
    let (id, serial) = (job.id, job.serial)
    Task { [self, loop] in
      while await !keepLocalCommands() {
        logger.error("The command cannot be written to the folder of the service", metadata: ["job": "\(id)"])
        do { try await loop.sleep(for: .seconds(1)) } catch { return }
        if isDetached { return }
      }
      pauseIsKept(id, serial, note)
    }
  }

  /// Writes who is paused. A pause that the database cannot take is kept in a file.
  func notePause(_ state: PauseState, of job: SupervisedJob) {
    job.lastPauseNote &+= 1
    let (id, serial, fence, note) = (job.id, job.serial, job.fence, job.lastPauseNote)
    job.pendingPause = SupervisedJob.PendingPause(note: note, state: state)
    job.enqueue { [self, store] in
      let isOwn = await untilItSucceeds { try await store.setPause(state, of: id, attempt: fence) }
      await pauseIsNoted(id, serial, note, isOwn: isOwn)
    }
    if node != nil, presence.isCutOff { keepPendingPause(of: job) }
  }

  private func pauseIsNoted(_ id: JobID, _ serial: UInt64, _ note: UInt64, isOwn: Bool?) async {
    guard let isOwn else { return }
    if localCommands.contains(where: { $0.job == id.text && $0.note == note }) {
      localCommands.removeAll { $0.job == id.text && $0.note == note }
      _ = await keepLocalCommands()
    }
    if !isOwn, isShared {
      do { try await checkOwner(of: id, serial) } catch { report(error) }
    }
    pauseIsKept(id, serial, note)
  }

  private func pauseIsKept(_ id: JobID, _ serial: UInt64, _ note: UInt64) {
    guard let job = jobs[id], job.serial == serial, job.pendingPause?.note == note else { return }
    job.pendingPause = nil
    receive(.pauseNoted, of: job)
  }

  /// A pause that was being written when the database went away is kept here.
  func keepPendingPause(of job: SupervisedJob) {
    guard let pending = job.pendingPause, !pending.isKept else { return }
    job.pendingPause?.isKept = true
    keepPause(pending.state, of: job, pending.note)
  }

  /// Notes a local command in the database, after all that was written for its job before.
  func noteLocal(_ number: Int64, _ outcome: JobLifecycle.CommandOutcome, of job: SupervisedJob) {
    let result: CommandResult =
      switch outcome {
      case .done: CommandResult()
      case .effective(let time): CommandResult(effectiveAt: time ?? databaseTime)
      case .failed(let sentence): CommandResult(error: sentence)
      }
    localResults[number] = result
    for promise in commandWaiters.removeValue(forKey: number) ?? [] { promise.succeed(true) }
    let pause = job.life.pause
    job.enqueue { [self] in await writeLocal(number, result, pause: pause) }
  }

  private func writeLocal(_ number: Int64, _ result: CommandResult, pause: PauseState) async {
    guard var command = localCommands.first(where: { $0.number == number }) else { return }
    if command.paused != nil { command.paused = pause }
    let text = (try? result.stored) ?? "{}"
    let noted = command
    let isNoted: Void? = await untilItSucceeds { [store] in try await Self.note(noted, text, in: store) }
    guard isNoted != nil else { return }
    localCommands.removeAll { $0.number == number }
    localResults[number] = nil
    _ = await keepLocalCommands()
  }

  private static func note(_ command: LocalCommand, _ result: String?, in store: JobStore) async throws {
    guard let job = JobID(command.job), let kind = CommandRecord.Kind(rawValue: command.kind) else { return }
    _ = try await store.noteLocal(
      kind, of: job, attempt: command.attempt, argument: try CommandArgument(users: command.users).stored,
      paused: command.paused, result: result)
  }

  /// Notes what a service before this one carried out without the database, before anything is taken over.
  func noteKeptCommands() async throws {
    guard node != nil else { return }
    let file = localCommandFile
    let kept = (try? await files.runIfActive { file.read() }) ?? []
    guard !kept.isEmpty else { return }
    logger.notice("\(kept.count) commands are noted that were carried out without the database")
    for command in kept where command.note == nil {
      // Whether a stop reached the process, or who was to be paused was decided, is not known of the others.
      let result = command.paused == nil ? nil : try CommandResult().stored
      try await Self.note(command, result, in: store)
    }
    for command in kept where command.note != nil {
      guard let job = JobID(command.job), let paused = command.paused else { continue }
      try await store.setPause(paused, of: job, attempt: command.attempt)
    }
    _ = try? await files.runIfActive { file.write([]) }
  }

  /// The clock of the database as far as it is known, in milliseconds since 1970.
  var databaseTime: Int64 {
    Int64(clampingRounded: (clock.secondsSince1970 + (MonotonicInstant.now - clock.moment).seconds) * 1_000)
  }
}

/// What became of a command that was carried out without the database.
package struct LocalOutcome: Sendable {
  /// Whether it is done.
  package var isDone: Bool
  package var result: CommandResult
  /// The job as far as this node knows it.
  package var job: JobRecord
}

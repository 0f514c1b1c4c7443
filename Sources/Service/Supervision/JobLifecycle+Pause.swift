internal import JobProtocol
internal import Media

/// Pausing and resuming: a pause is written before it is acknowledged; a resumption is written first and applied then, and where
/// either fails, the job stays paused.
extension JobLifecycle {
  mutating func changePause(_ kind: PauseChange.Kind, _ command: Int64, _ now: MonotonicInstant) -> [Action] {
    switch phase {
    case .storing, .storingAgain, .over: return [.complete(command: command, .failed("The job has ended."))]
    default: break
    }
    guard change?.command != command, !waitingChanges.contains(where: { $0.command == command }) else { return [] }
    waitingChanges.append(PauseChange(kind, command: command))
    return beginChange(now)
  }

  private mutating func beginChange(_ now: MonotonicInstant) -> [Action] {
    guard change == nil, !waitingChanges.isEmpty else { return [] }
    var next = waitingChanges.removeFirst()
    let state = pause.applying(next.kind)
    guard state.isWithinLimits, PauseState.areWithinLimits(next.kind.users ?? []) else {
      return [.complete(command: next.command, .failed("The job has too many paused users."))] + beginChange(now)
    }
    if next.command == PauseChange.ofService, state == pause {
      // It is written already.
      next.before = pause
      change = next
      return applyChange(now)
    }
    next.step = .noting
    next.before = pause
    change = next
    return [.notePause(state)]
  }

  mutating func pauseNoted(_ now: MonotonicInstant) -> [Action] {
    guard let change else { return [] }
    switch change.step {
    case .noting:
      pause = pause.applying(change.kind)
      return applyChange(now)
    case .reverting(let sentence):
      pause = reverted(change)
      // The pause that was sent at once may be lost: one that the process confirms follows, or the process ends.
      if case .resume(let users) = change.kind, case .alive(let process) = phase, process.kill == nil {
        let isNamed = pause.applying(.pause(users)).isWithinLimits
        waitingChanges.insert(PauseChange(.pause(isNamed ? users : nil), command: PauseChange.ofService), at: 0)
      }
      return completeChange(.failed(sentence), now)
    case .waiting, .applying: return []
    }
  }

  /// The change is written: the process is asked to carry it out.
  private mutating func applyChange(_ now: MonotonicInstant) -> [Action] {
    guard let change else { return [] }
    guard hasProcess else { return completeChange(.effective(at: nil), now) }
    self.change?.step = .applying
    self.change?.deadline = now + limits.confirmWithin
    guard case .alive(let process) = phase, process.isConnected else { return [] }
    return [.sendChange(change.kind, command: change.command)]
  }

  /// A process that does not confirm a pause is ended, since the next one begins with the pause.
  mutating func checkChange(_ now: MonotonicInstant) -> [Action] {
    guard let change, change.step == .applying, let deadline = change.deadline, now >= deadline else { return [] }
    self.change?.deadline = nil
    if change.isResumption { return changeFailed("The process of the job did not confirm that it resumed.", now) }
    guard case .alive(let process) = phase, process.kill == nil else { return [] }
    update { $0.kill = LiveProcess.Kill(signal: .abort, at: now) }
    return [.signal(.abort)]
  }

  /// The process has not done it, or may not have done it.
  mutating func changeFailed(_ sentence: String, _ now: MonotonicInstant) -> [Action] {
    guard let change else { return [] }
    // It is written already, and the process has answered.
    if change.command == PauseChange.ofService { return completeChange(.failed(sentence), now) }
    self.change?.step = .reverting(sentence)
    self.change?.deadline = nil
    var actions: [Action] = [.notePause(reverted(change))]
    // It may have resumed before its answer was lost. Where it cannot be asked to pause, it ends, and the next one begins paused.
    if case .resume(let users) = change.kind, case .alive(let process) = phase, process.kill == nil {
      if process.isConnected {
        actions.append(.sendChange(.pause(users), command: change.command))
      } else {
        update { $0.kill = LiveProcess.Kill(signal: .abort, at: now) }
        actions.append(.signal(.abort))
      }
    }
    return actions
  }

  /// Takes over who is paused in the process, so that users whom it knows by other ids or names stay paused in the next one.
  mutating func keepPause(_ paused: PauseState?) -> [Action] {
    guard let paused, paused != pause, paused.isWithinLimits else { return [] }
    pause = paused
    return [.keepPause(paused)]
  }

  /// The pause after a change that failed: as before; a resumption that was carried out before, but not completed, pauses.
  private func reverted(_ change: PauseChange) -> PauseState {
    guard case .resume(let users) = change.kind, change.before == change.before.applying(change.kind) else {
      return change.before
    }
    let state = change.before.applying(.pause(users))
    return state.isWithinLimits ? state : PauseState(all: true)
  }

  /// The process has died: the next one begins with the pause that is written.
  mutating func changeAfterDeath(_ now: MonotonicInstant) -> [Action] {
    guard let change, change.step == .applying else { return [] }
    return change.isResumption
      ? changeFailed("The process of the job ended before it resumed.", now) : completeChange(.effective(at: nil), now)
  }

  mutating func completeChange(_ outcome: CommandOutcome, _ now: MonotonicInstant) -> [Action] {
    guard let change else { return [] }
    self.change = nil
    return (change.command == PauseChange.ofService ? [] : [.complete(command: change.command, outcome)])
      + beginChange(now)
  }

  /// The job ends: nothing is paused or resumed any more.
  mutating func abandonChanges(_ reason: End) -> [Action] {
    let commands = [change].compactMap { $0?.command } + waitingChanges.map(\.command)
    change = nil
    waitingChanges = []
    return commands.filter { $0 != PauseChange.ofService }.map {
      .complete(command: $0, .failed("The job has ended: \(reason.sentence)"))
    }
  }
}

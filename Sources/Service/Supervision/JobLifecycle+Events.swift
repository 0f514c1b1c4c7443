internal import JobProtocol
package import Media

extension JobLifecycle {
  /// Takes an event.
  ///
  /// - Returns: what to do, in this order.
  package mutating func receive(_ event: Event, at now: MonotonicInstant) -> [Action] {
    guard !isSuperseded else { return [] }
    switch event {
    case .time: return timePassed(now)
    case .capacity(let granted, let sentence): return answered(capacity: granted, sentence, now)
    case .attemptNoted: return attemptNoted(now)
    case .processStarted: return processStarted(now)
    case .processNotStarted(let sentence): return processNotStarted(sentence, now)
    case .connected: return connected(now)
    case .disconnected:
      update { $0.isConnected = false }
      return []
    case .answered: return answered(now)
    case .joined:
      update { $0.isJoined = true }
      return []
    case .ended(let reason):
      update { $0.ended = reason }
      return []
    case .processDied(let how): return processDied(how, now)
    case .processNeverBegan: return processNeverBegan(now)
    case .stalled(let isStalled): return stalled(isStalled)
    case .stop(let command): return stopCommand(command, now)
    case .changePause(let kind, let command): return changePause(kind, command, now)
    case .pauseNoted: return pauseNoted(now)
    case .changeConfirmed(let command, let effectiveAt, let paused):
      guard change?.command == command, change?.step == .applying else { return [] }
      return keepPause(paused) + completeChange(.effective(at: effectiveAt), now)
    case .changeRejected(let command, let sentence):
      guard change?.command == command, change?.step == .applying else { return [] }
      return changeFailed(sentence, now)
    case .stored: return stored()
    case .storingFailed: return storingFailed(now)
    case .drain:
      isDraining = true
      return []
    case .drainIsOver:
      return stop(End(.drained, "The service was stopped."), now)
    case .serviceWasLate(let time):
      update { $0.lastAnswer += time }
      // Its confirmation may have come, and not have been read.
      if let deadline = change?.deadline { change?.deadline = deadline + time }
      return []
    case .clockChanged(let time):
      // The others are times from now, whatever the clock says.
      if case .scheduled(let start) = phase { phase = .scheduled(start - time) }
      return []
    case .superseded:
      isSuperseded = true
      return [.abandon]
    }
  }

  mutating func update(_ body: (inout LiveProcess) -> Void) {
    guard case .alive(var process) = phase else { return }
    body(&process)
    phase = .alive(process)
  }

  private mutating func timePassed(_ now: MonotonicInstant) -> [Action] {
    switch phase {
    case .scheduled(let start) where !isDraining && now >= start:
      phase = .asking(until: now + queueFor)
      return [.askForCapacity]
    case .queued(let until, let askAt) where !isDraining && now >= min(until, askAt):
      phase = .asking(until: until)
      return [.askForCapacity]
    case .waiting(let until) where now >= until: return beginAttempt(now)
    case .storingAgain(let again) where now >= again:
      phase = .storing
      return end.map { [.store($0)] } ?? []
    case .alive(let process): return checkProcess(process, now) + checkChange(now)
    default: return []
    }
  }

  private mutating func answered(capacity granted: Bool, _ sentence: String, _ now: MonotonicInstant) -> [Action] {
    guard case .asking(let until) = phase else { return [] }
    if granted, !isDraining { return beginAttempt(now) }
    if isDraining || now < until {
      phase = .queued(until: until, askAt: now + limits.askForCapacityEach)
      return [.noteQueued]
    }
    return finish(End(.noCapacity, sentence))
  }

  // MARK: Ends

  /// Ends the job for this reason: its files are stored first if there was an attempt.
  mutating func conclude(_ reason: End) -> [Action] {
    guard attempt > 0 else { return finish(reason) }
    end = reason
    phase = .storing
    return abandonChanges(reason) + [.store(reason)]
  }

  private mutating func finish(_ reason: End) -> [Action] {
    end = reason
    phase = .over
    return abandonChanges(reason) + [.finish(reason.reason.state(hadProcess: attempt > 0), reason)]
  }

  private mutating func stored() -> [Action] {
    guard phase == .storing, let end else { return [] }
    return finish(end)
  }

  private mutating func storingFailed(_ now: MonotonicInstant) -> [Action] {
    guard phase == .storing else { return [] }
    let wait =
      limits.storingWaits.isEmpty
      ? .seconds(60)
      : limits.storingWaits[min(storingFailures, limits.storingWaits.count - 1)]
    storingFailures += 1
    phase = .storingAgain(at: now + wait)
    return []
  }

  // MARK: Stopping

  private mutating func stopCommand(_ command: Int64, _ now: MonotonicInstant) -> [Action] {
    stop(End(.stopped, "The job was stopped."), now) + [.complete(command: command, .done)]
  }

  /// Begins the end of the job. Only the first reason counts.
  private mutating func stop(_ reason: End, _ now: MonotonicInstant) -> [Action] {
    switch phase {
    case .scheduled, .queued, .asking:
      // The end of the service leaves jobs alone that have not begun.
      guard reason.reason != .drained else { return [] }
      stop = stop ?? reason
      return conclude(reason)
    case .waiting:
      stop = stop ?? reason
      return conclude(stop ?? reason)
    case .notingAttempt, .launching:
      guard stop == nil else { return [] }
      stop = reason
      return [.noteStopping(reason)]
    case .alive(let process):
      guard stop == nil else { return [] }
      stop = reason
      update { $0.stopRequestedAt = now }
      return [.noteStopping(reason)] + (process.isConnected ? [.sendStop] : [])
    case .storing, .storingAgain, .over: return []
    }
  }

  private mutating func stalled(_ isStalled: Bool) -> [Action] {
    guard case .alive = phase, self.isStalled != isStalled else { return [] }
    self.isStalled = isStalled
    return [.noteStalled(isStalled)]
  }
}

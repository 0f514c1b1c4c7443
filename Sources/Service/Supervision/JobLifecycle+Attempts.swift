internal import JobProtocol
internal import Media

extension JobLifecycle {
  /// Begins the next attempt, unless the job has ended meanwhile.
  mutating func beginAttempt(_ now: MonotonicInstant) -> [Action] {
    if let stop { return conclude(stop) }
    if let lastsUntil, now >= lastsUntil { return conclude(End(.duration, "The job has lasted as long as it may.")) }
    attempt += 1
    phase = .notingAttempt
    return [.noteAttempt(number: attempt, restartOf: attempt > 1 ? lastEnd : nil)]
  }

  mutating func attemptNoted(_ now: MonotonicInstant) -> [Action] {
    guard phase == .notingAttempt else { return [] }
    if let stop { return [.noteAttemptEnded(how: "was not started", failures: failures, next: nil)] + conclude(stop) }
    phase = .launching(since: now)
    return [.startProcess(pause)]
  }

  mutating func processStarted(_ now: MonotonicInstant) -> [Action] {
    guard case .launching = phase else { return [] }
    if lastsUntil == nil, let duration { lastsUntil = now + duration }
    var process = LiveProcess(since: now, now: now)
    if stop != nil { process.stopRequestedAt = now }
    phase = .alive(process)
    return []
  }

  mutating func processNotStarted(_ sentence: String, _ now: MonotonicInstant) -> [Action] {
    guard case .launching(let since) = phase else { return [] }
    return attemptEnded("was not started: \(sentence)", since: since, now)
  }

  // MARK: A process that lives

  mutating func connected(_ now: MonotonicInstant) -> [Action] {
    guard case .alive(let process) = phase, !process.isConnected else { return [] }
    update { process in
      process.isConnected = true
      process.lastAnswer = max(process.lastAnswer, now)
    }
    var actions: [Action] = []
    if let change, change.step == .applying { actions.append(.sendChange(change.kind, command: change.command)) }
    if process.stopRequestedAt != nil { actions.append(.sendStop) }
    return actions
  }

  mutating func answered(_ now: MonotonicInstant) -> [Action] {
    guard case .alive(var process) = phase else { return [] }
    process.lastAnswer = max(process.lastAnswer, now)
    defer { phase = .alive(process) }
    guard process.isJoined, !process.isRunning else { return [] }
    process.isRunning = true
    return stop == nil ? [.noteRunning] : []
  }

  /// Ends a process that does not answer, or does not stop.
  mutating func checkProcess(_ process: LiveProcess, _ now: MonotonicInstant) -> [Action] {
    if let kill = process.kill {
      guard now >= kill.at + limits.killAfter else { return [] }
      return send(.kill, now)
    }
    if now >= process.lastAnswer + limits.answerWithin { return send(.abort, now) }
    guard let stopped = process.stopRequestedAt else { return [] }
    if now >= stopped + limits.stopWithin { return send(.abort, now) }
    guard !process.isConnected, !process.isTerminated, now >= stopped + limits.terminateAfter else { return [] }
    update { $0.isTerminated = true }
    return [.signal(.terminate)]
  }

  private mutating func send(_ signal: EndingSignal, _ now: MonotonicInstant) -> [Action] {
    update { $0.kill = LiveProcess.Kill(signal: signal, at: now) }
    return [.signal(signal)]
  }

  // MARK: Its end

  mutating func processDied(_ how: String, _ now: MonotonicInstant) -> [Action] {
    switch phase {
    case .launching(let since): attemptEnded(how, since: since, now)
    case .alive(let process): attemptEnded(how, process, now)
    default: []
    }
  }

  /// The job is not to blame: the attempt does not count as one that ended too early.
  mutating func processNeverBegan(_ now: MonotonicInstant) -> [Action] {
    guard case .alive(let process) = phase else { return [] }
    return attemptEnded("was not started before its service ended", since: process.since, isFailure: false, now)
  }

  private mutating func attemptEnded(_ how: String, _ process: LiveProcess, _ now: MonotonicInstant) -> [Action] {
    guard let ended = process.ended else { return attemptEnded(how, since: process.since, now) }
    // A process knows that it was stopped, but not always why.
    let end = if let stop, ended.reason == .stopped || ended.reason == .drained { stop } else { ended }
    return clearStall() + [.noteAttemptEnded(how: how, failures: 0, next: nil)] + conclude(end)
  }

  /// An attempt that ended without a reason in its journal: another one follows, unless there were too many.
  private mutating func attemptEnded(
    _ how: String, since: MonotonicInstant, isFailure: Bool = true, _ now: MonotonicInstant
  ) -> [Action] {
    lastEnd = how
    if isFailure { failures = now - since < limits.livesAtLeast ? failures + 1 : 0 }
    let unstalled = clearStall()
    if let stop {
      return unstalled + [.noteAttemptEnded(how: how, failures: failures, next: nil)] + conclude(stop)
    }
    guard failures <= limits.waits.count else {
      let times = failures == 1 ? "once" : "\(failures) times in a row"
      return unstalled + [.noteAttemptEnded(how: how, failures: failures, next: nil)]
        + conclude(End(.crashing, "The process of the job ended too early \(times); the last one \(how)."))
    }
    let wait = limits.waits.isEmpty ? .zero : limits.waits[max(failures - 1, 0)]
    phase = .waiting(until: now + wait)
    return unstalled + [.noteAttemptEnded(how: how, failures: failures, next: wait)] + changeAfterDeath(now)
  }

  private mutating func clearStall() -> [Action] {
    guard isStalled else { return [] }
    isStalled = false
    return [.noteStalled(false)]
  }
}

package import JobProtocol
package import Media
package import SQLStore

extension JobLifecycle {
  /// What the database knows of a job when a service begins with it. Times are converted to the clock of the service.
  package struct Record: Sendable, Hashable {
    package var state: JobState
    package var startAt: MonotonicInstant?
    package var queueUntil: MonotonicInstant?
    package var queueFor: Duration = .zero
    package var duration: Duration?
    /// When the first attempt began.
    package var startedAt: MonotonicInstant?
    package var attempt = 0
    /// When the current attempt began; nil if it has ended, or before the first one.
    package var attemptStartedAt: MonotonicInstant?
    package var failures = 0
    package var nextAttemptAt: MonotonicInstant?
    package var lastEnd: String?
    package var pause = PauseState.none
    package var isStalled = false
    /// Why it was asked to stop.
    package var stop: End?
    /// How it ends once its files are stored; of a job in the state `storing`.
    package var end: End?
    /// Whether its current attempt was noted just now, by the claim of the job, and has no process yet.
    package internal(set) var isClaimed = false

    package init(_ state: JobState) { self.state = state }

    /// The job was claimed just now: no process of its attempts runs on this node.
    package mutating func claim() {
      isClaimed = attempt > 0 && stop == nil && (state == .starting || state == .running)
      attemptStartedAt = nil
    }
  }

  /// Takes over a job.
  ///
  /// - Returns: the job and what to do first.
  package static func begin(
    _ record: Record, limits: Limits = Limits(), at now: MonotonicInstant
  ) -> (job: JobLifecycle, actions: [Action]) {
    var job = JobLifecycle(record, limits: limits)
    let actions: [Action]
    switch record.state {
    case .scheduled:
      job.phase = .scheduled(record.startAt ?? now)
      actions = []
    case .queued:
      job.phase = .queued(until: record.queueUntil ?? now, askAt: now)
      actions = []
    case .starting, .running, .stopping:
      actions = job.beginRunning(record, now)
    case .storing:
      actions = job.conclude(record.end ?? record.stop ?? End(.stopped, "The job was stopped."))
    case .finished, .failed, .cancelled:
      job.end = record.end
      job.phase = .over
      actions = []
    }
    return (job, actions)
  }

  private init(_ record: Record, limits: Limits) {
    self.limits = limits
    phase = .over
    attempt = record.attempt
    failures = record.failures
    pause = record.pause
    stop = record.stop
    isStalled = record.isStalled
    lastEnd = record.lastEnd
    duration = record.duration
    queueFor = record.queueFor
    if let duration, let startedAt = record.startedAt { lastsUntil = startedAt + duration }
  }

  private mutating func beginRunning(_ record: Record, _ now: MonotonicInstant) -> [Action] {
    if record.isClaimed {
      phase = .launching(since: now)
      return [.startProcess(pause)]
    }
    if let since = record.attemptStartedAt {
      // Whether its process lives is found out as for any other one.
      var process = LiveProcess(since: min(since, now), now: now)
      if stop != nil { process.stopRequestedAt = now }
      phase = .alive(process)
      return []
    }
    if attempt > 0 {
      phase = .waiting(until: min(record.nextAttemptAt ?? now, now + (limits.waits.last ?? .zero)))
      return stop.map { conclude($0) } ?? []
    }
    // It was admitted just now, or the service before this one ended before it could begin.
    return beginAttempt(now)
  }
}

package import JobProtocol
package import Media
package import SQLStore

/// What one job does next: events and the current time in, actions and a deadline out. Pure.
///
/// The caller carries out the actions in their order, reports what followed as events, and calls
/// ``receive(_:at:)`` with ``Event/time`` at ``deadline``. Writes to the database are repeated by the caller until they succeed.
package struct JobLifecycle: Sendable, Hashable {
  /// The limits of a job, in time.
  package struct Limits: Sendable, Hashable {
    /// A process that does not answer for this time gets SIGABRT.
    package var answerWithin: Duration = .seconds(15)
    /// The time from SIGABRT to SIGKILL, and from one SIGKILL to the next.
    package var killAfter: Duration = .seconds(5)
    /// A process that was asked to stop gets SIGTERM after this time if it cannot be asked by its control connection.
    package var terminateAfter: Duration = .seconds(2)
    /// A process that was asked to stop, and answers, gets SIGABRT after this time: it may finish large files for ten minutes.
    package var stopWithin: Duration = .seconds(660)
    /// An attempt that lived shorter counts as a failure in a row.
    package var livesAtLeast: Duration = .seconds(60)
    /// The waits between attempts that failed; one more failure ends the job.
    package var waits: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8)]
    /// A resumption that the process does not confirm in this time has failed.
    package var confirmWithin: Duration = .seconds(10)
    package var askForCapacityEach: Duration = .seconds(1)
    /// The waits before storing is tried again; the last one is repeated.
    package var storingWaits: [Duration] = [.seconds(2), .seconds(5), .seconds(15), .seconds(60)]

    package init() {}
  }

  /// Where the job is. It is finer than the state that callers see: see ``state``.
  package enum Phase: Sendable, Hashable {
    case scheduled(MonotonicInstant)
    /// It waits for capacity, at most until this time.
    case queued(until: MonotonicInstant, askAt: MonotonicInstant)
    /// Waits for the answer whether there is capacity; `until` is the end of waiting.
    case asking(until: MonotonicInstant)
    /// The attempt is being written to the database.
    case notingAttempt
    case launching(since: MonotonicInstant)
    case alive(LiveProcess)
    /// Between attempts.
    case waiting(until: MonotonicInstant)
    case storing
    /// Storing failed and is tried again.
    case storingAgain(at: MonotonicInstant)
    case over
  }

  /// A process that lives, as far as is known.
  package struct LiveProcess: Sendable, Hashable {
    package var since: MonotonicInstant
    package var lastAnswer: MonotonicInstant
    package var isConnected = false
    /// Whether its room was joined.
    package var isJoined = false
    /// Whether it has answered since it joined.
    package var isRunning = false
    package var stopRequestedAt: MonotonicInstant?
    package var isTerminated = false
    /// The last signal that ends it, and when it was sent.
    package var kill: Kill?
    /// The reason that its journal gives for its end.
    package var ended: End?

    package struct Kill: Sendable, Hashable {
      package var signal: EndingSignal
      package var at: MonotonicInstant
    }

    package init(since: MonotonicInstant, now: MonotonicInstant) {
      self.since = since
      lastAnswer = now
    }
  }

  /// How a job ends, or has ended.
  package struct End: Sendable, Hashable {
    package var reason: JobEndReason
    package var sentence: String

    package init(_ reason: JobEndReason, _ sentence: String) {
      self.reason = reason
      self.sentence = sentence
    }
  }

  package var limits: Limits
  package internal(set) var phase: Phase
  /// The number of the current attempt, from 1; 0 before the first.
  package internal(set) var attempt: Int
  /// How many attempts in a row lived too short.
  package internal(set) var failures: Int
  /// Who is paused, as written to the database.
  package internal(set) var pause: PauseState
  /// Why the job is being stopped by a command or by the end of the service.
  package internal(set) var stop: End?
  /// How the job ends once its files are stored.
  package internal(set) var end: End?
  package internal(set) var isStalled: Bool
  /// How the attempt before this one ended, a clause.
  package internal(set) var lastEnd: String?
  package internal(set) var isDraining = false
  package internal(set) var isSuperseded = false
  /// When the job has lasted as long as it may; nil without a limit, or before the first process.
  package internal(set) var lastsUntil: MonotonicInstant?
  package var duration: Duration?
  /// How long the job waits for capacity once it is due.
  package var queueFor: Duration
  package internal(set) var storingFailures = 0
  /// The change of the pause that is being carried out, and those that wait for it.
  package internal(set) var change: PauseChange?
  package internal(set) var waitingChanges: [PauseChange] = []

  /// The state that callers see.
  package var state: JobState {
    switch phase {
    case .scheduled: .scheduled
    case .queued, .asking: .queued
    case .notingAttempt, .launching, .waiting: stop == nil ? .starting : .stopping
    case .alive(let process): stop != nil ? .stopping : process.isRunning ? .running : .starting
    case .storing, .storingAgain: .storing
    case .over: end.map { $0.reason.state(hadProcess: attempt > 0) } ?? .failed
    }
  }

  /// Whether a process may live.
  package var hasProcess: Bool {
    switch phase {
    case .launching, .alive: true
    default: false
    }
  }

  /// When ``receive(_:at:)`` must be called with ``Event/time``.
  package var deadline: MonotonicInstant? {
    switch phase {
    case .scheduled(let start): isDraining ? nil : start
    case .queued(let until, let askAt): isDraining ? nil : min(until, askAt)
    case .waiting(let until): until
    case .storingAgain(let again): again
    case .alive(let process): [deadline(of: process), change?.deadline].compactMap(\.self).min()
    case .asking, .notingAttempt, .launching, .storing, .over: nil
    }
  }

  private func deadline(of process: LiveProcess) -> MonotonicInstant {
    if let kill = process.kill { return kill.at + limits.killAfter }
    var next = process.lastAnswer + limits.answerWithin
    if let stopped = process.stopRequestedAt {
      next = min(next, stopped + limits.stopWithin)
      if !process.isConnected, !process.isTerminated { next = min(next, stopped + limits.terminateAfter) }
    }
    return next
  }
}

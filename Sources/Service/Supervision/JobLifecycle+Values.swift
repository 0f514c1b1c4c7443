package import JobProtocol
package import Media
package import SQLStore

extension JobLifecycle {
  /// What happened.
  package enum Event: Sendable, Hashable {
    /// The deadline has come.
    case time
    /// The answer to ``Action/askForCapacity``; the text is a sentence that names the short resource.
    case capacity(granted: Bool, sentence: String)
    /// ``Action/noteAttempt(number:restartOf:)`` is committed.
    case attemptNoted
    case processStarted
    case processNotStarted(sentence: String)
    /// The control connection is open, and the process has said which attempt it is.
    case connected
    case disconnected
    /// The process answered.
    case answered
    /// A line of its journal: it has joined its room.
    case joined
    /// A line of its journal: it ends.
    case ended(End)
    /// Its lock is free, and its journal was read to the end. The text is a clause such as `was ended by signal 9 (SIGKILL)`.
    case processDied(how: String)
    /// No process of the attempt has written a line, and none can any more: an earlier service ended before it was started.
    case processNeverBegan
    /// Whether a user's media stands still without a reason.
    case stalled(Bool)
    case stop(command: Int64)
    case changePause(PauseChange.Kind, command: Int64)
    /// ``Action/notePause(_:)`` is committed.
    case pauseNoted
    /// The process has confirmed the change; the time is in milliseconds since 1970, and `paused` says who is paused in the process: also
    /// under the names of the users that were named by id, and under the ids of those that were named by name.
    case changeConfirmed(command: Int64, effectiveAt: Int64, paused: PauseState? = nil)
    case changeRejected(command: Int64, sentence: String)
    case stored
    case storingFailed
    /// The service ends: nothing begins that has not begun.
    case drain
    /// The service has waited long enough: what runs must end.
    case drainIsOver
    /// The service itself did not run for this time, so that it could not read answers.
    case serviceWasLate(Duration)
    /// The clock of the database was set forward by this time.
    case clockChanged(by: Duration)
    /// Another service has taken the job.
    case superseded
  }

  /// What the caller must do.
  package enum Action: Sendable, Hashable {
    case askForCapacity
    /// Write that the job is queued.
    case noteQueued
    /// Write that an attempt begins; `restartOf` says how the one before it ended. Answered by ``Event/attemptNoted``.
    case noteAttempt(number: Int, restartOf: String?)
    /// Start a process that begins with this pause.
    case startProcess(PauseState)
    case noteRunning
    case noteStopping(End)
    case noteStalled(Bool)
    /// Answered by ``Event/pauseNoted``.
    case notePause(PauseState)
    /// Write who is paused in the process. No event follows.
    case keepPause(PauseState)
    /// Send to the process: pause or resume.
    case sendChange(PauseChange.Kind, command: Int64)
    case sendStop
    case signal(EndingSignal)
    /// Write how the attempt ended, and when the next one begins; nil if there is none.
    case noteAttemptEnded(how: String, failures: Int, next: Duration?)
    /// Write that the files are being stored, and for which reason the job ends. Then store them.
    case store(End)
    /// Write the end of the job.
    case finish(JobState, End)
    case complete(command: Int64, CommandOutcome)
    /// Forget the job without writing anything.
    case abandon
  }

  /// The result of a command.
  package enum CommandOutcome: Sendable, Hashable {
    case done
    /// In effect at this time, in milliseconds since 1970; nil if no process runs: then at once.
    case effective(at: Int64?)
    case failed(String)
  }

  /// A change of who is paused, while it is carried out.
  package struct PauseChange: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
      /// The users, or nil for all.
      case pause([String]?)
      case resume([String]?)

      var users: [String]? {
        switch self {
        case .pause(let users), .resume(let users): users
        }
      }
    }

    package enum Step: Sendable, Hashable {
      case waiting
      /// The new pause is being written.
      case noting
      /// It was, or will be, sent to the process.
      case applying
      /// A resumption failed, and the pause of before is being written. The text is why.
      case reverting(String)
    }

    /// The command of a change that nobody asked for: a pause that is repeated.
    package static let ofService: Int64 = -1

    package var kind: Kind
    package var command: Int64
    package var step = Step.waiting
    /// The pause before the change.
    package var before = PauseState()
    package var deadline: MonotonicInstant?

    package init(_ kind: Kind, command: Int64) {
      self.kind = kind
      self.command = command
    }

    var isResumption: Bool {
      if case .resume = kind { true } else { false }
    }
  }
}

extension JobEndReason {
  /// The state of a job that ended for this reason.
  ///
  /// - Parameter hadProcess: whether an attempt was made.
  func state(hadProcess: Bool) -> JobState {
    if isFailure { return .failed }
    return hadProcess ? .finished : .cancelled
  }
}

extension PauseState {
  func applying(_ kind: JobLifecycle.PauseChange.Kind) -> PauseState {
    var state = self
    switch kind {
    case .pause(let users): state.pause(users)
    case .resume(let users): state.resume(users)
    }
    return state
  }
}

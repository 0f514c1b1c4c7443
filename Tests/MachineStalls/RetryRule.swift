/// Says what follows from the attempts at a scenario that runs in real time.
///
/// A failure on a quiet machine is a failure. One on a machine that stalled says nothing yet: the scenario is run again, at
/// most twice. An expectation that failed in every one of three attempts is a failure, however busy the machine was: load
/// changes from one attempt to the next, a fault of the program does not. Only what needs processor time that a busy machine
/// cannot give, such as a browser's frame rate, is said to need a quiet machine, and is never judged on another: where nothing
/// else failed, a busy machine is enough for another attempt, even if it did not stall.
public enum RetryRule {
  /// One run of a scenario.
  public struct Attempt: Sendable, Hashable {
    /// Which expectations failed, each by a text that is the same in every attempt.
    public var failures: Set<String>
    /// Those of them that need a quiet machine.
    public var needingQuiet: Set<String>
    /// How the machine ran meanwhile; nil where it could not be measured, which excuses nothing.
    public var stalls: StallFigures?

    public init(failures: Set<String>, needingQuiet: Set<String> = [], stalls: StallFigures?) {
      self.failures = failures
      self.needingQuiet = needingQuiet
      self.stalls = stalls
    }
  }

  public enum Decision: Sendable, Hashable {
    case passed
    case runAgain
    case failed(FailureReason)
    /// The machine never gave it a quiet run, and no expectation failed each time.
    case notJudged
  }

  public enum FailureReason: Sendable, Hashable {
    case onQuietMachine
    /// These failed in every attempt.
    case inEveryAttempt(Set<String>)
  }

  public static let maximumAttempts = 3

  public static func decide(after attempts: [Attempt]) -> Decision {
    guard let last = attempts.last else { return .runAgain }
    if last.failures.isEmpty { return .passed }
    guard let stalls = last.stalls,
      last.failures.isSubset(of: last.needingQuiet) ? stalls.isBusy : stalls.isStalled
    else { return .failed(.onQuietMachine) }
    if attempts.count < maximumAttempts { return .runAgain }
    let constant = attempts.reduce(last.failures) { $0.intersection($1.failures.subtracting($1.needingQuiet)) }
    return constant.isEmpty ? .notJudged : .failed(.inEveryAttempt(constant))
  }
}

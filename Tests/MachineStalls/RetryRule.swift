/// Decides what follows from the attempts at a scenario that runs in real time.
///
/// A failure of a scenario that ran alone on a quiet machine is a failure. A failure on a machine that stalled is
/// inconclusive: the scenario is run again alone, at most twice. An expectation that failed in all three attempts is a
/// failure, however busy the machine was: load changes from one attempt to the next, a bug of the program does not.
///
/// Only expectations that need CPU time which a busy machine cannot provide, such as a browser's frame rate, are marked as
/// needing a quiet machine and are never judged on another: if nothing else failed, a busy machine is enough for another
/// attempt, even if it did not stall. So is another scenario that ran at the same time, but then the scenario must pass
/// twice alone.
public enum RetryRule {
  /// One run of a scenario.
  public struct Attempt: Sendable, Hashable {
    /// The expectations that failed, each as a text that is the same in every attempt.
    public var failures: Set<String>
    /// Those that need a quiet machine.
    public var needingQuiet: Set<String>
    /// Whether other scenarios ran at the same time.
    public var ranBesideOthers: Bool
    /// The measurements of the machine; nil if it could not be measured, which excuses nothing.
    public var stalls: StallFigures?

    public init(
      failures: Set<String>, needingQuiet: Set<String> = [], ranBesideOthers: Bool = false, stalls: StallFigures?
    ) {
      self.failures = failures
      self.needingQuiet = needingQuiet
      self.ranBesideOthers = ranBesideOthers
      self.stalls = stalls
    }

    /// Whether the machine was too busy to judge the failures.
    private var isMachineTooBusy: Bool {
      guard let stalls else { return false }
      return failures.isSubset(of: needingQuiet) ? stalls.isBusy : stalls.isStalled
    }

    /// Whether only expectations that need a quiet machine failed, on one that was measured and not too busy, but beside
    /// other scenarios.
    public var isExcusedByOthers: Bool {
      !failures.isEmpty && failures.isSubset(of: needingQuiet) && ranBesideOthers && stalls != nil && !isMachineTooBusy
    }

    var isInconclusive: Bool { isMachineTooBusy || isExcusedByOthers }
  }

  public enum Decision: Sendable, Hashable {
    case passed
    case runAgain
    case failed(FailureReason)
    /// The scenario never ran alone on a quiet machine, and no expectation failed in every attempt.
    case notJudged
  }

  public enum FailureReason: Sendable, Hashable {
    case onQuietMachine
    /// The expectations that failed in every attempt.
    case inEveryAttempt(Set<String>)
  }

  public static let maximumAttempts = 3

  public static func decide(after attempts: [Attempt]) -> Decision {
    guard let last = attempts.last else { return .runAgain }
    if last.failures.isEmpty {
      let passes = attempts.count { $0.failures.isEmpty }
      let needed = attempts.contains(where: \.isExcusedByOthers) ? 2 : 1
      return passes >= needed || attempts.count >= maximumAttempts ? .passed : .runAgain
    }
    guard last.isInconclusive else { return .failed(.onQuietMachine) }
    if attempts.count < maximumAttempts { return .runAgain }
    let constant = attempts.reduce(last.failures) { $0.intersection($1.failures.subtracting($1.needingQuiet)) }
    return constant.isEmpty ? .notJudged : .failed(.inEveryAttempt(constant))
  }
}

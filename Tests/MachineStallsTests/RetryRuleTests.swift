import MachineStalls
import Testing

extension StallFigures {
  static let quiet = StallFigures(
    elapsed: 10, latenessP99: 0.001, longestLateness: 0.004, runQueueWait: 0.1, steal: 0)

  static let stalled = StallFigures(
    elapsed: 10, latenessP99: 0.001, longestLateness: 0.4, runQueueWait: 0.1, steal: 0)

  /// As with one busy program on each processor.
  static let busy = StallFigures(
    elapsed: 10, latenessP99: 0.001, longestLateness: 0.004, runQueueWait: 0.5, steal: 0)
}

@Suite("The rule for repeated attempts") struct RetryRuleTests {
  private static func decision(_ attempts: (Set<String>, StallFigures?)...) -> RetryRule.Decision {
    RetryRule.decide(after: attempts.map { RetryRule.Attempt(failures: $0.0, stalls: $0.1) })
  }

  @Test("a failure on a quiet machine is a failure at once")
  func quiet() {
    #expect(Self.decision((["a"], .quiet)) == .failed(.onQuietMachine))
    #expect(Self.decision((["a"], .stalled), (["b"], .quiet)) == .failed(.onQuietMachine))
  }

  @Test("an expectation that needs a quiet machine and fails beside other scenarios must pass twice alone")
  func besideOthers() {
    func attempt(_ failures: Set<String>, besideOthers: Bool = false, _ stalls: StallFigures? = .quiet)
      -> RetryRule.Attempt
    {
      RetryRule.Attempt(failures: failures, needingQuiet: ["rate"], ranBesideOthers: besideOthers, stalls: stalls)
    }
    let (beside, pass) = (attempt(["rate"], besideOthers: true), attempt([]))
    #expect(RetryRule.decide(after: [beside]) == .runAgain)
    #expect(RetryRule.decide(after: [beside, pass]) == .runAgain)
    #expect(RetryRule.decide(after: [beside, pass, pass]) == .passed)
    #expect(RetryRule.decide(after: [beside, attempt(["rate"])]) == .failed(.onQuietMachine))
    #expect(RetryRule.decide(after: [beside, pass, attempt(["rate"])]) == .failed(.onQuietMachine))
    #expect(RetryRule.decide(after: [beside, attempt(["rate"], .stalled), pass]) == .passed)
    #expect(RetryRule.decide(after: [attempt(["rate"], besideOthers: true, nil)]) == .failed(.onQuietMachine))
  }

  @Test("all other expectations are judged beside other scenarios, and what the machine excuses needs one pass")
  func judgedBesideOthers() {
    let count = RetryRule.Attempt(failures: ["count"], ranBesideOthers: true, stalls: .quiet)
    #expect(RetryRule.decide(after: [count]) == .failed(.onQuietMachine))
    let both = RetryRule.Attempt(
      failures: ["count", "rate"], needingQuiet: ["rate"], ranBesideOthers: true, stalls: .busy)
    #expect(RetryRule.decide(after: [both]) == .failed(.onQuietMachine))
    let rate = RetryRule.Attempt(failures: ["rate"], needingQuiet: ["rate"], ranBesideOthers: true, stalls: .busy)
    #expect(!rate.isExcusedByOthers)
    #expect(RetryRule.decide(after: [rate, .init(failures: [], stalls: .quiet)]) == .passed)
  }

  @Test("a failure on a machine that was not measured is not excused")
  func unmeasured() {
    #expect(Self.decision((["a"], nil)) == .failed(.onQuietMachine))
  }

  @Test("a failure on a machine that stalled is tried again, at most twice")
  func again() {
    #expect(Self.decision((["a"], .stalled)) == .runAgain)
    #expect(Self.decision((["a"], .stalled), (["b"], .stalled)) == .runAgain)
    #expect(Self.decision((["a"], .stalled), (["b"], .stalled), (["c"], .stalled)) == .notJudged)
  }

  @Test("an expectation that fails three times is a failure, however busy the machine was")
  func constant() {
    let attempts: [(Set<String>, StallFigures?)] = [
      (["a", "x"], .stalled), (["b", "x"], .stalled), (["x"], .stalled),
    ]
    #expect(Self.decision(attempts[0], attempts[1], attempts[2]) == .failed(.inEveryAttempt(["x"])))
  }

  @Test("an expectation that needs a quiet machine is not judged on another, and fails on a quiet one")
  func needingQuiet() {
    let busy = RetryRule.Attempt(failures: ["rate"], needingQuiet: ["rate"], stalls: .stalled)
    let quiet = RetryRule.Attempt(failures: ["rate"], needingQuiet: ["rate"], stalls: .quiet)
    #expect(RetryRule.decide(after: [busy, busy, busy]) == .notJudged)
    #expect(RetryRule.decide(after: [busy, quiet]) == .failed(.onQuietMachine))
    let both = RetryRule.Attempt(failures: ["rate", "count"], needingQuiet: ["rate"], stalls: .stalled)
    #expect(RetryRule.decide(after: [both, both, both]) == .failed(.inEveryAttempt(["count"])))
  }

  @Test("an expectation that needs a quiet machine is not judged on a busy one either, and all others are")
  func busy() {
    let rate = RetryRule.Attempt(failures: ["rate"], needingQuiet: ["rate"], stalls: .busy)
    #expect(RetryRule.decide(after: [rate]) == .runAgain)
    #expect(RetryRule.decide(after: [rate, rate, rate]) == .notJudged)
    let both = RetryRule.Attempt(failures: ["rate", "count"], needingQuiet: ["rate"], stalls: .busy)
    #expect(RetryRule.decide(after: [both]) == .failed(.onQuietMachine))
    #expect(Self.decision((["count"], .busy)) == .failed(.onQuietMachine))
    #expect(!StallFigures.busy.isStalled && StallFigures.stalled.isBusy && !StallFigures.quiet.isBusy)
  }

  @Test("an attempt that passes is final, on a quiet machine or not")
  func passes() {
    #expect(Self.decision(([], .stalled)) == .passed)
    #expect(Self.decision((["a"], .stalled), ([], .stalled)) == .passed)
  }

  @Test("each measurement alone can exceed its bound")
  func bounds() {
    #expect(StallFigures.quiet.excesses.isEmpty)
    for change in [\StallFigures.latenessP99, \.longestLateness, \.steal] {
      var figures = StallFigures.quiet
      figures[keyPath: change] = 0.9
      #expect(figures.excesses.count == 1)
    }
    var waiting = StallFigures.quiet
    waiting.runQueueWait = 0.9
    #expect(waiting.excesses.count == 1)
    waiting.runQueueWait = nil
    #expect(!waiting.isStalled)
  }
}

@Suite("The summary of a run") struct RunSummaryTests {
  private static func records(passed: Int, notJudged: Int, failed: Int = 0) -> [ScenarioRecord] {
    func records(_ outcome: ScenarioRecord.Outcome, _ count: Int) -> [ScenarioRecord] {
      (0..<count).map { number in
        let attempt = ScenarioRecord.Attempt(
          duration: 1, failures: outcome == .passed ? [] : ["\(number)"], stalls: .stalled)
        return ScenarioRecord(name: "\(outcome) \(number)", outcome: outcome, attempts: [attempt])
      }
    }
    return records(.passed, passed) + records(.notJudged, notJudged) + records(.failed, failed)
  }

  @Test("a run with at most a tenth of the scenarios not judged passes, and more is a failure")
  func share() {
    #expect(!RunSummary(of: Self.records(passed: 9, notJudged: 1), isStrict: false).isFailure)
    #expect(RunSummary(of: Self.records(passed: 8, notJudged: 1), isStrict: false).isFailure)
    #expect(!RunSummary(of: [], isStrict: true).isFailure)
  }

  @Test("if every scenario must be judged, one that was not is a failure")
  func strict() {
    #expect(RunSummary(of: Self.records(passed: 99, notJudged: 1), isStrict: true).isFailure)
    #expect(!RunSummary(of: Self.records(passed: 99, notJudged: 0), isStrict: true).isFailure)
  }

  @Test("a run in which more than a fiftieth of the scenarios passed alone only is a failure")
  func passedAlone() {
    func records(alone: Int, of count: Int) -> [ScenarioRecord] {
      (0..<count).map { number in
        let beside = ScenarioRecord.Attempt(
          duration: 1, failures: ["late"], isExcusedByOthers: true, stalls: .quiet)
        let passed = ScenarioRecord.Attempt(duration: 1, failures: [], stalls: .quiet)
        return ScenarioRecord(
          name: "\(number)", outcome: .passed, attempts: number < alone ? [beside, passed, passed] : [passed])
      }
    }
    #expect(!RunSummary(of: records(alone: 2, of: 100), isStrict: false).isFailure)
    #expect(RunSummary(of: records(alone: 3, of: 100), isStrict: false).isFailure)
    #expect(RunSummary(of: records(alone: 1, of: 100), isStrict: true).isFailure)
    let text = RunSummary(of: records(alone: 3, of: 100), isStrict: false).lines.joined(separator: "\n")
    #expect(text.contains("attempt 1, beside others: "))
    #expect(text.contains("More than a fiftieth of the scenarios failed beside others and passed alone."))
  }

  @Test("scenarios that were not judged are listed with their measurements")
  func list() {
    let text = RunSummary(of: Self.records(passed: 20, notJudged: 1), isStrict: false).lines.joined(separator: "\n")
    #expect(text.contains("not judged on this machine: notJudged 0"))
    #expect(text.contains("longest 400.0 ms"))
  }

  @Test("a journal can be read back, and a truncated line is skipped")
  func journal() throws {
    let records = Self.records(passed: 2, notJudged: 1)
    let text = try records.map { try $0.line }.joined(separator: "\n") + "\n{\"name\":\"cut"
    #expect(ScenarioRecord.records(in: text) == records)
  }
}

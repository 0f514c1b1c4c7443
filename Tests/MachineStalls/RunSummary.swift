/// The result of a whole run of real-time scenarios.
public struct RunSummary: Sendable {
  /// The share of scenarios that may end without a judgement.
  public static let toleratedShare = 0.1
  /// The share of scenarios that may fail beside others and pass alone.
  public static let toleratedShareAlone = 0.02

  private let records: [ScenarioRecord]
  private let isStrict: Bool

  /// - Parameter isStrict: Whether every scenario must be judged.
  public init(of records: [ScenarioRecord], isStrict: Bool) {
    self.records = records
    self.isStrict = isStrict
  }

  private var notJudged: [ScenarioRecord] { records.filter { $0.outcome == .notJudged } }

  /// The scenarios that failed beside others on a quiet machine, and passed alone.
  private var passedAlone: [ScenarioRecord] {
    records.filter { $0.outcome == .passed && $0.attempts.contains(where: \.isExcusedByOthers) }
  }

  /// Whether too many scenarios were not judged, or passed alone only.
  public var isFailure: Bool {
    isTooMany(notJudged, Self.toleratedShare) || isTooMany(passedAlone, Self.toleratedShareAlone)
  }

  private func isTooMany(_ some: [ScenarioRecord], _ share: Double) -> Bool {
    some.count > 0 && (isStrict || Double(some.count) > share * Double(records.count))
  }

  /// The summary for people, one text line each.
  public var lines: [String] {
    var lines = [
      "\(records.count) real-time scenarios: \(records.count { $0.outcome == .passed }) passed, "
        + "\(records.count { $0.outcome == .failed }) failed, \(notJudged.count) not judged on this machine"
    ]
    let repeated = records.filter { $0.attempts.count > 1 && $0.outcome == .passed }
    for record in repeated {
      lines.append("  passed at attempt \(record.attempts.count): \(record.name)")
      lines += details(of: record)
    }
    for record in notJudged {
      lines.append("  not judged on this machine: \(record.name)")
      lines += details(of: record)
    }
    if isTooMany(notJudged, Self.toleratedShare) {
      lines.append(
        isStrict
          ? "STRICT=1 requires that every scenario is judged."
          : "More than a tenth of the scenarios were not judged: run again on a less busy machine.")
    }
    if isTooMany(passedAlone, Self.toleratedShareAlone) {
      lines.append(
        isStrict
          ? "STRICT=1 requires that no scenario passes alone only."
          : "More than a fiftieth of the scenarios failed beside others and passed alone.")
    }
    return lines
  }

  private func details(of record: ScenarioRecord) -> [String] {
    record.attempts.enumerated().filter { !$0.element.failures.isEmpty }.flatMap { number, attempt in
      [
        "    attempt \(number + 1)\(attempt.isExcusedByOthers ? ", beside others" : ""): "
          + (attempt.stalls?.description ?? "the machine was not measured")
      ]
        + attempt.failures.prefix(5).map { "      " + $0.split(separator: "\n").joined(separator: " ").prefix(300) }
    }
  }
}

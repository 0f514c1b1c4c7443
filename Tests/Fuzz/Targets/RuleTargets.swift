import CallCheck

/// The rules of a check: single rules, rules files, and an earlier report.
enum RuleTargets {
  /// Parses the input as a rule and as a rules file.
  static func rules(_ input: [UInt8]) throws(InvariantViolation) {
    guard let text = String(validating: input, as: UTF8.self) else { return }
    if let rule = try? Rule(text) { try readAgain(rule) }
    switch Result(catching: { () throws(RulesFile.ParseError) in try RulesFile.rules(of: text) }) {
    case .success(let rules):
      for rule in rules.given { try readAgain(rule) }
      try require(!rules.isEmpty, "A file without a rule is accepted.")
    case .failure(let error):
      _ = error.description
    }
  }

  private static func readAgain(_ rule: Rule) throws(InvariantViolation) {
    let again = try? Rule(rule.text)
    try require(
      again?.text == rule.text && again?.limit == rule.limit && again?.comparison == rule.comparison
        && again?.measurement.name == rule.measurement.name, "The rule \(rule.text) does not round-trip.")
  }

  /// Parses a report and, after a zero byte, the report to compare it with.
  static func baseline(_ input: [UInt8]) throws(InvariantViolation) {
    let parts = input.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let report = try read(Array(first)) else { return }
    var other = report
    other.duration *= 3
    other.peers.reverse()
    if parts.count == 2, let second = try read(Array(parts[1])) { other = second }
    for comparison in [report.compared(with: other), other.compared(with: report)] {
      try require(!comparison.summary.isEmpty, "A comparison has an empty summary.")
    }
  }

  private static func read(_ json: [UInt8]) throws(InvariantViolation) -> CheckReport? {
    switch Result(catching: { () throws(CheckReport.ReadingError) in try CheckReport(parsing: json) }) {
    case .failure(let error):
      _ = error.description
      return nil
    case .success(let report):
      guard let text = try? report.json, let again = try? CheckReport(parsing: Array(text.utf8)) else {
        throw InvariantViolation("A report that was read cannot be written or parsed again.")
      }
      try require(again == report, "A report does not round-trip.")
      return report
    }
  }
}

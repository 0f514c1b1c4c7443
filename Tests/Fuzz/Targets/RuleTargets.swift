import CallCheck

/// What a check is given to judge by: rules, files of rules, and an earlier report.
enum RuleTargets {
  /// The input is treated as a rule and for a file of rules.
  static func rules(_ input: [UInt8]) throws(BrokenPromise) {
    guard let text = String(validating: input, as: UTF8.self) else { return }
    if let rule = try? Rule(text) { try readAgain(rule) }
    switch Result(catching: { () throws(RulesFile.ParseError) in try RulesFile.rules(of: text) }) {
    case .success(let rules):
      for rule in rules.given { try readAgain(rule) }
      try promise(!rules.isEmpty, "A file without a rule is taken.")
    case .failure(let error):
      _ = error.description
    }
  }

  private static func readAgain(_ rule: Rule) throws(BrokenPromise) {
    let again = try? Rule(rule.text)
    try promise(
      again?.text == rule.text && again?.limit == rule.limit && again?.comparison == rule.comparison
        && again?.measurement.name == rule.measurement.name, "The rule \(rule.text) comes back otherwise.")
  }

  /// A report, and behind a zero byte the one that it is compared with.
  static func baseline(_ input: [UInt8]) throws(BrokenPromise) {
    let parts = input.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let report = try read(Array(first)) else { return }
    var other = report
    other.duration *= 3
    other.peers.reverse()
    if parts.count == 2, let second = try read(Array(parts[1])) { other = second }
    for comparison in [report.compared(with: other), other.compared(with: report)] {
      try promise(!comparison.summary.isEmpty, "A comparison says nothing.")
    }
  }

  private static func read(_ json: [UInt8]) throws(BrokenPromise) -> CheckReport? {
    switch Result(catching: { () throws(CheckReport.ReadingError) in try CheckReport(parsing: json) }) {
    case .failure(let error):
      _ = error.description
      return nil
    case .success(let report):
      guard let text = try? report.json, let again = try? CheckReport(parsing: Array(text.utf8)) else {
        throw BrokenPromise("A report that was read cannot be written, or not be read again.")
      }
      try promise(again == report, "A report comes back otherwise.")
      return report
    }
  }
}

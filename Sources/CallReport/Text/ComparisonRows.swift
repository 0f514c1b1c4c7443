import CallCheck

extension CheckReport {
  /// A line about a change since the baseline.
  struct ComparisonRow {
    /// `new`, `worse`, `better`, `fixed`; nil for a sentence about the comparison.
    var sign: String?
    var sentence: String
  }

  /// The maximum number of measurements that are listed as worse, or as better.
  private static let maximumChanges = 12

  /// What changed since the baseline, and the remarks on the comparison.
  func rows(of comparison: CheckComparison) -> [ComparisonRow] {
    var rows: [ComparisonRow] = []
    func add(_ sign: String, _ peer: String?, _ sentence: String) {
      rows.append(ComparisonRow(sign: sign, sentence: "\(name(ofPeer: peer)): \(sentence)"))
    }
    for failure in comparison.newFailures { add("new", failure.peer, "\(failure.rule) held before and fails now.") }
    for (sign, changes) in [("worse", comparison.worse), ("better", comparison.better)] {
      for change in changes.prefix(Self.maximumChanges) { add(sign, change.peer, change.sentence) }
      if changes.count > Self.maximumChanges {
        rows.append(ComparisonRow(sentence: "and \(changes.count - Self.maximumChanges) more that got \(sign)"))
      }
    }
    for failure in comparison.resolvedFailures { add("fixed", failure.peer, "\(failure.rule) holds again.") }
    return rows + comparison.remarks.map { ComparisonRow(sentence: $0) }
  }
}

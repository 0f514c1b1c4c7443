/// Holds rules against what was measured.
struct RuleJudgement {
  let room: CheckReport.RoomReport
  let peers: [PeerReport]
  /// Why nothing was measured of anybody, as a sentence; nil when something was.
  let diagnosis: String?

  /// What a rule comes to: of the room once, of each peer once.
  func results(of rule: Rule) -> [RuleResult] {
    switch rule.measurement.source {
    case .room(let value):
      return [result(of: rule, peer: nil, value(room))]
    case .peer:
      if peers.isEmpty {
        let reason = diagnosis?.asClause ?? "nobody was there"
        return [result(of: rule, peer: nil, .missing(reason))]
      }
      return peers.map { result(of: rule, peer: $0.id, rule.measurement.figure(of: $0, in: room)) }
    }
  }

  private func result(of rule: Rule, peer: String?, _ figure: Figure) -> RuleResult {
    let measurement = rule.measurement
    var result = RuleResult(
      rule: rule.text, measurement: measurement.name, peer: peer, outcome: .notMeasured, value: nil,
      limit: tidy(rule.limit), unit: measurement.unit.symbol, figure: nil, sentence: "")
    switch figure {
    case .value(let value, let detail):
      let text = measurement.unit.text(value)
      result.value = tidy(value)
      result.figure = text
      result.outcome = rule.comparison.holds(value, rule.limit) ? .held : .failed
      result.sentence =
        "\(measurement.title): \(text)\(detail); \(rule.comparison.words) \(measurement.unit.text(rule.limit)) is wanted."
      if result.outcome == .failed, let advice = Advice.of(measurement.name) { result.sentence += " \(advice)" }
    case .missing(let reason):
      result.sentence = "\(measurement.title) could not be measured: \(reason)."
    }
    return result
  }

  /// All results as one verdict, with its sentence.
  static func verdict(
    of results: [RuleResult], rules: Int, peers: Int, diagnosis: String?
  ) -> (CheckReport.Verdict, String) {
    let bad = results.filter { !$0.holds }
    if let diagnosis { return (.failed, diagnosis) }
    if bad.isEmpty {
      let whom = peers == 1 ? "1 peer" : "\(peers) peers"
      return (.held, rules == 1 ? "The rule held for \(whom)." : "All \(rules) rules held for \(whom).")
    }
    let failedRules = Set(bad.map(\.rule)).count
    let concerned = Set(bad.compactMap(\.peer)).count
    let unmeasured = bad.count { $0.outcome == .notMeasured }
    var sentence = "\(failedRules) of \(rules) rules failed"
    if concerned > 0 { sentence += " for \(concerned) of \(peers) \(peers == 1 ? "peer" : "peers")" }
    if unmeasured > 0 {
      sentence +=
        unmeasured == bad.count ? ", because nothing could be measured for them" : ", \(unmeasured) of them unmeasured"
    }
    return (.failed, sentence + ".")
  }
}

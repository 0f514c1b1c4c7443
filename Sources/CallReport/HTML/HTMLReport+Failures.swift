import CallCheck

extension HTMLReport {
  /// The maximum number of failed rules at the top of the page; the others are in the tables below.
  private static let maximumFailures = 12

  /// Writes what failed, by how much, when, and what else happened at that time.
  func failures(of sections: [ReportSection], into page: inout Markup) {
    let failed = sections.flatMap { section in section.results.filter { $0.outcome == .failed }.map { (section, $0) } }
    let without = { (outcome: RuleResult.Outcome) in
      sections.map { ($0, $0.results.filter { $0.outcome == outcome }) }.filter { !$0.1.isEmpty }
    }
    let (unmeasured, inconclusive) = (without(.notMeasured), without(.inconclusive))
    if failed.isEmpty && unmeasured.isEmpty && inconclusive.isEmpty { return }
    let title =
      !failed.isEmpty ? "What failed" : unmeasured.isEmpty ? "What could not be judged" : "What could not be measured"
    page.element("section", ["class": "failures", "aria-labelledby": "failures"]) { page in
      page.element("h2", ["id": "failures"], text: title)
      for (section, result) in failed.prefix(Self.maximumFailures) { failure(result, of: section, into: &page) }
      if failed.count > Self.maximumFailures {
        page.element(
          "p", ["class": "soft"], text: "And \(failed.count - Self.maximumFailures) more: see the tables below.")
      }
      for (outcome, sections) in [(RuleResult.Outcome.notMeasured, unmeasured), (.inconclusive, inconclusive)] {
        for (section, results) in sections.prefix(Self.maximumFailures) {
          self.unmeasured(results, as: outcome, of: section, into: &page)
        }
      }
    }
    page.newLine()
  }

  private func failure(_ result: RuleResult, of section: ReportSection, into page: inout Markup) {
    let finding = section.peer?.stream(result.stream ?? 1).map {
      Finding(of: result, peer: $0, impairment: report.impairment)
    }
    page.newLine()
    page.element("article", ["class": "failure"]) { page in
      page.element("div", ["class": "headline"]) { page in
        Self.badge(.failed, into: &page)
        page.element("code", ["class": "rule"], text: ReportText.line(result.rule))
        page.element("strong", ["class": "figure"], text: ReportText.line(result.figure ?? "\u{2013}", limit: 60))
        limitGauge(result, into: &page)
        page.element("a", ["class": "who", "href": "#" + Self.anchor(section)], text: section.name(of: result))
      }
      page.element("p", text: ReportText.line(result.sentence, limit: 1000))
      if let finding, let worst = finding.worst { failureTimeline(finding, worst, into: &page) }
    }
  }

  /// Writes when the rule failed: a strip of the whole call with marked intervals, and what else happened during the
  /// longest of them.
  private func failureTimeline(_ finding: Finding, _ worst: Interval, into page: inout Markup) {
    let axis = axis
    page.element("div", ["class": "moment"]) { page in
      let end = min(worst.start + worst.duration, axis.duration)
      let when = "\(NumberFormatting.time(worst.start)) \u{2013} \(NumberFormatting.time(end))"
      let more = finding.positions.count > 1 ? ", the longest of \(finding.positions.count)" : ""
      page.element(
        "svg",
        [
          "class": "strip", "width": "100%", "height": "26", "role": "img",
          "aria-label": "When in the call: \(when)\(more)",
        ]
      ) { page in
        page.empty("rect", ["class": "ground", "y": "2", "width": "100%", "height": "8", "rx": "4"])
        for position in finding.positions {
          let width = TimeAxis.percent(
            max(0, axis.fraction(position.start + position.duration) - axis.fraction(position.start)))
          page.empty(
            "rect",
            ["class": "mark", "x": axis.percent(position.start), "y": "1", "width": width, "height": "10", "rx": "1"])
        }
        ticks(baseline: "24", into: &page)
      }
      page.element("p", ["class": "meanwhile"]) { page in
        page.element("span", ["class": "when"], text: when + more)
        if !finding.concurrentEvents.isEmpty {
          page.write(". At the same time: \(finding.concurrentEvents.joined(separator: "; ")).")
        }
      }
    }
  }

  /// Writes how far the value is from the limit, as a bar and in words. Values and limits of 0 or less, such as audio
  /// levels, have no length and are not drawn.
  private func limitGauge(_ result: RuleResult, into page: inout Markup) {
    guard let value = result.value?.number, let limit = result.limit.number, value.isFinite, limit.isFinite, value > 0,
      limit > 0
    else { return }
    let ratio = value / limit
    let words =
      switch ratio {
      case ..<1: "\(Self.percent(1 - ratio)) below the limit"
      case ..<2: "\(Self.percent(ratio - 1)) above the limit"
      default: "\(NumberFormatting.digits(ratio)) times the limit"
      }
    let most = max(value, limit) * 1.04
    let (found, bound) = (value / most, limit / most)
    let (start, end) = (min(found, bound), max(found, bound))
    page.element("div", ["class": "gauge"]) { page in
      page.element("svg", ["width": "100%", "height": "12", "aria-hidden": "true"]) { page in
        page.empty("rect", ["class": "ground", "y": "3", "width": "100%", "height": "6", "rx": "3"])
        page.empty(
          "rect", ["class": "fine", "y": "3", "width": TimeAxis.percent(min(found, bound)), "height": "6", "rx": "3"])
        page.empty(
          "rect",
          [
            "class": ratio < 1 ? "lacking" : "beyond", "x": TimeAxis.percent(start), "y": "3",
            "width": TimeAxis.percent(end - start), "height": "6",
          ])
        let position = TimeAxis.percent(bound)
        page.empty("line", ["class": "limit", "x1": position, "x2": position, "y1": "0", "y2": "12"])
      }
      if ratio != 1 { page.element("span", text: words) }
    }
  }

  /// Returns a share in percent, with enough decimals that it is not shown as 0.
  private static func percent(_ share: Double) -> String {
    let positions = share >= 0.01 ? 0 : share >= 0.001 ? 1 : 3
    return "\(NumberFormatting.short(share * 100, positions)) %"
  }

  private func unmeasured(
    _ results: [RuleResult], as outcome: RuleResult.Outcome, of section: ReportSection, into page: inout Markup
  ) {
    let what =
      outcome == .inconclusive
      ? "could not be judged, because this machine could not keep up" : "could not be measured and therefore failed"
    page.newLine()
    page.element("article", ["class": "failure unmeasured"]) { page in
      page.element("div", ["class": "headline"]) { page in
        Self.badge(outcome, into: &page)
        page.element("span", text: "\(NumberFormatting.plural(results.count, "rule", "rules")) \(what)")
        page.element("a", ["class": "who", "href": "#" + Self.anchor(section)], text: section.name)
      }
      page.element("ul") { page in
        for result in results.prefix(20) {
          page.element("li") { page in
            page.element("code", text: ReportText.line(result.rule))
            // The diagnosis above has already explained why there was no call.
            if report.diagnosis == nil { page.write(" " + ReportText.line(result.sentence, limit: 600)) }
          }
        }
      }
    }
  }

  /// Writes the axis labels at their positions.
  func ticks(baseline: String, into page: inout Markup) {
    let ticks = axis.ticks
    for (index, tick) in ticks.enumerated() {
      let fraction = axis.fraction(tick)
      let anchor = index == 0 ? "start" : fraction > 0.96 ? "end" : "middle"
      page.element(
        "text", ["x": TimeAxis.percent(fraction), "y": baseline, "text-anchor": anchor],
        text: index == 0 ? "0 s" : NumberFormatting.time(tick))
    }
  }
}

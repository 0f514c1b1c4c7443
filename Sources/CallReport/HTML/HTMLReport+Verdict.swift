import CallCheck

extension HTMLReport {
  /// Writes the top of the page.
  func verdict(into page: inout Markup) {
    page.element("header", ["class": "verdict \(report.verdict.rawValue)"]) { page in
      page.element("p", ["class": "kicker"]) { page in
        page.write("Call check \u{B7} ")
        page.element("bdi", text: position)
      }
      page.newLine()
      page.element("h1") { page in
        Self.badge(report.verdict.outcome, into: &page)
        page.write(verdictWord)
      }
      page.newLine()
      let nothing = report.subject == .call ? "The call was never established." : "There was nothing to judge."
      page.element(
        "p", ["class": "summary"],
        text: report.summary == report.diagnosis ? nothing : ReportText.line(report.summary, limit: 600))
      if let diagnosis = report.diagnosis {
        page.element("p", ["class": "diagnosis"]) { page in
          if report.summary != diagnosis { page.element("strong", text: nothing + " ") }
          page.write(ReportText.line(diagnosis, limit: 1000))
        }
      }
      for sentence in report.limitations { page.element("p", ["class": "soft"], text: sentence) }
      page.newLine()
      facts(into: &page)
    }
    page.newLine()
  }

  private func facts(into page: inout Markup) {
    let room = report.roomReport
    var facts: [(String, String)] = []
    if let start = report.start { facts.append(("Started", Self.wallClock(start))) }
    facts.append(("Duration", NumberFormatting.seconds(report.duration)))
    if report.subject == .call {
      facts.append(("All media arrived at", report.mediaFrom.map(NumberFormatting.time) ?? "never"))
      facts.append(("Peers", "\(room.peersAtOnce) at the same time, \(report.expected.peers) expected"))
    }
    if let fault = report.fault { facts.append(("Injected fault", fault.text)) }
    let held = report.results.count { $0.holds }
    facts.append(("Rules held", "\(held) of \(report.results.count)"))
    Self.facts(facts, into: &page)
  }

  /// Writes names and values side by side.
  static func facts(_ facts: [(name: String, value: String)], into page: inout Markup) {
    page.element("dl", ["class": "facts"]) { page in
      for fact in facts {
        page.element("div") { page in
          page.element("dt", text: fact.name)
          page.element("dd", text: ReportText.line(fact.value, limit: 200))
        }
      }
    }
    page.newLine()
  }

  /// Returns a time like "2026-11-21 19:20:00 UTC".
  static func wallClock(_ start: String) -> String {
    let text = ReportText.line(start, limit: 40)
    guard text.count >= 19, text.hasSuffix("Z"), text.contains("T") else { return text }
    return text.prefix(19).replacing("T", with: " ") + " UTC"
  }

  /// Writes the mark of an outcome as a drawing; the words beside it or its title give the meaning.
  static func badge(_ outcome: RuleResult.Outcome, into page: inout Markup) {
    let shape =
      switch outcome {
      case .held: "M7 12.5l3.4 3.4L17 9"
      case .failed: "M8.2 8.2l7.6 7.6M15.8 8.2l-7.6 7.6"
      case .notMeasured: "M8 12h8"
      case .inconclusive: "M9.2 9.6a2.9 2.9 0 1 1 4.4 2.5c-1 .6-1.6 1.1-1.6 2.2M12 17.3v.2"
      }
    page.element(
      "svg", ["class": "badge \(outcome.rawValue)", "viewBox": "0 0 24 24", "role": "img", "aria-label": outcome.word]
    ) {
      $0.empty("circle", ["cx": "12", "cy": "12", "r": "11"])
      $0.empty("path", ["d": shape])
    }
  }

  func footer(into page: inout Markup) {
    page.newLine()
    page.element("footer") { page in
      if let sentence = report.defaultRulesSentence {
        page.element("details") { page in
          page.element("summary", text: "\(sentence) Their reasons:")
          page.element("ul") { page in
            for note in report.defaultRules {
              page.element("li") { page in
                page.element("code", text: ReportText.line(note.rule))
                page.write(" " + ReportText.line(note.reason ?? "", limit: 300))
              }
            }
          }
        }
      }
      page.element(
        "p",
        text:
          "Written by \(ReportText.line(report.writer)). Times are seconds from the check\u{2019}s start, unless said otherwise."
      )
    }
    page.newLine()
  }
}

import CallCheck

extension HTMLReport {
  /// The maximum number of peers in the matrix; the tables below list the others.
  private static let maximumColumns = 12

  /// Writes the outcomes of all rules for all peers, if there are several.
  func matrix(of sections: [ReportSection], into page: inout Markup) {
    let peers = sections.filter { $0.index != nil && !$0.results.isEmpty }.prefix(Self.maximumColumns)
    guard peers.count > 1 else { return }
    var rules: [String] = []
    var seen: Set<String> = []
    for section in peers {
      for result in section.results where seen.insert(result.rule).inserted { rules.append(result.rule) }
    }
    page.element("section", ["aria-labelledby": "matrix"]) { page in
      page.element("h2", ["id": "matrix"], text: "All rules by peer")
      page.element("div", ["class": "scroll"]) { page in
        page.element("table", ["class": "matrix"]) { page in
          page.element("thead") { page in
            page.element("tr") { page in
              page.element("th", ["scope": "col"], text: "Rule")
              for section in peers {
                page.element("th", ["scope": "col"]) {
                  $0.element("a", ["href": "#" + Self.anchor(section)], text: section.name)
                }
              }
            }
          }
          page.element("tbody") { page in
            for rule in rules {
              page.newLine()
              page.element("tr") { page in
                page.element("th", ["scope": "row"]) { $0.element("code", text: ReportText.line(rule)) }
                for section in peers { cell(section.results.first { $0.rule == rule }, into: &page) }
              }
            }
          }
        }
      }
    }
    page.newLine()
  }

  private func cell(_ result: RuleResult?, into page: inout Markup) {
    guard let result else { return page.element("td", text: "") }
    page.element("td", ["class": result.outcome.rawValue]) { page in
      Self.badge(result.outcome, into: &page)
      page.write(ReportText.line(result.figure ?? result.outcome.word, limit: 40))
    }
  }

  /// Writes the results of the room or of one peer.
  func rules(of section: ReportSection, into page: inout Markup) {
    if section.results.isEmpty { return }
    page.element("table", ["class": "rules"]) { page in
      page.element("thead") { page in
        page.element("tr") { page in
          for name in ["Outcome", "Rule", "Measured", "Explanation"] {
            page.element("th", ["scope": "col"], text: name)
          }
        }
      }
      page.element("tbody") { page in
        for result in section.results {
          page.newLine()
          page.element("tr", ["class": result.outcome.rawValue]) { page in
            page.element("td", ["class": "mark"]) { page in
              Self.badge(result.outcome, into: &page)
              page.element("span", text: result.outcome.word)
            }
            page.element("td") { $0.element("code", text: ReportText.line(result.rule)) }
            page.element("td", ["class": "figure"], text: ReportText.line(result.figure ?? "\u{2013}", limit: 60))
            page.element("td", ["class": "sentence"], text: ReportText.line(result.sentence, limit: 1000))
          }
        }
      }
    }
    page.newLine()
  }

  /// Writes the rules about the room as a whole.
  func room(_ section: ReportSection, into page: inout Markup) {
    if section.results.isEmpty { return }
    page.element("section", ["id": "room", "aria-labelledby": "room-title"]) { page in
      page.element("h2", ["id": "room-title"], text: report.subject == .call ? "The room" : "The recording")
      rules(of: section, into: &page)
    }
    page.newLine()
  }

  /// Writes the changes since an earlier check.
  func comparison(into page: inout Markup) {
    guard let comparison = report.comparison else { return }
    page.element("section", ["class": "comparison", "aria-labelledby": "comparison"]) { page in
      let since = comparison.baselineStart.map { " of \(Self.wallClock($0))" } ?? ""
      page.element("h2", ["id": "comparison"], text: "Compared with the earlier check\(since)")
      page.element("p", text: ReportText.line(comparison.summary, limit: 600))
      changes("New failures", "worse", comparison.newFailures.map { ($0.peer, $0.rule, nil) }, into: &page)
      changes("Got worse", "worse", comparison.worse.map { ($0.peer, $0.name, $0.sentence) }, into: &page)
      changes("Got better", "better", comparison.better.map { ($0.peer, $0.name, $0.sentence) }, into: &page)
      changes("Holds again", "better", comparison.resolvedFailures.map { ($0.peer, $0.rule, nil) }, into: &page)
      for remark in comparison.remarks.prefix(20) {
        page.element("p", ["class": "soft"], text: ReportText.line(remark, limit: 400))
      }
    }
    page.newLine()
  }

  private typealias Row = (peer: String?, name: String, sentence: String?)

  /// The maximum number of changes of one kind that are shown at once; the others can be expanded.
  private static let maximumChanges = 10

  private func changes(_ title: String, _ style: String, _ rows: [Row], into page: inout Markup) {
    if rows.isEmpty { return }
    page.element("h3", ["class": style], text: "\(title) (\(rows.count))")
    table(rows.prefix(Self.maximumChanges), into: &page)
    let more = rows.dropFirst(Self.maximumChanges).prefix(200)
    if more.isEmpty { return }
    page.element("details") { page in
      page.element("summary", text: "\(rows.count - Self.maximumChanges) more")
      table(more, into: &page)
    }
  }

  private func table(_ rows: ArraySlice<Row>, into page: inout Markup) {
    page.element("table", ["class": "changes"]) { page in
      page.element("tbody") { page in
        for row in rows {
          page.newLine()
          page.element("tr") { page in
            page.element("td", ["class": "soft"], text: report.name(ofPeer: row.peer))
            page.element("td") { $0.element("code", text: ReportText.line(row.name)) }
            page.element("td", ["class": "sentence"], text: ReportText.line(row.sentence ?? "", limit: 400))
          }
        }
      }
    }
  }
}

public import CallCheck
import Media

extension CheckReport {
  /// Returns the verdict and a mark for each rule, for a terminal. The text ends with a newline.
  ///
  /// The text does not depend on colour, and control characters from the network never reach the terminal.
  ///
  /// - Parameters:
  ///   - width: columns of the terminal; at least 40.
  ///   - isUnicode: false if the locale is not UTF-8: marks are then `ok`, `FAIL` and `--`.
  ///   - isColoured: whether marks and the verdict have ANSI colours.
  public func table(width: Int = 80, isUnicode: Bool = true, isColoured: Bool = false) -> String {
    let table = VerdictTable(
      report: self, width: min(400, max(40, width)), text: TerminalText(isUnicode: isUnicode), isColoured: isColoured)
    return table.lines.map { line in line + "\n" }.joined()
  }
}

/// A report as lines of a terminal.
private struct VerdictTable {
  let report: CheckReport
  let width: Int
  let text: TerminalText
  let isColoured: Bool

  var lines: [String] {
    var lines = verdict
    let sections = report.sections.filter { !$0.results.isEmpty }
    let results = sections.flatMap(\.results)
    let ruleColumns = min(width / 2, results.map { TerminalText.width(text.line($0.rule)) }.max() ?? 0)
    for section in sections {
      lines.append("")
      let heading = ([section.name] + labels(of: section)).joined(separator: "  ")
      lines.append(styled(text.line(heading, columns: width), .bold))
      for rejection in section.peer?.rejected ?? [] {
        lines += text.lines(rejection.sentence, columns: width - 2).map { "  " + $0 }
      }
      let rows = section.peer?.trackRows ?? []
      let columns = rows.map { TerminalText.width(text.line($0.name)) }.max() ?? 0
      for row in rows {
        lines.append(
          text.line("  " + text.padded(text.line(row.name), columns: columns) + "  " + row.value, columns: width))
      }
      for result in section.results { lines += self.lines(of: result, ruleColumns: ruleColumns) }
    }
    if let comparison = report.comparison { lines += [""] + self.lines(of: comparison) }
    if !results.isEmpty, let sentence = report.defaultRulesSentence {
      lines += [""] + text.lines(sentence, columns: width)
    }
    // The first lines of a long table have left the screen.
    if lines.count > Self.screen { lines += [""] + summary }
    return lines
  }

  /// The name and the beginning of the id of a peer, or the id alone; of a recording the first file, too.
  private func labels(of section: ReportSection) -> [String] {
    guard let peer = section.peer else { return [section.id].compactMap(\.self) }
    let label = peer.name.map { DisplayName.label($0, id: ParticipantID(peer.id)) } ?? section.id ?? ""
    guard report.subject == .recording, let path = peer.recordings.first,
      let file = path.split(separator: "/").last.map(String.init), file != peer.id
    else { return [label] }
    return [label, file]
  }

  /// The lines of a small terminal.
  private static let screen = 24

  /// The verdict with its sentence.
  private var summary: [String] {
    let indent = TerminalText.width(mark(report.verdict.outcome).plain) + 1
    var lines = text.lines(report.summary, columns: width - indent)
    if let first = lines.first { lines[0] = styled(first, .bold) }
    return marked(lines)
  }

  private var verdict: [String] {
    let indent = TerminalText.width(mark(report.verdict.outcome).plain) + 1
    var lines: [String] = []
    if let diagnosis = report.diagnosis, diagnosis != report.summary {
      lines += text.lines(diagnosis, columns: width - indent)
    }
    for sentence in report.limitations { lines += text.lines(sentence, columns: width - indent) }
    if let fault = report.fault {
      lines += text.lines("Injected fault: \(fault.text).", columns: width - indent)
    }
    return summary + lines.map { String(repeating: " ", count: indent) + $0 }
  }

  /// Puts the mark of the verdict before the first line, and indents the others.
  private func marked(_ lines: [String]) -> [String] {
    let mark = mark(report.verdict.outcome)
    let indent = String(repeating: " ", count: TerminalText.width(mark.plain) + 1)
    return lines.enumerated().map { index, line in (index == 0 ? mark.shown + " " : indent) + line }
  }

  private func lines(of result: RuleResult, ruleColumns: Int) -> [String] {
    let mark = mark(result.outcome)
    let indent = 2 + markColumns + 1
    let rule = text.padded(text.line(result.rule, columns: ruleColumns), columns: ruleColumns)
    let figure = text.line(result.figure ?? result.outcome.word, columns: max(4, width - indent - ruleColumns - 2))
    let first =
      "  \(mark.shown)\(String(repeating: " ", count: indent - 2 - TerminalText.width(mark.plain)))\(rule)  \(figure)"
    if result.holds || (result.outcome == .notMeasured && report.diagnosis != nil) { return [first] }
    return [first]
      + text.lines(result.sentence, columns: width - indent).map { String(repeating: " ", count: indent) + $0 }
  }

  private func lines(of comparison: CheckComparison) -> [String] {
    var lines = text.lines(comparison.summary, columns: width).map { styled($0, .bold) }
    for row in report.rows(of: comparison) {
      guard let sign = row.sign else {
        lines += text.lines(row.sentence, columns: width - 2).map { "  " + $0 }
        continue
      }
      for (index, line) in text.lines(row.sentence, columns: width - 9).enumerated() {
        lines.append("  " + text.padded(index == 0 ? sign : "", columns: 7) + line)
      }
    }
    return lines
  }

  private var markColumns: Int { text.isUnicode ? 1 : 4 }

  private func mark(_ outcome: RuleResult.Outcome) -> (plain: String, shown: String) {
    let plain: String
    let style: Style
    switch outcome {
    case .held: (plain, style) = (text.isUnicode ? outcome.mark : "ok", .green)
    case .failed: (plain, style) = (text.isUnicode ? outcome.mark : "FAIL", .red)
    case .notMeasured: (plain, style) = (text.isUnicode ? outcome.mark : "--", .red)
    case .inconclusive: (plain, style) = (text.isUnicode ? outcome.mark : "?", .yellow)
    }
    return (plain, styled(plain, style))
  }

  /// SGR parameters (ECMA-48, 8.3.117).
  private enum Style: String {
    case bold = "1"
    case red = "31"
    case green = "32"
    case yellow = "33"
  }

  private func styled(_ text: String, _ style: Style) -> String {
    isColoured ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }
}

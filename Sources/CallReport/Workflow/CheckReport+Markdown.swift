public import CallCheck

extension CheckReport {
  /// The maximum size of the summary of a step that GitHub shows, in bytes.
  public static let maximumMarkdownBytes = 1 << 20

  /// Returns the report as GitHub Flavored Markdown, for the summary of a step of a CI job: the verdict, and for the room and each
  /// peer a table of rules, failed ones first. The text begins with a heading and ends with a newline.
  ///
  /// Text from the network cannot become markup, HTML or a link.
  ///
  /// - Parameters:
  ///   - limit: the maximum size in bytes; what does not fit is left out, and the text says so. Empty if nothing fits.
  ///   - completeFailures: how many failures have their complete reason; those of further failures are cut.
  public func markdown(limit: Int = maximumMarkdownBytes, completeFailures: Int = 10) -> String {
    MarkdownSummary(report: self, limit: limit, completeFailures: completeFailures).text
  }

  /// Returns the Markdown to add to the end of a file, with an empty line before it; empty if nothing fits.
  ///
  /// - Parameter size: the size of the file in bytes.
  package func markdown(addedTo size: Int) -> String {
    let separator = size > 0 ? "\n" : ""
    let text = markdown(limit: Self.maximumMarkdownBytes - size - separator.utf8.count)
    return text.isEmpty ? "" : separator + text
  }
}

/// A report as Markdown.
private struct MarkdownSummary {
  let report: CheckReport
  let limit: Int
  let completeFailures: Int

  /// The maximum lengths of reasons, in Unicode scalars.
  private static let completeReason = 2_000
  private static let cutReason = 100
  /// The size of the sentence about what was left out.
  private static let reserve = 100

  var text: String {
    var page = BoundedMarkdown(limit: limit - Self.reserve)
    guard page.add(heading) else { return "" }
    for line in notes { page.add(line + "\n\n") }
    var leftOut = 0
    var failures = 0
    for section in orderedSections {
      let head = self.head(of: section)
      var isOpen = false
      for result in section.results.inOrderOfSeverity {
        if result.outcome.isFailure { failures += 1 }
        let row = row(of: result, in: section, isComplete: failures <= completeFailures)
        // The head of a table is added with its first row, so that no table is empty.
        if page.add(isOpen ? row : head + row) { isOpen = true } else { leftOut += 1 }
      }
      if isOpen { page.add("\n") }
    }
    let text = page.text
    if leftOut == 0 { return text }
    return text + "\n\(leftOut) more \(leftOut == 1 ? "result does" : "results do") not fit into this summary.\n"
  }

  private var heading: String {
    let mark = report.verdict.outcome.mark
    let subject =
      report.subject == .call
      ? "Check of room \(MarkdownText.escaped(report.room, limit: 80))" : "Inspection of recordings"
    return "## \(mark) \(subject): \(report.verdict.rawValue)\n\n"
  }

  /// Sentences about the whole check. Each begins with a word of ours, so that none begins a list or a heading.
  private var notes: [String] {
    func line(_ name: String, _ text: String) -> String { "\(name): \(MarkdownText.escaped(text, limit: 2_000))" }
    var lines = ["**Result:** \(MarkdownText.escaped(report.summary, limit: 2_000))"]
    if let diagnosis = report.diagnosis, diagnosis != report.summary { lines.append(line("Reason", diagnosis)) }
    if let failure = report.failure, failure != report.summary {
      lines.append(line("The check did not finish", failure))
    }
    lines += report.limitations.map { line("Note", $0) }
    if let fault = report.fault { lines.append(line("Injected fault", fault.text)) }
    lines += report.impairment.prefix(20).map { note in
      line("Impaired network", [note.direction, note.text].compactMap(\.self).joined(separator: " "))
    }
    if let comparison = report.comparison {
      lines.append(line("Baseline", comparison.summary))
      let rows = report.rows(of: comparison).map { row in
        "- \(row.sign ?? "note"): \(MarkdownText.escaped(row.sentence, limit: 2_000))"
      }
      if !rows.isEmpty { lines.append(rows.joined(separator: "\n")) }
    }
    return lines
  }

  /// The room and the peers with results: those with failures first, then in the order in which they joined.
  private var orderedSections: [ReportSection] {
    let sections = report.sections.filter { !$0.results.isEmpty }
    func hasFailed(_ section: ReportSection) -> Bool { section.results.contains { $0.outcome.isFailure } }
    return sections.filter(hasFailed) + sections.filter { !hasFailed($0) }
  }

  private func head(of section: ReportSection) -> String {
    let id = section.id.map { ": \(MarkdownText.escaped($0))" } ?? ""
    let rejections = (section.peer?.rejected ?? []).prefix(16).map {
      "Rejected: \(MarkdownText.escaped($0.sentence, limit: 500))\n\n"
    }
    let codecs = (section.peer?.trackRows ?? []).prefix(40).map {
      "\(MarkdownText.escaped($0.name.prefix(1).uppercased() + $0.name.dropFirst())): \(MarkdownText.escaped($0.value))\n\n"
    }
    return "### \(MarkdownText.escaped(section.name))\(id)\n\n" + rejections.joined() + codecs.joined()
      + "| | rule | measured | limit | reason |\n|---|---|---:|---:|---|\n"
  }

  private func row(of result: RuleResult, in section: ReportSection, isComplete: Bool) -> String {
    let stream = result.stream.map { stream in
      " (\(section.peer?.title(ofStream: stream) ?? "stream \(stream)"))"
    }
    let reason =
      result.holds
      ? "" : MarkdownText.escaped(result.sentence, limit: isComplete ? Self.completeReason : Self.cutReason)
    let cells = [
      "\(result.outcome.mark) \(result.outcome.word)",
      MarkdownText.escaped(result.rule + (stream ?? "")),
      MarkdownText.escaped(result.figure ?? ""),
      MarkdownText.escaped(Self.limit(of: result)),
      reason,
    ]
    return "| " + cells.joined(separator: " | ") + " |\n"
  }

  /// The limit with its comparison, for example `<= 500 ms`.
  private static func limit(of result: RuleResult) -> String {
    let comparison = (try? Rule(result.rule))?.comparison.rawValue
    let unit = Measurement.named(result.measurement)?.unit
    let limit =
      switch result.limit {
      case .text(let text): text
      case .number(let number):
        unit?.texts(result.value?.number ?? number, against: number).limit
          ?? "\(NumberFormatting.digits(number)) \(result.unit)"
      }
    return [comparison, limit].compactMap(\.self).joined(separator: " ")
  }
}

extension [RuleResult] {
  /// Failures first, then what was not measured or not judged, then what held; otherwise in the same order.
  fileprivate var inOrderOfSeverity: [RuleResult] {
    let order: [RuleResult.Outcome] = [.failed, .notMeasured, .inconclusive, .held]
    return order.flatMap { outcome in filter { $0.outcome == outcome } }
  }
}

extension RuleResult.Outcome {
  /// Whether the result fails the check.
  var isFailure: Bool { self == .failed || self == .notMeasured }
}

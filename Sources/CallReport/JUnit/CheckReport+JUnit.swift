public import CallCheck

extension CheckReport {
  /// The report as JUnit XML, as accepted by Jenkins, GitLab, Azure and the reporters of GitHub Actions.
  ///
  /// There is a suite for the room and one for each peer, with a case for each rule. A rule that failed or could not be
  /// measured is a failure; a call that was never established is an error in a case of its own. Names stay the same
  /// from call to call, so that a rule's history can be followed: the room and ids are properties, and an expected peer
  /// that never joined has the cases that it would have had.
  public var junit: String {
    let suites = (judgedSections + absentSections).map(suite).filter { !$0.cases.isEmpty }
    var markup = Markup()
    markup.write(trusted: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
    let cases = suites.flatMap(\.cases)
    markup.element(
      "testsuites",
      [
        "name": "call check", "tests": "\(cases.count)", "failures": "\(cases.count { $0.problem?.kind == .failure })",
        "errors": "\(cases.count { $0.problem?.kind == .error })", "time": seconds,
      ]
    ) { markup in
      markup.newLine()
      for suite in suites { suite.write(into: &markup, time: seconds, timestamp: timestamp) }
    }
    markup.newLine()
    return markup.text
  }

  private var seconds: String { duration.isFinite ? NumberFormatting.fixed(max(0, duration), 3) : "0.000" }

  /// The start without fraction and time zone, as the schema of Jenkins requires; nil if it is not a time.
  private var timestamp: String? {
    guard let start = start?.prefix(19), start.utf8.count == 19 else { return nil }
    let fits = zip(start.utf8, "0000-00-00T00:00:00".utf8).allSatisfy { byte, shape in
      shape == UInt8(ascii: "0") ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == shape
    }
    return fits ? String(start) : nil
  }

  private func suite(_ section: ReportSection) -> JUnitSuite {
    // A dot separates packages from classes.
    var suite = JUnitSuite(name: section.name, className: "\(subject.rawValue).\(section.name)")
    suite.properties.append(("room", ReportText.line(self.room)))
    if let id = section.id { suite.properties.append(("peer", id)) }
    suite.properties += section.peer?.trackRows ?? []
    if section.index == nil {
      if let fault { suite.properties.append(("injectedFault", fault.text)) }
      suite.cases += wholeCall
    }

    var seen: [String: Int] = [:]
    for result in section.results {
      seen[result.rule, default: 0] += 1
      let turn = seen[result.rule] ?? 1
      let rule = ReportText.line(result.rule)
      var found = JUnitSuite.Case(name: turn == 1 ? rule : "\(rule) (\(turn))")
      let text = JUnitSuite.table([
        ("rule", rule), ("measured", result.figure ?? "nothing"),
        ("of", [section.name(of: result), section.id].compactMap(\.self).joined(separator: ", ")),
      ])
      switch result.outcome {
      case .held: found.output = "\(result.sentence)\n\(text)"
      case .failed: found.problem = .init(kind: .failure, type: "failed", sentence: result.sentence, text: text)
      case .notMeasured:
        found.problem = .init(kind: .failure, type: "notMeasured", sentence: result.sentence, text: text)
      case .inconclusive: found.skipped = result.sentence
      }
      suite.cases.append(found)
    }
    suite.output =
      section.peer.map { [$0.progress, $0.departure?.sentence].compactMap { $0 }.joined(separator: "\n") }
      ?? (section.index == nil ? ([summary] + limitations).joined(separator: "\n") : Self.neverJoined(section.name))
    return suite
  }

  private static func neverJoined(_ name: String) -> String {
    "\(name.prefix(1).uppercased() + name.dropFirst()) never joined."
  }

  /// The room and the peers that joined, each with its results. If no peer joined, results about peers do not belong to
  /// the room.
  private var judgedSections: [ReportSection] {
    guard peers.isEmpty else { return sections }
    return sections.map { section in
      var section = section
      if section.index == nil { section.results.removeAll(where: Self.isOfPeers) }
      return section
    }
  }

  private static func isOfPeers(_ result: RuleResult) -> Bool {
    Measurement.named(result.measurement)?.scope == .peer
  }

  /// The expected peers that never joined: nothing could be measured for them.
  private var absentSections: [ReportSection] {
    guard verdict == .failed, peers.count < expected.peers else { return [] }
    let missing = results.filter { $0.peer == nil && Self.isOfPeers($0) }
    return (peers.count..<expected.peers).prefix(Self.maximumAbsent).map { index in
      let name = "peer \(index + 1)"
      let results = peers.isEmpty ? missing : unmeasured(Self.neverJoined(name))
      return ReportSection(index: index, name: name, results: results)
    }
  }

  /// The maximum number of such peers, so that the report stays readable.
  private static let maximumAbsent = 100

  /// Returns the results of all rules about peers for a peer that never joined.
  private func unmeasured(_ sentence: String) -> [RuleResult] {
    rules.compactMap { note in
      guard let rule = try? Rule(note.rule), rule.measurement.scope == .peer else { return nil }
      return RuleResult(
        rule: note.rule, measurement: rule.measurement.name, peer: nil, stream: rule.stream > 1 ? rule.stream : nil,
        outcome: .notMeasured, value: nil,
        limit: rule.limit, unit: rule.measurement.unit.symbol, figure: nil,
        sentence: "\(rule.measurement.title(ofStream: rule.stream)) could not be measured: \(sentence.asClause).")
    }
  }

  /// The case that says whether there was a call at all.
  private var wholeCall: [JUnitSuite.Case] {
    if subject == .recording, diagnosis == nil, failure == nil { return [] }
    var found = JUnitSuite.Case(name: subject == .call ? "the call is established" : "the recording contains media")
    if let diagnosis {
      found.problem = .init(kind: .error, type: "noMedia", sentence: diagnosis, text: progress)
    } else if let failure {
      found.problem = .init(kind: .error, type: "ended", sentence: failure, text: progress)
    } else {
      found.output = summary
    }
    return [found]
  }

  /// How far the call with each peer progressed.
  private var progress: String {
    peers.isEmpty
      ? "No peer was seen in the room."
      : JUnitSuite.table(
        sections.compactMap { section in
          section.peer.map { (section.name, $0.progress) }
        })
  }
}

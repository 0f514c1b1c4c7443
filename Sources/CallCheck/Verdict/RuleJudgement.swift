/// Applies rules to the measurements.
struct RuleJudgement {
  let room: CheckReport.RoomReport
  let peers: [PeerReport]
  /// Why no peer was measured, as a sentence; nil if any was.
  let diagnosis: String?

  /// Returns the results of a rule: one for the room, or one for each peer.
  func results(of rule: Rule) -> [RuleResult] {
    switch rule.measurement.source {
    case .room(let value):
      return [result(of: rule, peer: nil, value(room))]
    case .peer:
      if peers.isEmpty {
        let reason = diagnosis?.asClause ?? "no peer was there"
        return [result(of: rule, peer: nil, .missing(reason))]
      }
      return peers.map { result(of: rule, peer: $0, figure(of: rule, $0)) }
    }
  }

  private func figure(of rule: Rule, _ peer: PeerReport) -> Figure {
    if let stream = peer.stream(rule.stream) { return rule.measurement.figure(of: stream, in: room) }
    let progress = peer.reached == .media ? "" : " (\(peer.progress.asClause))"
    return .missing(
      "\(ReportText.line(peer.id, limit: 48)) sent no \(StreamReport.ordinal(rule.stream)) stream\(progress)")
  }

  private func result(of rule: Rule, peer: PeerReport?, _ figure: Figure) -> RuleResult {
    let measurement = rule.measurement
    let title = measurement.title(ofStream: rule.stream)
    var result = RuleResult(
      rule: rule.text, measurement: measurement.name, peer: peer?.id, stream: rule.stream > 1 ? rule.stream : nil,
      outcome: .notMeasured, value: nil, limit: rule.limit.number.map { .number(roundedForReport($0)) } ?? rule.limit,
      unit: measurement.unit.symbol, figure: nil, sentence: "")
    switch figure {
    case .value(let value, let detail):
      let ruleLimit = rule.limit.number ?? .nan
      result.value = .number(roundedForReport(value))
      result.outcome = rule.comparison.holds(value, ruleLimit) ? .held : .failed
      // A value that is shown like the limit must not seem to contradict the verdict.
      let (text, limit) = measurement.unit.texts(roundedForReport(value), against: roundedForReport(ruleLimit))
      result.figure = text
      result.sentence = "\(title): \(text)\(detail); the rule requires \(rule.comparison.words) \(limit)."
      if result.outcome == .failed, let advice = advice(for: measurement, of: peer) { result.sentence += " \(advice)" }
    case .text(let text, let detail):
      let limit = rule.limit.text ?? ""
      result.value = .text(text)
      result.outcome = rule.comparison.holds(text, limit) == true ? .held : .failed
      result.figure = text
      result.sentence = "\(title): \(text)\(detail); the rule requires \(rule.comparison.words) \(limit)."
      if result.outcome == .failed, let advice = advice(for: measurement, of: peer) { result.sentence += " \(advice)" }
    case .missing(let reason):
      result.sentence = "\(title)\(Self.absenceMark)\(reason)."
    case .inconclusive(let reason):
      result.outcome = .inconclusive
      result.sentence = "\(title) could not be judged: \(reason)."
    }
    return result
  }

  /// Returns what to check after a failure; nil for a rule about the room if we did not join it ourselves, and for the absence
  /// of a peer that was never connected: why is the diagnosis.
  private func advice(for measurement: Measurement, of peer: PeerReport?) -> String? {
    if case .room = measurement.source, room.joined == nil { return nil }
    if measurement.name == "absent", let peer, (.seen..<CallProgress.dtlsConnected).contains(peer.reached) {
      return nil
    }
    return Advice.of(measurement.name)
  }

  /// Returns the verdict for all results, with its sentence.
  ///
  /// - Parameters:
  ///   - isDecoded: whether there was a decoder for everything that arrived.
  ///   - failure: why the check did not finish, as a sentence; nil if it finished.
  ///   - diagnosis: why there was no call, as a sentence; nil if there was one. It is not a failure if all rules hold.
  static func verdict(
    of results: [RuleResult], rules: Int, peers: Int, isDecoded: Bool = true, failure: String?, diagnosis: String?
  ) -> (CheckReport.Verdict, String) {
    let bad = results.filter { !$0.holds && $0.outcome != .inconclusive }
    let unknown = results.filter { $0.outcome == .inconclusive }
    if let failure { return (.failed, diagnosis ?? failure) }
    if bad.isEmpty, !unknown.isEmpty {
      let concerned = Set(unknown.compactMap(\.peer)).count
      return (
        .inconclusive,
        "\(Set(unknown.map(\.rule)).count) of \(rules) rules could not be judged for \(concerned) of \(peers) "
          + "\(peers == 1 ? "peer" : "peers"), because this machine could not \(isDecoded ? "keep up" : "decode everything"); "
          + "no other rule failed."
      )
    }
    if bad.isEmpty, !results.isEmpty || diagnosis == nil {
      let what = rules == 1 ? "The rule held" : "All \(rules) rules held"
      if let diagnosis { return (.held, "\(what): \(diagnosis.asClause).") }
      return (.held, "\(what) for \(peers == 1 ? "1 peer" : "\(peers) peers").")
    }
    if let diagnosis { return (.failed, diagnosis) }
    let failedRules = Set(bad.map(\.rule)).count
    let concerned = Set(bad.compactMap(\.peer)).count
    let unmeasured = bad.count { $0.outcome == .notMeasured }
    var sentence = "\(failedRules) of \(rules) rules failed"
    if concerned > 0 { sentence += " for \(concerned) of \(peers) \(peers == 1 ? "peer" : "peers")" }
    if unmeasured == bad.count {
      sentence += ", because \(commonAbsence(of: bad, concerned) ?? "nothing could be measured for them")"
    } else if unmeasured > 0 {
      sentence += ", \(unmeasured) of them unmeasured"
    }
    return (.failed, sentence + ".")
  }

  /// Returns the kind of media that was not sent, if that is why none of the rules could be measured.
  private static func commonAbsence(of results: [RuleResult], _ peers: Int) -> String? {
    for (clause, what) in [(Measurement.noVideoFramesSent, "video"), (Measurement.noAudioSent, "audio")]
    where results.allSatisfy({ $0.sentence.hasSuffix(clause + ".") }) {
      return peers == 1 ? clause : clause.replacing("the peer sent no \(what)", with: "they sent no \(what)")
    }
    let clauses = Set(results.compactMap(absence))
    guard clauses.count == 1, let clause = clauses.first, clause.hasPrefix("we refused the ") else { return nil }
    return clause
  }

  /// Returns why a result could not be measured, as a clause; nil for other results.
  private static func absence(_ result: RuleResult) -> String? {
    result.sentence.firstRange(of: absenceMark).map { String(result.sentence[$0.upperBound...]).asClause }
  }

  /// What separates the title of a measurement from the reason why it is missing.
  private static let absenceMark = " could not be measured: "
}

/// What to check when a rule fails, by measurement.
enum Advice {
  /// Returns one sentence; nil if the value speaks for itself.
  static func of(_ measurement: String) -> String? {
    sentences.first { measurement == $0.name || measurement.hasPrefix($0.name + ".") }?.sentence
  }

  private static let sentences: [(name: String, sentence: String)] = [
    ("video.black", "The camera may be covered, switched off or taken by another program."),
    ("video.frozen", "Frames arrive, so the connection works; the app's video source has stopped."),
    ("video.fps.min", "Check the freezes and the sender's CPU load."),
    ("video.fps", "The sender may be slow, or its network may not carry more: see the bitrate and the loss."),
    ("video.codec", "The app may prefer another codec, or not have this one: see the codecs of its description."),
    ("audio.codec", "The app may prefer another codec, or not have this one: see the codecs of its description."),
    ("video.decodeErrors", "The sender's stream is damaged, or it sent frames that depend on missing ones."),
    ("audio.silence", "The microphone may be muted, or the app sends an empty track."),
    ("audio.clipped", "The sender's gain is too high."),
    ("audio.gap", "See the loss and the jitter of the audio."),
    ("absent", "Find out why it left: an app that crashed or was closed leaves in the same way."),
    ("returned", "Frames that the app drops, or cannot process in time, are missing here."),
    ("peers", "Other peers may not have joined within the waiting time."),
  ]
}

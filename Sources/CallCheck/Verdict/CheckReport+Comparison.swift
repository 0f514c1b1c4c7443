extension CheckReport {
  /// Compares this report with an earlier one. Peers are matched by the order in which they joined, since their ids
  /// differ in every call.
  ///
  /// A change counts if it exceeds both the noise of its measurement and a tenth of the earlier value. Totals and counts, which
  /// grow with a check, are compared by their rates.
  public func compared(with baseline: CheckReport) -> CheckComparison {
    var comparison = CheckComparison(
      baselineStart: baseline.start, summary: "", worse: [], better: [], newFailures: [], resolvedFailures: [],
      remarks: remarks(on: baseline))
    let pairs = zip(judgedPeers, baseline.judgedPeers)
    let durations = (before: baseline.measuredTime, now: measuredTime)
    for measurement in Measurement.catalogue {
      switch measurement.source {
      case .room(let value):
        comparison.note(
          measurement, peer: nil, before: value(baseline.roomReport), now: value(roomReport), in: durations)
      case .peer:
        for (now, before) in pairs {
          let further = measurement.isOfStream ? (now.streams ?? []).map(\.number) : []
          for number in [1] + further {
            guard let now = now.stream(number), let before = before.stream(number) else { continue }
            comparison.note(
              measurement, peer: now.id, stream: number,
              before: measurement.figure(of: before, in: baseline.roomReport),
              now: measurement.figure(of: now, in: roomReport), in: durations)
          }
        }
      }
    }
    compareRules(with: baseline, into: &comparison)
    comparison.summarize()
    return comparison
  }

  /// The time in which media was measured, in seconds; at least 1.
  private var measuredTime: Double { max(1, duration - (mediaFrom ?? 0)) }

  private func remarks(on baseline: CheckReport) -> [String] {
    var remarks: [String] = []
    if subject != baseline.subject {
      remarks.append("The baseline is of a \(baseline.subject.rawValue), this report of a \(subject.rawValue).")
    }
    let (count, earlier) = (judgedPeers.count, baseline.judgedPeers.count)
    if count != earlier {
      let compared = min(count, earlier)
      remarks.append(
        "The baseline has \(earlier) peers, this report has \(count); "
          + "the first \(compared) of both were compared.")
    }
    for (report, name) in [(baseline, "In the baseline"), (self, "In this check")]
    where report.peers.contains(where: { $0.skippedFramesOfAllStreams > 0 || $0.hasUnverified }) {
      remarks.append("\(name), not all frames were decoded, so their content is not compared.")
    }
    if duration < baseline.duration / 2 || duration > baseline.duration * 2 {
      remarks.append(
        "The baseline lasted \(MeasurementUnit.time.text(baseline.duration)), this check "
          + "\(MeasurementUnit.time.text(duration)): totals and counts are compared by their rates.")
    }
    return remarks
  }

  private func compareRules(with baseline: CheckReport, into comparison: inout CheckComparison) {
    let others = baseline.judgedPeers
    for result in results {
      let position = result.peer.map { id in judgedPeers.firstIndex { $0.id == id } } ?? nil
      if result.peer != nil && position == nil { continue }
      let other = baseline.results.first { candidate in
        guard candidate.rule == result.rule else { return false }
        guard let position else { return candidate.peer == nil }
        return others.indices.contains(position) && candidate.peer == others[position].id
      }
      guard let other, other.holds != result.holds, other.outcome != .inconclusive, result.outcome != .inconclusive
      else {
        continue
      }
      let change = CheckComparison.Failure(rule: result.rule, peer: result.peer)
      if result.holds { comparison.resolvedFailures.append(change) } else { comparison.newFailures.append(change) }
    }
  }
}

extension CheckComparison {
  /// The share of the earlier value that a change must exceed.
  private static let tolerance = 0.1

  fileprivate mutating func note(
    _ measurement: Measurement, peer: String?, stream: Int = 1, before: Figure, now: Figure,
    in durations: (before: Double, now: Double)
  ) {
    if case .text(let old, _) = before, case .text(let new, _) = now, old != new {
      remarks.append("\(measurement.title(ofStream: stream)): \(old) before, \(new) now.")
    }
    guard let better = measurement.better, let old = before.number, let new = now.number else { return }
    // An interval that lasts for most of a check is as long as the check.
    let grows =
      measurement.growsWithTime
      || measurement.name.hasSuffix(".longest") && old > durations.before / 2 && new > durations.now / 2
    // What the earlier check would have measured in the time of this one.
    let comparable = grows ? old * durations.now / durations.before : old
    let change = new - comparable
    let noise = grows ? measurement.noise * max(1, durations.now / durations.before) : measurement.noise
    guard abs(change) > noise + 0.000_05, abs(change) > Self.tolerance * abs(comparable) else { return }
    let unit = measurement.unit
    let differ = grows && abs(durations.now - durations.before) > Self.tolerance * durations.before
    let texts = [(old, durations.before), (new, durations.now)].map { value, duration in
      unit.text(value) + (differ ? " in \(MeasurementUnit.time.text(duration))" : "")
    }
    let entry = Change(
      measurement: measurement.name, peer: peer, stream: stream > 1 ? stream : nil, before: roundedForReport(old),
      now: roundedForReport(new),
      unit: unit.symbol,
      sentence: "\(measurement.title(ofStream: stream)): \(texts[0]) before, \(texts[1]) now.")
    if (change > 0) == (better == .higher) { self.better.append(entry) } else { worse.append(entry) }
  }

  fileprivate mutating func summarize() {
    func figures(_ count: Int) -> String { count == 1 ? "1 measurement" : "\(count) measurements" }
    var clauses: [String] = []
    if !newFailures.isEmpty {
      clauses.append(newFailures.count == 1 ? "1 rule newly fails" : "\(newFailures.count) rules newly fail")
    }
    if !resolvedFailures.isEmpty {
      clauses.append(
        resolvedFailures.count == 1 ? "1 rule holds again" : "\(resolvedFailures.count) rules hold again")
    }
    if !worse.isEmpty { clauses.append("\(figures(worse.count)) got worse") }
    if !better.isEmpty { clauses.append("\(figures(better.count)) got better") }
    summary =
      clauses.isEmpty
      ? "No change exceeds the noise."
      : "Compared with the baseline, " + clauses.joined(separator: ", ") + "."
  }
}

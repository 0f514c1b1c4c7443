/// Measurements of intervals and of spreads, with one name for each statistic.
extension Measurement {
  /// Returns the longest, total, count and share of intervals of one kind.
  ///
  /// - Parameters:
  ///   - name: the family's name; it is also an alias of the longest.
  ///   - noun: the singular, for example `freeze`; `nouns` is the plural.
  ///   - meaning: the definition of one interval, as a sentence.
  ///   - clause: translates an interval's reason into a clause for a sentence.
  static func intervals(
    _ name: String, noun: String, nouns: String, meaning: String,
    clause: @escaping @Sendable (String) -> String? = { _ in nil },
    missing: @escaping @Sendable (PeerReport) -> Figure,
    of intervals: @escaping @Sendable (PeerReport) -> IntervalSummary?
  ) -> [Measurement] {
    [
      peer(
        "\(name).longest", .time, "Longest \(noun)", better: .lower, noise: 0.1, aliases: [name],
        meaning: "The longest \(noun); 0 if there was none. \(meaning)"
      ) { peer in
        guard let all = intervals(peer) else { return missing(peer) }
        guard let worst = all.worst else { return .value(all.longest) }
        let position = " at \(MeasurementUnit.time.text(worst.start))"
        let why = worst.reason.flatMap(clause).map { ", because \($0)" } ?? ""
        return .value(all.longest, detail: position + why)
      },
      peer(
        "\(name).total", .time, "Total duration of \(nouns)", better: .lower, noise: 0.2,
        meaning: "The total duration of all \(nouns)."
      ) { peer in
        intervals(peer).map { .value($0.total, detail: " in \($0.count)") } ?? missing(peer)
      },
      peer(
        "\(name).count", .count, "Number of \(nouns)", better: .lower, noise: 1,
        meaning: "The number of \(nouns)."
      ) { peer in
        intervals(peer).map { .value($0.count) } ?? missing(peer)
      },
      peer(
        "\(name).ratio", .ratio, "Share of \(nouns)", better: .lower, noise: 0.02,
        meaning: "The total duration of all \(nouns) as a share of the track's duration."
      ) { peer in
        intervals(peer).map { .value($0.ratio) } ?? missing(peer)
      },
    ]
  }

  /// Returns the median, the 95th percentile and the worst of many values.
  static func spread(
    _ name: String, title: String, noise: Double, meaning: String,
    of spread: @escaping @Sendable (PeerReport) -> Result<Spread, Absence>
  ) -> [Measurement] {
    let parts: [(String, String, @Sendable (Spread) -> Double)] = [
      ("p50", "Median.", { $0.p50 }),
      ("p95", "95th percentile.", { $0.p95 }),
      ("worst", "Worst value.", { $0.worst }),
    ]
    return parts.map { part, which, value in
      peer(
        "\(name).\(part)", .time, "\(title) (\(part))", better: .lower, noise: noise, meaning: "\(meaning) \(which)"
      ) {
        peer in
        switch spread(peer) {
        case .success(let spread): .value(value(spread), detail: " in \(spread.count) measurements")
        case .failure(let absence): .missing(absence.reason)
        }
      }
    }
  }

  /// The reason why there is no value, as a clause.
  struct Absence: Error {
    let reason: String

    init(_ reason: String) {
      self.reason = reason
    }
  }
}

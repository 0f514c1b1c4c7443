/// Several measurements of one thing.
extension Measurement {
  /// The longest, the sum, the count and the share of stretches.
  ///
  /// - Parameters:
  ///   - name: the longest can be requested by this name alone, too.
  ///   - noun: one of them, for example `freeze`; `nouns` several.
  ///   - meaning: what counts as one, as a sentence.
  ///   - clause: what a stretch's reason says, for a sentence.
  static func intervals(
    _ name: String, noun: String, nouns: String, meaning: String,
    clause: @escaping @Sendable (String) -> String? = { _ in nil },
    missing: @escaping @Sendable (PeerReport) -> Figure,
    of intervals: @escaping @Sendable (PeerReport) -> IntervalSummary?
  ) -> [Measurement] {
    [
      peer(
        "\(name).longest", .time, "Longest \(noun)", better: .lower, noise: 0.1, aliases: [name],
        meaning: "The longest \(noun), 0 when there was none. \(meaning)"
      ) { peer in
        guard let all = intervals(peer) else { return missing(peer) }
        guard let worst = all.worst else { return .value(all.longest) }
        let position = " from \(MeasurementUnit.time.text(worst.start)) on"
        let why = worst.reason.flatMap(clause).map { ", because \($0)" } ?? ""
        return .value(all.longest, detail: position + why)
      },
      peer(
        "\(name).total", .time, "All \(nouns) together", better: .lower, noise: 0.2, meaning: "The sum of all \(nouns)."
      ) { peer in
        intervals(peer).map { .value($0.total, detail: " in \($0.count)") } ?? missing(peer)
      },
      peer(
        "\(name).count", .count, "Number of \(nouns)", better: .lower, noise: 1,
        meaning: "How many \(nouns) there were."
      ) { peer in
        intervals(peer).map { .value($0.count) } ?? missing(peer)
      },
      peer(
        "\(name).ratio", .share, "Share of \(nouns)", better: .lower, noise: 0.02,
        meaning: "The sum of all \(nouns) as a share of the time that the track lasted."
      ) { peer in
        intervals(peer).map { .value($0.ratio) } ?? missing(peer)
      },
    ]
  }

  /// The middle, the 95th of a hundred and the worst of many measurements.
  static func spread(
    _ name: String, title: String, noise: Double, meaning: String,
    of spread: @escaping @Sendable (PeerReport) -> Result<Spread, Absence>
  ) -> [Measurement] {
    let parts: [(String, String, @Sendable (Spread) -> Double)] = [
      ("p50", "The middle one of all.", { $0.p50 }),
      ("p95", "95 of 100 are at most this.", { $0.p95 }),
      ("worst", "The worst one.", { $0.worst }),
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

  /// Why there is nothing to tell, as a clause.
  struct Absence: Error {
    let reason: String

    init(_ reason: String) {
      self.reason = reason
    }
  }
}

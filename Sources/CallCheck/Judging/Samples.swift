/// Keeps many values of one measurement in limited memory: the first 8,192, then every second one, then every fourth
/// one, and so on.
struct Samples: Sendable {
  /// The maximum number of kept values.
  static let maximumCount = 8_192

  private var kept: [Double] = []
  private var stride = 1
  private var worst = 0.0
  /// The number of values added.
  private(set) var count = 0

  mutating func add(_ value: Double) {
    guard value.isFinite else { return }
    if abs(value) > abs(worst) { worst = value }
    if count.isMultiple(of: stride) { kept.append(value) }
    count += 1
    if kept.count == Self.maximumCount {
      kept = Swift.stride(from: 0, to: kept.count, by: 2).map { kept[$0] }
      stride *= 2
    }
  }

  /// The distribution of the values, by nearest rank; nil if there are none.
  var spread: Spread? {
    guard !kept.isEmpty else { return nil }
    let byValue = kept.sorted()
    let bySize = kept.sorted { (abs($0), $0) < (abs($1), $1) }
    return Spread(
      count: count, p50: roundedForReport(Self.rank(0.5, of: byValue)),
      p95: roundedForReport(Self.rank(0.95, of: bySize)), worst: roundedForReport(worst))
  }

  /// The median; nil if there are no values.
  var median: Double? { kept.isEmpty ? nil : Self.rank(0.5, of: kept.sorted()) }

  private static func rank(_ share: Double, of sorted: [Double]) -> Double {
    let index = Int((share * Double(sorted.count)).rounded(.up)) - 1
    return sorted[min(max(0, index), sorted.count - 1)]
  }
}

/// Returns a value as it appears in a report: finite, with four decimals.
func roundedForReport(_ value: Double) -> Double {
  guard value.isFinite, abs(value) < 1e11 else { return 0 }
  let rounded = (value * 10_000).rounded() / 10_000
  // Turns -0 into 0.
  return rounded == 0 ? 0 : rounded
}

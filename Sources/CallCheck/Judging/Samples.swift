/// Many measurements of one thing in little memory: each of the first 8,192, then evenly every second one, every fourth one …
struct Samples: Sendable {
  /// How many are kept at most.
  static let most = 8_192

  private var kept: [Double] = []
  private var stride = 1
  private var worst = 0.0
  /// How many there were.
  private(set) var count = 0

  mutating func add(_ value: Double) {
    guard value.isFinite else { return }
    if abs(value) > abs(worst) { worst = value }
    if count.isMultiple(of: stride) { kept.append(value) }
    count += 1
    if kept.count == Self.most {
      kept = Swift.stride(from: 0, to: kept.count, by: 2).map { kept[$0] }
      stride *= 2
    }
  }

  /// How they are spread, by nearest rank; nil when there are none.
  var spread: Spread? {
    guard !kept.isEmpty else { return nil }
    let byValue = kept.sorted()
    let bySize = kept.sorted { (abs($0), $0) < (abs($1), $1) }
    return Spread(
      count: count, p50: roundedForReport(Self.rank(0.5, of: byValue)),
      p95: roundedForReport(Self.rank(0.95, of: bySize)), worst: roundedForReport(worst))
  }

  /// The middle one; nil when there are none.
  var median: Double? { kept.isEmpty ? nil : Self.rank(0.5, of: kept.sorted()) }

  private static func rank(_ share: Double, of sorted: [Double]) -> Double {
    let index = Int((share * Double(sorted.count)).rounded(.up)) - 1
    return sorted[min(max(0, index), sorted.count - 1)]
  }
}

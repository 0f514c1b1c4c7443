/// How values are spread: what people ask of many measurements of one thing.
struct Distribution: Sendable, Hashable, Encodable {
  /// So many values.
  let count: Int
  let median: Double
  /// 95 of 100 values are at most this.
  let p95: Double
  let worst: Double

  /// Nil when there are no values. By nearest rank, so that each figure is one of the values.
  init?(_ values: [Double]) {
    let sorted = values.filter(\.isFinite).sorted()
    guard let worst = sorted.last else { return nil }
    count = sorted.count
    median = Self.rank(0.5, of: sorted)
    p95 = Self.rank(0.95, of: sorted)
    self.worst = worst
  }

  private static func rank(_ share: Double, of sorted: [Double]) -> Double {
    let index = Int((share * Double(sorted.count)).rounded(.up)) - 1
    return sorted[min(max(0, index), sorted.count - 1)]
  }
}

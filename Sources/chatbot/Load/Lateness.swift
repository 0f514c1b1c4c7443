/// How late frames were handed to publishers, in milliseconds: whether this machine keeps up with what it is asked to send.
struct Lateness: Sendable, Hashable {
  /// One place a millisecond; the last holds all that are later.
  private var counts = [Int](repeating: 0, count: 1001)
  private(set) var count = 0

  /// Past this the figures say more of this machine than of the one under load.
  static let tooLate = 50.0

  mutating func add(_ lateness: Duration) {
    let position = min(max(0, Int(lateness / .milliseconds(1))), counts.count - 1)
    counts[position] += 1
    count += 1
  }

  mutating func add(_ other: Lateness) {
    for (position, number) in other.counts.enumerated() { counts[position] += number }
    count += other.count
  }

  /// Below this many milliseconds is such a share of all; nil before the first.
  func quantile(_ share: Double) -> Double? {
    guard count > 0 else { return nil }
    var rest = Int((share * Double(count)).rounded(.up))
    for (position, number) in counts.enumerated() {
      rest -= number
      if rest <= 0 { return Double(position + 1) }
    }
    return Double(counts.count)
  }
}

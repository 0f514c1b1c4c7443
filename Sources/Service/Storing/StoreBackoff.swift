internal import Media

/// When a store that fails is asked again: after 0.5 s, then twice as long each time, up to 60 s, with random jitter. Pure.
struct StoreBackoff: Sendable, Hashable {
  static let first = Duration.milliseconds(500)
  static let maximum = Duration.seconds(60)

  private(set) var failures = 0

  mutating func succeeded() { failures = 0 }

  /// - Parameter random: 0 to 1; the wait is between half of the step and all of it.
  /// - Returns: how long to wait.
  mutating func failed(random: Double = .random(in: 0...1)) -> Duration {
    let step = failures < 7 ? min(Self.first * (1 << failures), Self.maximum) : Self.maximum
    if failures < 7 { failures += 1 }
    return step / 2 + (step / 2) * min(max(random, 0), 1)
  }
}

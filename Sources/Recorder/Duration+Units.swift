extension Duration {
  /// The duration in whole milliseconds, rounded to the nearest.
  var milliseconds: Int64 {
    let nanoseconds = self.nanoseconds
    return (nanoseconds + (nanoseconds < 0 ? -500_000 : 500_000)) / 1_000_000
  }

  /// The duration in ticks of 48 kHz, rounded to the nearest.
  var opusTicks: Int64 {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return seconds * 48_000 + (rest * 48_000 + (rest < 0 ? -500_000_000 : 500_000_000)) / 1_000_000_000
  }

  /// The duration in seconds, rounded to three decimals.
  var roundedSeconds: Double { Double(milliseconds) / 1_000 }

  /// Creates a duration from ticks of 48 kHz.
  init(opusTicks: Int64) {
    let (seconds, rest) = opusTicks.quotientAndRemainder(dividingBy: 48_000)
    self = .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / 48_000)
  }

  /// The duration in nanoseconds, clamped to about a century either way, so that sums of a few cannot overflow.
  private var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let held = min(max(seconds, -3_000_000_000), 3_000_000_000)
    return held * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}

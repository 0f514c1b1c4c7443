/// For how long the disk took nothing while a call went on: each moment counts once, whatever failed or hung in it, and no
/// moment after the call's end counts.
struct StallTime: Sendable {
  /// When the call ended; nil while it goes on.
  var end: ContinuousClock.Instant?
  private var sum = Duration.zero
  private var countedUntil: ContinuousClock.Instant?

  /// The disk took nothing from one moment to another.
  mutating func add(from start: ContinuousClock.Instant, until stop: ContinuousClock.Instant) {
    let first = max(start, countedUntil ?? start)
    let last = min(stop, end ?? stop)
    if last <= first { return }
    sum += last - first
    countedUntil = last
  }

  /// - Parameter start: since when the disk has taken nothing; nil while it works.
  func total(since start: ContinuousClock.Instant?, now: ContinuousClock.Instant) -> Duration {
    guard let start else { return sum }
    var time = self
    time.add(from: start, until: now)
    return time.sum
  }
}

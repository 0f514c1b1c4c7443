/// So many at once, and then one in an interval: how often a participant may make us do what costs something.
struct RateLimiter: Sendable {
  private let burst: Int
  private let interval: Duration
  /// When all that was taken will have been given back.
  private var isFull: ContinuousClock.Instant?

  /// - Parameters:
  ///   - burst: how many may come at once after a pause; at least 1.
  ///   - interval: how long it takes until there is one more.
  init(burst: Int, interval: Duration) {
    self.burst = max(1, burst)
    self.interval = interval
  }

  /// Takes one, if there is one.
  mutating func take(now: ContinuousClock.Instant) -> Bool {
    guard next(now: now) <= now else { return false }
    isFull = max(isFull ?? now, now) + interval
    return true
  }

  /// When the next one may be taken.
  func next(now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    isFull.map { max(now, $0 - interval * (burst - 1)) } ?? now
  }

  /// Whether nothing has been taken that has not been given back.
  func isUntouched(now: ContinuousClock.Instant) -> Bool {
    isFull.map { $0 <= now } ?? true
  }
}

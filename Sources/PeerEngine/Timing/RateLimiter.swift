internal import Media

/// A token bucket: a burst at once, then one token in an interval. It limits how often a participant can make us do
/// expensive work.
struct RateLimiter: Sendable {
  private let burst: Int
  private let interval: Duration
  /// When the bucket will be full again.
  private var isFull: MonotonicInstant?

  /// - Parameters:
  ///   - burst: how many tokens may be taken at once after a pause; at least 1.
  ///   - interval: the time after which one token is added.
  init(burst: Int, interval: Duration) {
    self.burst = max(1, burst)
    self.interval = interval
  }

  /// Takes a token, if there is one.
  mutating func take(now: MonotonicInstant) -> Bool {
    guard next(now: now) <= now else { return false }
    isFull = max(isFull ?? now, now) + interval
    return true
  }

  /// Returns when the next token may be taken.
  func next(now: MonotonicInstant) -> MonotonicInstant {
    isFull.map { max(now, $0 - interval * (burst - 1)) } ?? now
  }

  /// Returns whether the bucket is full.
  func isUntouched(now: MonotonicInstant) -> Bool {
    isFull.map { $0 <= now } ?? true
  }
}

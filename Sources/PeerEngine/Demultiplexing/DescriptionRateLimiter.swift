/// Lets a participant's offers, or their answers, through at the pace of people; what comes faster waits, and gives way to the
/// next.
///
/// An offer that is followed by another need not be answered: the newer one says all that the older one did. Of answers the
/// newest is the one that belongs to our newest offer.
struct DescriptionRateLimiter: Sendable {
  private var allowance = RateLimiter(burst: 10, interval: .milliseconds(500))
  private var waiting: (sdp: String, due: ContinuousClock.Instant)?

  /// Takes a description; gives it back if it may be read now.
  mutating func pass(_ sdp: String, now: ContinuousClock.Instant) -> String? {
    if waiting == nil, allowance.take(now: now) { return sdp }
    waiting = (sdp, waiting?.due ?? allowance.next(now: now))
    return nil
  }

  /// Gives the description that waits, once its time has come.
  mutating func open(now: ContinuousClock.Instant) -> String? {
    guard let (sdp, due) = waiting, due <= now, allowance.take(now: now) else { return nil }
    waiting = nil
    return sdp
  }

  mutating func forgetWaiting() {
    waiting = nil
  }

  /// When ``open(now:)`` will give something.
  var deadline: ContinuousClock.Instant? { waiting?.due }

  /// Whether nothing is lost when the gate is forgotten.
  func isIdle(now: ContinuousClock.Instant) -> Bool {
    waiting == nil && allowance.isUntouched(now: now)
  }
}

internal import Signalling

/// Lets what a participant says through at a limited rate, because each message costs time that all participants share: reading
/// a description takes up to some milliseconds.
struct SignallingRateLimiter: Sendable {
  private var offers = DescriptionRateLimiter()
  private var answers = DescriptionRateLimiter()
  /// A program trickles each of its addresses once, some dozens at most.
  private var candidates = RateLimiter(burst: 200, interval: .milliseconds(50))

  /// Takes a message; gives it back if it may be acted on now. Descriptions wait otherwise, candidates are dropped.
  mutating func pass(_ message: SignallingMessage, now: ContinuousClock.Instant) -> SignallingMessage? {
    switch message {
    case .offer(let sdp): offers.pass(sdp, now: now).map { .offer($0) }
    case .answer(let sdp): answers.pass(sdp, now: now).map { .answer($0) }
    case .candidate: candidates.take(now: now) ? message : nil
    }
  }

  /// Gives the descriptions that wait, once their time has come.
  mutating func open(now: ContinuousClock.Instant) -> [SignallingMessage] {
    [offers.open(now: now).map { .offer($0) }, answers.open(now: now).map { .answer($0) }].compactMap(\.self)
  }

  mutating func forgetWaiting() {
    offers.forgetWaiting()
    answers.forgetWaiting()
  }

  /// When ``open(now:)`` will give something.
  var deadline: ContinuousClock.Instant? { [offers.deadline, answers.deadline].compactMap(\.self).min() }

  /// Whether nothing is lost when the gate is forgotten.
  func isIdle(now: ContinuousClock.Instant) -> Bool {
    offers.isIdle(now: now) && answers.isIdle(now: now) && candidates.isUntouched(now: now)
  }
}

package import Media
package import Signalling

/// Limits the rate of a participant's signalling messages, because each costs time that all participants share: parsing a
/// description takes up to some milliseconds.
///
/// At once, 10 offers, 10 answers and 200 candidates pass; then an offer and an answer each 500 ms, and a candidate each 50 ms.
package struct SignallingRateLimiter: Sendable {
  private var offers = DescriptionRateLimiter()
  private var answers = DescriptionRateLimiter()
  /// A peer trickles each of its addresses once, some dozens at most.
  private var candidates = TokenBucket(burst: 200, interval: .milliseconds(50))

  package init() {}

  /// Returns the message if it may be handled now. Otherwise a description waits, and a candidate is dropped.
  package mutating func pass(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage? {
    switch message {
    case .offer(let sdp): offers.pass(sdp, now: now).map { .offer($0) }
    case .answer(let sdp): answers.pass(sdp, now: now).map { .answer($0) }
    case .candidate: candidates.consume(now: now) ? message : nil
    }
  }

  /// Removes and returns the waiting descriptions that are due.
  package mutating func open(now: MonotonicInstant) -> [SignallingMessage] {
    [offers.open(now: now).map { .offer($0) }, answers.open(now: now).map { .answer($0) }].compactMap(\.self)
  }

  package mutating func forgetWaiting() {
    offers.forgetWaiting()
    answers.forgetWaiting()
  }

  /// When ``open(now:)`` returns a description.
  package var deadline: MonotonicInstant? { [offers.deadline, answers.deadline].compactMap(\.self).min() }

  /// Whether the limiter can be removed without changing anything.
  package func isIdle(now: MonotonicInstant) -> Bool {
    offers.isIdle(now: now) && answers.isIdle(now: now) && candidates.isFull(now: now)
  }
}

/// Limits the rate of a participant's offers, or of their answers, to what people cause; a description beyond it waits, and
/// the next one replaces it.
///
/// An offer that is followed by another need not be answered, because the newer one supersedes it. Of several answers, the
/// newest one belongs to our newest offer. At once, 10 pass, and then one each 500 ms.
package struct DescriptionRateLimiter: Sendable {
  private var allowance = TokenBucket(burst: 10, interval: .milliseconds(500))
  private var waiting: (sdp: String, due: MonotonicInstant)?

  package init() {}

  /// Returns the description if it may be handled now; otherwise keeps it for ``open(now:)``.
  package mutating func pass(_ sdp: String, now: MonotonicInstant) -> String? {
    if waiting == nil, allowance.consume(now: now) { return sdp }
    waiting = (sdp, waiting?.due ?? allowance.next(now: now))
    return nil
  }

  /// Removes and returns the waiting description when it is due.
  package mutating func open(now: MonotonicInstant) -> String? {
    guard let (sdp, due) = waiting, due <= now, allowance.consume(now: now) else { return nil }
    waiting = nil
    return sdp
  }

  package mutating func forgetWaiting() {
    waiting = nil
  }

  /// When ``open(now:)`` returns a description.
  package var deadline: MonotonicInstant? { waiting?.due }

  /// Whether the limiter can be removed without changing anything.
  package func isIdle(now: MonotonicInstant) -> Bool {
    waiting == nil && allowance.isFull(now: now)
  }
}

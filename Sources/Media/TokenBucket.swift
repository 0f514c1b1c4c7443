/// A token bucket: limits events to a rate, with a burst after a pause. Pure.
///
/// It is full at first. A token is added after each interval, as long as there are fewer than the burst. Times must come from
/// one clock. A time that is a little earlier than the last one, as those of datagrams of several sockets are, adds nothing; if the
/// clock jumps back, tokens are added from the earlier time on.
package struct TokenBucket: Sendable {
  private let burst: Int
  /// The time after which a token is added, in attoseconds, from 1 to ``maximumInterval``.
  private let interval: Int128
  private var tokens: Int
  /// Up to when added tokens are part of `tokens`; nil while the bucket has never been used.
  private var counted: MonotonicInstant?

  /// 40,000 years: added to an instant of any clock, it does not overflow.
  private static let maximumInterval: Int128 = 1 << 100
  /// Times that go back by less than this are those of datagrams that were read in another order.
  private static let maximumReordering = Duration.seconds(2)

  /// Creates a bucket.
  ///
  /// - Parameters:
  ///   - burst: how many tokens may be consumed at once after a pause; below 1, none ever.
  ///   - interval: the time after which a token is added.
  package init(burst: Int, interval: Duration) {
    self.burst = max(0, burst)
    self.interval = min(max(1, interval.attoseconds), Self.maximumInterval)
    tokens = self.burst
  }

  /// Creates a bucket.
  ///
  /// - Parameters:
  ///   - perSecond: how many tokens are added in a second; below 1, none ever. The interval between them is rounded down to
  ///     whole attoseconds.
  ///   - burst: how many tokens may be consumed at once after a pause; below 1, none ever.
  package init(perSecond: Int, burst: Int) {
    let interval = perSecond > 0 ? 1_000_000_000_000_000_000 / Int128(perSecond) : Self.maximumInterval
    self.init(burst: burst, interval: Duration(attoseconds: interval))
  }

  /// Consumes `count` tokens and returns true, or returns false and consumes nothing if fewer are left.
  package mutating func consume(_ count: Int = 1, now: MonotonicInstant) -> Bool {
    refill(now: now)
    guard count <= tokens else { return false }
    tokens -= max(0, count)
    return true
  }

  /// Returns when the next token can be consumed: `now` if there is one.
  package func next(now: MonotonicInstant) -> MonotonicInstant {
    var bucket = self
    let counted = bucket.refill(now: now)
    return bucket.tokens > 0 ? now : counted + Duration(attoseconds: interval)
  }

  /// Returns whether the bucket is as it was at first.
  package func isFull(now: MonotonicInstant) -> Bool {
    var bucket = self
    bucket.refill(now: now)
    return bucket.tokens == burst
  }

  /// Adds the tokens of the time that has passed. Returns up to when they are added: less than an interval before `now`.
  @discardableResult
  private mutating func refill(now: MonotonicInstant) -> MonotonicInstant {
    let before = counted ?? now
    let start = before > now && before - now > Self.maximumReordering ? now : before
    var until = max(start, now)
    defer { counted = until }
    guard start < now, tokens < burst else { return until }
    let (added, rest) = (now - start).attoseconds.quotientAndRemainder(dividingBy: interval)
    let room = burst - tokens
    // The rest counts for the next token, unless the bucket is full.
    if added < Int128(room) { until = now - Duration(attoseconds: rest) }
    tokens += added < Int128(room) ? Int(added) : room
    return until
  }
}

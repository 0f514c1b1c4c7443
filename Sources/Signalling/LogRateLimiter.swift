package import Media

/// Limits the log lines of one kind to a rate, with a burst after a pause, and counts the skipped ones. Pure.
package struct LogRateLimiter: Sendable {
  private var lines: TokenBucket
  private var suppressedCount = 0

  package init(perSecond: Int, burst: Int) {
    lines = TokenBucket(perSecond: perSecond, burst: burst)
  }

  /// Consumes one line. All times must come from one clock.
  ///
  /// - Returns: the number of lines skipped before this one, or nil if this one must be skipped too.
  package mutating func consume(now: MonotonicInstant) -> Int? {
    guard lines.consume(now: now) else {
      suppressedCount += 1
      return nil
    }
    defer { suppressedCount = 0 }
    return suppressedCount
  }
}

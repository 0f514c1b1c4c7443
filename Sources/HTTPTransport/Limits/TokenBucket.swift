package import NIOCore

/// Limits events to a rate, with a burst after a pause. Pure.
package struct TokenBucket: Sendable {
  private let perSecond: Double
  private let burst: Double
  private var tokens: Double
  private var last: NIODeadline

  package init(perSecond: Int, burst: Int, now: NIODeadline) {
    self.perSecond = Double(perSecond)
    self.burst = Double(burst)
    tokens = Double(burst)
    last = now
  }

  /// Consumes `count` tokens and returns true, or returns false if fewer are left.
  package mutating func consume(_ count: Int = 1, now: NIODeadline) -> Bool {
    let passed = Double(max(0, (now - last).nanoseconds)) / 1e9
    last = now
    tokens = min(burst, tokens + passed * perSecond)
    guard tokens >= Double(count) else { return false }
    tokens -= Double(count)
    return true
  }
}

/// Limits the log lines of one kind to a rate, with a burst after a pause, and counts the skipped ones. Pure.
package struct LogRateLimiter: Sendable {
  private var lines: TokenBucket
  private var suppressedCount = 0

  package init(perSecond: Int, burst: Int, now: NIODeadline) {
    lines = TokenBucket(perSecond: perSecond, burst: burst, now: now)
  }

  /// Consumes one line.
  ///
  /// - Returns: the number of lines skipped before this one, or nil if this one must be skipped too.
  package mutating func consume(now: NIODeadline) -> Int? {
    guard lines.consume(now: now) else {
      suppressedCount += 1
      return nil
    }
    defer { suppressedCount = 0 }
    return suppressedCount
  }
}

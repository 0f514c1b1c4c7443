package import NIOCore

/// Allows so many log lines of a kind a second, and a burst after a pause; those that are skipped are counted. Pure.
package struct LogRateLimiter: Sendable {
  private var lines: TokenBucket
  private var leftOut = 0

  package init(perSecond: Int, burst: Int, now: NIODeadline) {
    lines = TokenBucket(perSecond: perSecond, burst: burst, now: now)
  }

  /// Takes a line.
  ///
  /// - Returns: how many were skipped before it; nil when it is to be skipped too.
  package mutating func consume(now: NIODeadline) -> Int? {
    guard lines.consume(now: now) else {
      leftOut += 1
      return nil
    }
    defer { leftOut = 0 }
    return leftOut
  }
}

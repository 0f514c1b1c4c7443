package import NIOCore

/// Allows so many events a second, and a burst after a pause. Pure.
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

  /// Takes so many tokens, if they are there.
  package mutating func consume(_ count: Int = 1, now: NIODeadline) -> Bool {
    let passed = Double(max(0, (now - last).nanoseconds)) / 1e9
    last = now
    tokens = min(burst, tokens + passed * perSecond)
    guard tokens >= Double(count) else { return false }
    tokens -= Double(count)
    return true
  }
}

package import Media

/// What the recordings of one process share: an id, and one reading of the wall clock. Their dates follow from it by the
/// monotonic clock, so setting the wall clock during a call moves no recording against another one.
public struct RecordingSession: Sendable, Hashable {
  /// 32 hexadecimal digits, random.
  public let id: String
  package let clock: WallClock

  /// Reads the clocks.
  public init() {
    self.init(clock: .read())
  }

  package init(clock: WallClock) {
    var generator = SystemRandomNumberGenerator()
    id = (0..<4).map { _ in
      let digits = String(UInt32.random(in: .min ... .max, using: &generator), radix: 16)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
    self.clock = clock
  }

  /// Returns seconds since 1970-01-01 00:00 UTC at a moment.
  public func secondsSince1970(at moment: ContinuousClock.Instant) -> Double {
    clock.seconds(at: MonotonicInstant(moment))
  }
}

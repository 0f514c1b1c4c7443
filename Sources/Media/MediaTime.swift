/// A point on a track's timeline, counted in ticks of the track's clock.
///
/// For received frames this is the RTP timestamp, unwrapped to 64 bits, so it starts anywhere and never jumps back by
/// 2³². For frames of a file it is the time since the file's start. Arithmetic wraps instead of trapping, because the
/// ticks can come from the network.
public struct MediaTime: Sendable, Hashable, CustomStringConvertible {
  /// Ticks since the timeline's origin.
  public var ticks: Int64
  /// Ticks a second; always positive.
  public let rate: Int32

  /// - Parameters:
  ///   - ticks: ticks since the origin.
  ///   - rate: ticks a second; a rate below 1 becomes 1.
  public init(ticks: Int64, rate: Int32) {
    self.ticks = ticks
    self.rate = max(1, rate)
  }

  /// The time in seconds since the origin.
  public var seconds: Double { Double(ticks) / Double(rate) }

  /// The time in nanoseconds since the origin, rounded towards zero and clamped to 64 bits.
  public var nanoseconds: Int64 {
    let (whole, rest) = ticks.quotientAndRemainder(dividingBy: Int64(rate))
    let (scaled, overflow) = whole.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return ticks < 0 ? .min : .max }
    let fraction = rest * 1_000_000_000 / Int64(rate)
    let (sum, tooLarge) = scaled.addingReportingOverflow(fraction)
    return tooLarge ? (ticks < 0 ? .min : .max) : sum
  }

  /// Returns how long after `other` this is, each time converted with its own rate.
  public func duration(since other: MediaTime) -> Duration {
    if rate == other.rate {
      return MediaTime(ticks: ticks &- other.ticks, rate: rate).duration
    }
    return duration - other.duration
  }

  /// The time since the origin.
  public var duration: Duration { .nanoseconds(nanoseconds) }

  public var description: String { "\(ticks)/\(rate)" }
}

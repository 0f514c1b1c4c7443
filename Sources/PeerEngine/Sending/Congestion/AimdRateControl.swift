package import Media

/// Raises and lowers the rate by what the delay says of the line: up by 8 % a second, by a packet a round trip near the
/// rate at which the line was full, down to 85 % of what goes through (draft-ietf-rmcat-gcc-02, 5.5).
package struct AimdRateControl: Sendable {
  /// What is left of the rate that goes through when the line is full.
  private static let decrease = 0.85
  /// The growth in a second, and that of a path that has never been full: the natural logarithms of 1.08 and of 2.
  private static let growth = 0.076_961
  private static let firstGrowth = 0.693_147
  private static let packetBits = 1_200.0 * 8
  private static let framesPerSecond = 30.0

  /// Bits a second.
  package private(set) var rate: Double
  private var capacity = LinkCapacityEstimator()
  private var lastChange: MonotonicInstant?
  private var lastDecrease: MonotonicInstant?
  /// Whether the line has ever been full.
  package var hasFallen: Bool { lastDecrease != nil }

  private var isHolding = false

  package init(rate: Double) {
    self.rate = rate
  }

  /// - Parameters:
  ///   - acknowledged: what goes through, once that is known.
  ///   - sent: what has been sent in the last second.
  ///   - limits: the rate never leaves these.
  package mutating func update(
    _ usage: TrendlineEstimator.Usage, acknowledged: Double?, sent: Double, roundTrip: Duration,
    limits: ClosedRange<Double>,
    now: MonotonicInstant
  ) {
    switch usage {
    case .over:
      lower(acknowledged: acknowledged, roundTrip: roundTrip, now: now)
    case .under:
      // The queue empties: to send more now would only keep it.
      isHolding = true
      lastChange = now
    case .normal:
      if !isHolding { raise(acknowledged: acknowledged, sent: sent, roundTrip: roundTrip, now: now) }
      isHolding = false
      lastChange = now
    }
    rate = min(max(rate, limits.lowerBound), limits.upperBound)
  }

  /// Takes a rate that was measured to go through.
  package mutating func proved(_ rate: Double, limits: ClosedRange<Double>) {
    if let range = capacity.range, rate > range.upperBound { capacity.reset() }
    self.rate = min(max(rate, limits.lowerBound), limits.upperBound)
  }

  private mutating func lower(acknowledged: Double?, roundTrip: Duration, now: MonotonicInstant) {
    let through = acknowledged ?? rate
    isHolding = true
    lastChange = now
    // What was done a moment ago cannot have shown yet, unless the rate is far from what goes through.
    let pause = min(max(roundTrip, .milliseconds(10)), .milliseconds(200))
    if let lastDecrease, now - lastDecrease < pause, through > rate / 2 { return }
    lastDecrease = now
    if let range = capacity.range, through < range.lowerBound { capacity.reset() }
    var lowered = through * Self.decrease
    if lowered > rate, let estimate = capacity.estimate { lowered = estimate * Self.decrease }
    rate = min(rate, lowered)
    capacity.wasFull(at: through)
  }

  private mutating func raise(
    acknowledged: Double?, sent: Double, roundTrip: Duration, now: MonotonicInstant
  ) {
    if let range = capacity.range, let acknowledged, acknowledged > range.upperBound { capacity.reset() }
    guard let acknowledged, let lastChange else { return }
    // Anyone who sends little learns little, and a keyframe's short burst proves nothing.
    let limit = min(acknowledged, sent) * 1.5 + 10_000
    guard rate < limit else { return }
    let seconds = min(1, (now - lastChange).seconds)
    let grown: Double
    if capacity.estimate == nil {
      // The exponential function by its series, which is exact enough for a second at most.
      let exponent = (lastDecrease == nil ? Self.firstGrowth : Self.growth) * seconds
      grown = max(rate * (1 + exponent + exponent * exponent / 2), rate + 1_000 * seconds)
    } else {
      let frame = rate / Self.framesPerSecond
      let packet = frame / max(1, (frame / Self.packetBits).rounded(.up))
      let response = roundTrip.seconds + 0.1
      grown = rate + max(4_000, packet / response) * seconds
    }
    rate = min(grown, limit)
  }
}

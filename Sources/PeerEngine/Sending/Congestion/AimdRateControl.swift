package import Media

/// Raises and lowers the rate by the delay-based state of the path: up by 8 % a second, by a packet per round trip near the
/// rate at which the path was congested, down to 85 % of the acknowledged bitrate (draft-ietf-rmcat-gcc-02, 5.5).
package struct AimdRateControl: Sendable {
  /// The factor by which the acknowledged bitrate is lowered when the path is congested.
  private static let decrease = 0.85
  /// The growth in a second, and that on a path that has never been congested: the natural logarithms of 1.08 and of 2.
  private static let growth = 0.076_961
  private static let firstGrowth = 0.693_147
  private static let packetBits = 1_200.0 * 8
  private static let framesPerSecond = 30.0

  /// The rate in bits a second.
  package private(set) var rate: Double
  private var capacity = LinkCapacityEstimator()
  private var lastChange: MonotonicInstant?
  private var lastDecrease: MonotonicInstant?
  /// Whether the path has ever been congested.
  package var hasFallen: Bool { lastDecrease != nil }

  private var isHolding = false

  package init(rate: Double) {
    self.rate = rate
  }

  /// - Parameters:
  ///   - acknowledged: the acknowledged bitrate, once it is known.
  ///   - sent: the bitrate sent in the last second.
  ///   - limits: the minimum and maximum of the rate.
  package mutating func update(
    _ usage: TrendlineEstimator.Usage, acknowledged: Double?, sent: Double, roundTrip: Duration,
    limits: ClosedRange<Double>,
    now: MonotonicInstant
  ) {
    switch usage {
    case .over:
      lower(acknowledged: acknowledged, roundTrip: roundTrip, now: now)
    case .under:
      // The queue drains: sending more now would keep it.
      isHolding = true
      lastChange = now
    case .normal:
      if !isHolding { raise(acknowledged: acknowledged, sent: sent, roundTrip: roundTrip, now: now) }
      isHolding = false
      lastChange = now
    }
    rate = min(max(rate, limits.lowerBound), limits.upperBound)
  }

  /// Applies a rate that a probe has measured.
  package mutating func applyProbeResult(_ rate: Double, limits: ClosedRange<Double>) {
    if let range = capacity.range, rate > range.upperBound { capacity.reset() }
    self.rate = min(max(rate, limits.lowerBound), limits.upperBound)
  }

  private mutating func lower(acknowledged: Double?, roundTrip: Duration, now: MonotonicInstant) {
    let through = acknowledged ?? rate
    isHolding = true
    lastChange = now
    // The effect of a recent decrease cannot be visible yet, unless the rate is far from the acknowledged bitrate.
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
    // A low bitrate says little about the capacity, and a keyframe's short burst proves nothing.
    let limit = min(acknowledged, sent) * 1.5 + 10_000
    guard rate < limit else { return }
    let seconds = min(1, (now - lastChange).seconds)
    let grown: Double
    if capacity.estimate == nil {
      // The exponential function by its series, which is exact enough for at most a second.
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

/// The bitrate that the path carried whenever it was congested, and its deviation (libwebrtc's LinkCapacityEstimator): near
/// it, the rate is raised carefully.
package struct LinkCapacityEstimator: Sendable {
  private static let smoothing = 0.05

  /// The mean in kilobits a second.
  private var mean: Double?
  /// The variance relative to the mean.
  private var variance = 0.4

  package init() {}

  /// The estimate in bits a second; nil while the path has not been congested.
  package var estimate: Double? { mean.map { $0 * 1_000 } }

  /// The range of the capacity, within three standard deviations.
  package var range: ClosedRange<Double>? {
    guard let mean else { return nil }
    let margin = 3 * (variance * mean).squareRoot()
    return max(0, mean - margin) * 1_000...(mean + margin) * 1_000
  }

  /// Adds a bitrate that was acknowledged while the path was congested.
  package mutating func wasFull(at bitrate: Double) {
    let sample = bitrate / 1_000
    let next = mean.map { $0 * (1 - Self.smoothing) + sample * Self.smoothing } ?? sample
    mean = next
    let error = next - sample
    variance = variance * (1 - Self.smoothing) + Self.smoothing * error * error / max(next, 1)
    variance = min(max(variance, 0.4), 2.5)
  }

  /// Discards the estimate, because the path's capacity has changed.
  package mutating func reset() { mean = nil }
}

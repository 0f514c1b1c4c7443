package import Media

/// The loss-based rate: lowered when more than a tenth is lost, raised when hardly anything is, and otherwise unchanged,
/// because a little loss is normal on a radio link (draft-ietf-rmcat-gcc-02, 6).
package struct LossBasedEstimator: Sendable {
  /// The minimum number of packets, and the minimum time between two updates.
  private static let sample = 20
  private static let interval: Duration = .milliseconds(500)
  private static let lowLossThreshold = 0.02
  /// The loss up to which it is attributed to the path itself if no queue builds.
  private static let pathLossThreshold = 0.08
  private static let highLossThreshold = 0.10
  /// The growth in a second.
  private static let growth = 0.08
  private static let quickGrowth = 0.4

  /// The rate in bits a second.
  package private(set) var rate: Double
  /// The share of packets that was lost recently, 0 to 1.
  package private(set) var fractionLost = 0.0

  /// Whether loss has ever lowered the rate.
  package var hasFallen: Bool { lastDecrease != nil }

  /// Whether loss, or a full queue, has lowered the rate recently.
  package func fell(within span: Duration, now: MonotonicInstant) -> Bool {
    lastDecrease.map { now - $0 <= span } ?? false
  }

  private var expected = 0
  private var lost = 0
  private var lastJudgement: MonotonicInstant?
  private var lastDecrease: MonotonicInstant?

  package init(rate: Double) {
    self.rate = rate
  }

  /// Adds the counts of expected and lost packets.
  ///
  /// - Parameters:
  ///   - sent: the bitrate that is sent, which the rate need not exceed by much.
  ///   - isUncongested: whether the delay shows that no queue builds: then a loss of some percent is caused by the path
  ///     itself, and is no reason not to raise the rate.
  ///   - reportedLimit: whether the receiver reports a limit of its own: then this rate is raised faster.
  package mutating func received(
    expected: Int, lost: Int, isUncongested: Bool, sent: Double, roundTrip: Duration, limits: ClosedRange<Double>,
    reportedLimit: Bool = false, now: MonotonicInstant
  ) {
    self.expected += max(0, expected)
    self.lost += max(0, lost)
    guard let last = lastJudgement else {
      lastJudgement = now
      return
    }
    guard self.expected >= Self.sample, now - last >= Self.interval else { return }
    let fraction = min(1, Double(self.lost) / Double(self.expected))
    fractionLost += (fraction - fractionLost) / 2
    let seconds = min(2, (now - last).seconds)
    if fraction > Self.highLossThreshold {
      if lastDecrease.map({ now - $0 >= roundTrip + .milliseconds(300) }) ?? true {
        rate = min(rate, sent) * (1 - 0.5 * fraction)
        lastDecrease = now
      }
    } else if fraction < Self.lowLossThreshold || (isUncongested && fractionLost < Self.pathLossThreshold) {
      let growth = reportedLimit ? Self.quickGrowth : Self.growth
      rate = min(rate * (1 + growth * seconds) + 1_000, max(rate, sent * 1.5))
    }
    rate = min(max(rate, limits.lowerBound), limits.upperBound)
    self.expected = 0
    self.lost = 0
    lastJudgement = now
  }

  /// Applies a rate that a probe has measured.
  package mutating func applyProbeResult(_ rate: Double) { self.rate = max(self.rate, rate) }

  /// Lowers the rate because the round-trip time indicates a full queue, used if there is no finer measurement.
  package mutating func queueWasSeen(sent: Double, limits: ClosedRange<Double>, now: MonotonicInstant) {
    rate = max(min(rate, sent) * 0.85, limits.lowerBound)
    lastDecrease = now
  }
}

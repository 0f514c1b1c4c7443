import Media

/// How Opus prepares for loss: at once when it is reported, and for a while after it has gone.
struct OpusLossTuning: Sendable {
  /// The loss to be prepared for, in per cent.
  private(set) var expectedLoss = 0
  /// Whether each packet carries a copy of the one before.
  private(set) var correctsErrors = false

  /// From which loss on copies are worth their bits, and below which they are not, in per cent.
  private static let worthwhile = 1.0
  private static let notWorthwhile = 0.5
  /// More than this is not prepared for: the copies would leave nothing for the audio itself.
  private static let most = 40.0
  /// In how many seconds a reported loss is forgotten by half.
  private static let halfLife = 5.0

  private var loss = 0.0
  private var reported: ContinuousClock.Instant?

  /// The line was said to lose a share of packets.
  ///
  /// - Parameter fraction: 0 to 1.
  mutating func follow(fractionLost fraction: Double, now: ContinuousClock.Instant) {
    let percent = fraction.isFinite ? min(max(0, fraction * 100), Self.most) : 0
    let passed = reported.map { max(0, (now - $0).seconds) } ?? 0
    reported = now
    // Halves in `halfLife`, near enough, without a power function.
    let kept = loss * Self.halfLife / (Self.halfLife + passed)
    loss = max(percent, kept)
    correctsErrors = correctsErrors ? loss >= Self.notWorthwhile : loss >= Self.worthwhile
    expectedLoss = correctsErrors ? max(1, Int(loss.rounded(.up))) : 0
  }
}

package import Media

/// Selects the frame rate and the frame size when the quantizer alone does not keep the bitrate.
///
/// The quality levels lead from the source's own rate and size down: first half the frames, then smaller ones. An
/// encoder at the limit of its quantizer, or frames that must be skipped, cause a step down within a second or two.
/// Steps up are one level at a time, after low quantizers for several seconds, and wait longer each time that a level
/// proved too high.
package struct QualityLadder: Sendable {
  /// One combination of frame rate and size.
  package struct QualityLevel: Sendable, Hashable {
    /// One frame of this many is encoded.
    package let divisor: Int
    package let size: VideoSize
  }

  /// From the source's own rate and size down to the lowest level.
  package let qualityLevels: [QualityLevel]
  package private(set) var index = 0
  package var qualityLevel: QualityLevel { qualityLevels[index] }

  /// Average quantizers (0 to 63): from `highQP` on a level is too high, up to `lowQP` the next one may be possible.
  private static let highQP = 52.0
  private static let lowQP = 30.0
  private static let veryLowQP = 16.0
  /// The fractions of skipped frames at which a level is too high, by one step and by two.
  private static let highSkipShare = 0.25
  private static let veryHighSkipShare = 0.5
  /// The bits for each pixel below which even the coarsest quantizer is not enough; then it steps down at once.
  private static let minimumBitsForPixel = 0.004
  /// The measurement window.
  private static let window = Duration.seconds(1)
  private static let fewestVideoFrames = 4
  /// The number of consecutive windows with a low quantizer before a step up, at first and at most, and the number of
  /// windows with a very low one that always suffices.
  private static let initialUpgradeWindows = 8
  private static let maximumUpgradeWindows = 64
  private static let quickUpgradeWindows = 3
  /// A level that must be left within this time after a step up was a mistake.
  private static let trial = Duration.seconds(15)

  private let framesPerSecond: Double
  private var windowStart: ContinuousClock.Instant?
  private var quantizers = 0
  private var encoded = 0
  private var omitted = 0
  private var highQPWindows = 0
  private var lowQPWindows = 0
  private var veryLowQPWindows = 0
  private var upgradeWindows = Self.initialUpgradeWindows
  private var wentUp: ContinuousClock.Instant?

  /// - Parameters:
  ///   - size: the size of the source's frames.
  ///   - framesPerSecond: the frame rate of the source.
  package init(size: VideoSize, framesPerSecond: Double) {
    self.framesPerSecond = max(0.1, framesPerSecond)
    var qualityLevels = [QualityLevel(divisor: 1, size: size)]
    let divisor = framesPerSecond >= Self.fewestToHalve ? 2 : 1
    if divisor > 1 { qualityLevels.append(QualityLevel(divisor: divisor, size: size)) }
    for eighths in [6, 4, 3, 2] {
      let smaller = VideoSize(width: size.width * eighths / 16 * 2, height: size.height * eighths / 16 * 2)
      if min(smaller.width, smaller.height) < Self.minimumSide { break }
      qualityLevels.append(QualityLevel(divisor: divisor, size: smaller))
    }
    self.qualityLevels = qualityLevels
  }

  /// Lower frame rates than this are never halved.
  private static let fewestToHalve = 14.0
  /// Frames are not made smaller than this.
  private static let minimumSide = 90

  /// Adapts to a new bitrate; steps down at once if the present level is impossible with it.
  package mutating func adapt(toBitrate bitrate: Int, now: ContinuousClock.Instant) {
    while index + 1 < qualityLevels.count, bitsForPixel(bitrate, on: qualityLevel) < Self.minimumBitsForPixel {
      goDown(1, now: now)
    }
  }

  /// Records an encoded frame; requested keyframes are not recorded.
  ///
  /// - Parameter quantizer: 0 (finest) to 63.
  package mutating func encoded(quantizer: Int, bitrate: Int, now: ContinuousClock.Instant) {
    encoded += 1
    quantizers += quantizer
    judge(bitrate: bitrate, now: now)
  }

  /// Records a frame that was skipped to keep the bitrate; frames that the divisor skips are not recorded.
  package mutating func skipped(bitrate: Int, now: ContinuousClock.Instant) {
    omitted += 1
    judge(bitrate: bitrate, now: now)
  }

  private mutating func judge(bitrate: Int, now: ContinuousClock.Instant) {
    guard let start = windowStart else {
      windowStart = now
      return
    }
    let videoFrames = encoded + omitted
    if now - start < Self.window || videoFrames < Self.fewestVideoFrames { return }
    let share = Double(omitted) / Double(videoFrames)
    let quantizer = encoded == 0 ? 63 : Double(quantizers) / Double(encoded)
    beginWindow(now: now)

    let isTooHigh = quantizer >= Self.highQP || share >= Self.highSkipShare
    highQPWindows = isTooHigh ? highQPWindows + 1 : 0
    lowQPWindows = quantizer <= Self.lowQP && !isTooHigh ? lowQPWindows + 1 : 0
    veryLowQPWindows = quantizer <= Self.veryLowQP && !isTooHigh ? veryLowQPWindows + 1 : 0
    if share >= Self.veryHighSkipShare {
      goDown(2, now: now)
    } else if highQPWindows >= 2 {
      goDown(1, now: now)
    } else if lowQPWindows >= upgradeWindows || veryLowQPWindows >= Self.quickUpgradeWindows {
      goUp(bitrate: bitrate, now: now)
    }
  }

  private mutating func goDown(_ steps: Int, now: ContinuousClock.Instant) {
    let lower = min(index + steps, qualityLevels.count - 1)
    if lower == index { return }
    index = lower
    if let up = wentUp, now - up < Self.trial { upgradeWindows = min(upgradeWindows * 2, Self.maximumUpgradeWindows) }
    wentUp = nil
    beginWindow(now: now)
    forget()
  }

  private mutating func goUp(bitrate: Int, now: ContinuousClock.Instant) {
    guard index > 0, bitsForPixel(bitrate, on: qualityLevels[index - 1]) >= Self.minimumBitsForPixel else { return }
    // A level that was right for this long restores the initial number.
    if let up = wentUp, now - up >= Self.trial * 4 { upgradeWindows = Self.initialUpgradeWindows }
    index -= 1
    wentUp = now
    beginWindow(now: now)
    forget()
  }

  private mutating func beginWindow(now: ContinuousClock.Instant) {
    windowStart = now
    quantizers = 0
    encoded = 0
    omitted = 0
  }

  private mutating func forget() {
    highQPWindows = 0
    lowQPWindows = 0
    veryLowQPWindows = 0
  }

  private func bitsForPixel(_ bitrate: Int, on qualityLevel: QualityLevel) -> Double {
    let pixels =
      Double(qualityLevel.size.width) * Double(qualityLevel.size.height) * framesPerSecond
      / Double(qualityLevel.divisor)
    return Double(bitrate) / max(1, pixels)
  }
}

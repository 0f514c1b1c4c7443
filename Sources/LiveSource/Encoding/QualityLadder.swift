package import Media

/// Selects the frame rate and the frame size when the quantizer alone does not keep the bitrate.
///
/// The quality levels lead from the source's own rate and size down: first half the frames, then smaller ones. An
/// encoder at the limit of its quantizer, or frames that must be skipped, cause a step down within a second or two.
/// Steps up are one level at a time, after fine quantizers for several seconds, and wait longer each time that a level
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

  /// Average quantizers (0 to 63): at `coarse` a level is too high, at `fine` the next one may be possible.
  private static let coarse = 52.0
  private static let fine = 30.0
  private static let veryFine = 16.0
  /// The fractions of skipped frames at which a level is too high, by one step and by two.
  private static let leftOut = 0.25
  private static let maximumLeftOut = 0.5
  /// The bits for each pixel below which even the coarsest quantizer is not enough; then it steps down at once.
  private static let leastBitsForPixel = 0.004
  /// The measurement window.
  private static let window = Duration.seconds(1)
  private static let fewestVideoFrames = 4
  /// The number of consecutive fine windows before a step up, at first and at most, and the number of very fine ones
  /// that always suffice.
  private static let firstPatience = 8
  private static let maximumPatience = 64
  private static let shortPatience = 3
  /// A level that must be left within this time after a step up was a mistake.
  private static let trial = Duration.seconds(15)

  private let framesPerSecond: Double
  private var windowStart: ContinuousClock.Instant?
  private var quantizers = 0
  private var encoded = 0
  private var omitted = 0
  private var coarseWindows = 0
  private var fineWindows = 0
  private var veryFineWindows = 0
  private var patience = Self.firstPatience
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
      if min(smaller.width, smaller.height) < Self.shortestSide { break }
      qualityLevels.append(QualityLevel(divisor: divisor, size: smaller))
    }
    self.qualityLevels = qualityLevels
  }

  /// Lower frame rates than this are never halved.
  private static let fewestToHalve = 14.0
  /// Frames are not made smaller than this.
  private static let shortestSide = 90

  /// Adapts to a new bitrate; steps down at once if the present level is impossible with it.
  package mutating func adapt(toBitrate bitrate: Int, now: ContinuousClock.Instant) {
    while index + 1 < qualityLevels.count, bitsForPixel(bitrate, on: qualityLevel) < Self.leastBitsForPixel {
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
  package mutating func leftOut(bitrate: Int, now: ContinuousClock.Instant) {
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

    let isCoarse = quantizer >= Self.coarse || share >= Self.leftOut
    coarseWindows = isCoarse ? coarseWindows + 1 : 0
    fineWindows = quantizer <= Self.fine && !isCoarse ? fineWindows + 1 : 0
    veryFineWindows = quantizer <= Self.veryFine && !isCoarse ? veryFineWindows + 1 : 0
    if share >= Self.maximumLeftOut {
      goDown(2, now: now)
    } else if coarseWindows >= 2 {
      goDown(1, now: now)
    } else if fineWindows >= patience || veryFineWindows >= Self.shortPatience {
      goUp(bitrate: bitrate, now: now)
    }
  }

  private mutating func goDown(_ steps: Int, now: ContinuousClock.Instant) {
    let lower = min(index + steps, qualityLevels.count - 1)
    if lower == index { return }
    index = lower
    if let up = wentUp, now - up < Self.trial { patience = min(patience * 2, Self.maximumPatience) }
    wentUp = nil
    beginWindow(now: now)
    forget()
  }

  private mutating func goUp(bitrate: Int, now: ContinuousClock.Instant) {
    guard index > 0, bitsForPixel(bitrate, on: qualityLevels[index - 1]) >= Self.leastBitsForPixel else { return }
    // A level that was right for this long restores the initial patience.
    if let up = wentUp, now - up >= Self.trial * 4 { patience = Self.firstPatience }
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
    coarseWindows = 0
    fineWindows = 0
    veryFineWindows = 0
  }

  private func bitsForPixel(_ bitrate: Int, on qualityLevel: QualityLevel) -> Double {
    let pixels =
      Double(qualityLevel.size.width) * Double(qualityLevel.size.height) * framesPerSecond
      / Double(qualityLevel.divisor)
    return Double(bitrate) / max(1, pixels)
  }
}

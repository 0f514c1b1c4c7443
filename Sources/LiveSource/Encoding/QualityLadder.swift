package import Media

/// How many frames are sent, and how large, when the quantizer alone does not hold the bitrate.
///
/// The rungs lead from the source's own rate and size down: first half the frames, then smaller ones. An encoder at the
/// end of its quantizers, or frames that have to be skipped, lead down within a second or two. Up it goes one rung at a
/// time, after fine quantizers for several seconds, and later each time that a rung turned out to be too high.
package struct QualityLadder: Sendable {
  /// One combination of rate and size.
  package struct QualityLevel: Sendable, Hashable {
    /// One of so many frames is encoded.
    package let divisor: Int
    package let size: VideoSize
  }

  /// From the source's own rate and size down to the least.
  package let qualityLevels: [QualityLevel]
  package private(set) var index = 0
  package var qualityLevel: QualityLevel { qualityLevels[index] }

  /// Quantizers (0 to 63) from which on a rung is too high, or below which the next could do.
  private static let coarse = 52.0
  private static let fine = 30.0
  private static let veryFine = 16.0
  /// The share of frames skipped at which a rung is too high.
  private static let leftOut = 0.25
  private static let maximumLeftOut = 0.5
  /// Bits for each pixel below which not even the coarsest quantizer can do; there it goes down at once.
  private static let leastBitsForPixel = 0.004
  /// How long is measured before it is judged.
  private static let window = Duration.seconds(1)
  private static let fewestVideoFrames = 4
  /// How many fine windows lead up, at first and at most, and how many very fine ones always do.
  private static let firstPatience = 8
  private static let maximumPatience = 64
  private static let shortPatience = 3
  /// A rung that is left again so soon after it was gone up to was a mistake.
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
  ///   - size: the source's frames.
  ///   - framesPerSecond: how many of them it gives.
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

  /// Fewer frames a second than this are never halved.
  private static let fewestToHalve = 14.0
  /// Frames are not made smaller than this.
  private static let shortestSide = 90

  /// The bitrate is another from now on; goes down at once where it is hopeless otherwise.
  package mutating func adapt(toBitrate bitrate: Int, now: ContinuousClock.Instant) {
    while index + 1 < qualityLevels.count, bitsForPixel(bitrate, on: qualityLevel) < Self.leastBitsForPixel {
      goDown(1, now: now)
    }
  }

  /// A frame was encoded; keyframes that were requested do not count.
  ///
  /// - Parameter quantizer: 0 (finest) to 63.
  package mutating func encoded(quantizer: Int, bitrate: Int, now: ContinuousClock.Instant) {
    encoded += 1
    quantizers += quantizer
    judge(bitrate: bitrate, now: now)
  }

  /// A frame had to be skipped to hold the bitrate; those that the divisor skips do not count.
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
    // What was right for so long need not be doubted any more.
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

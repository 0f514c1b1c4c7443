import Media

/// What may still be sent so that the bitrate holds over every second, keyframes included.
///
/// A bucket that runs out at the bitrate: each frame fills it by its bits. While there is anything in it, the next frame
/// has to be skipped. Time in which less was sent than allowed is remembered for a tenth of a second only, so that a
/// pause is not followed by a burst. A keyframe of the usual size is no reason to skip those behind it, if the last
/// second had room for it: the encoder makes up for it with coarser ones. Beside the bucket, the last second is added up,
/// so that frames make room for a keyframe in just the second that it falls into, if they were not coarse enough.
struct BitBudget: Sendable {
  /// How long unused bitrate is remembered, in seconds.
  private static let credit = 0.1
  /// How much of a keyframe is not asked back, in seconds at the bitrate.
  private static let keyframeLoan = 0.12
  /// How long, in seconds at the new bitrate, frames are skipped at most for what was sent before the bitrate fell.
  private static let maximumDebt = 0.3

  /// The share of the bitrate from which on a second is full and frames are skipped; what is left is for keyframes.
  private static let full = 0.99
  /// What a bitrate is held to, so that no sum of it can overflow.
  private static let bitrates = 1...1_000_000_000_000

  private(set) var bitrate: Int
  /// What was sent in the last second, since the bitrate last fell.
  private var recent: [(time: ContinuousClock.Instant, bits: Int)] = []
  private var filling = 0.0
  private var measured: ContinuousClock.Instant?

  /// - Parameter bitrate: bits a second, above zero.
  init(bitrate: Int) {
    self.bitrate = Self.held(bitrate)
  }

  private static func held(_ bitrate: Int) -> Int {
    min(max(bitrates.lowerBound, bitrate), bitrates.upperBound)
  }

  /// The bitrate is another from now on.
  mutating func adapt(toBitrate bitrate: Int, now: ContinuousClock.Instant) {
    settle(now: now)
    let falls = bitrate < self.bitrate
    self.bitrate = Self.held(bitrate)
    if !falls { return }
    let rate = Double(self.bitrate)
    filling = min(max(filling, -Self.credit * rate), Self.maximumDebt * rate)
    recent.removeAll(keepingCapacity: true)
  }

  /// A frame was sent.
  mutating func spend(bits: Int, isKeyframe: Bool = false, now: ContinuousClock.Instant) {
    settle(now: now)
    let hasRoom = lastSecond(now: now) + Double(bits) <= Double(bitrate)
    let loan = isKeyframe && hasRoom ? Self.keyframeLoan * Double(bitrate) : 0
    filling += max(0, Double(bits) - loan)
    recent.removeAll { now - $0.time >= .seconds(1) }
    recent.append((now, bits))
  }

  /// Whether another frame may be sent.
  func allows(now: ContinuousClock.Instant) -> Bool {
    if filling(at: now) > 0 { return false }
    return lastSecond(now: now) <= Self.full * Double(bitrate)
  }

  /// What was sent in the last second, in bits.
  private func lastSecond(now: ContinuousClock.Instant) -> Double {
    recent.reduce(0) { now - $1.time >= .seconds(1) ? $0 : $0 + Double($1.bits) }
  }

  private mutating func settle(now: ContinuousClock.Instant) {
    filling = filling(at: now)
    measured = max(measured ?? now, now)
  }

  private func filling(at now: ContinuousClock.Instant) -> Double {
    guard let measured, now > measured else { return filling }
    let rate = Double(bitrate)
    return max(filling - (now - measured).seconds * rate, -Self.credit * rate)
  }
}

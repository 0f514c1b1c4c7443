import Media

/// Limits the bits that may be sent, so that the bitrate holds over every second, keyframes included.
///
/// A leaky bucket that drains at the bitrate and is filled by each frame's bits. While it is not empty, the next frame
/// must be skipped. Unused bitrate is credited for a tenth of a second only, so that a burst does not follow a pause. A
/// keyframe of the usual size is no reason to skip the frames after it, if the last second had room for it: the encoder
/// compensates with coarser frames. In addition to the bucket, the bits of the last second are added up, so that frames
/// are skipped for a keyframe within just the second that contains it, if they were not coarse enough.
package struct BitBudget: Sendable {
  /// How long unused bitrate is credited, in seconds.
  private static let credit = 0.1
  /// The part of a keyframe that does not fill the bucket, in seconds at the bitrate.
  private static let keyframeAllowance = 0.12
  /// The maximum time, in seconds at the new bitrate, for which frames are skipped because of bits sent before the
  /// bitrate fell.
  private static let maximumDeficit = 0.3

  /// The fraction of the bitrate at which a second is full and frames are skipped; the rest is for keyframes.
  private static let full = 0.99
  /// Bitrates are clamped to this range, so that no sum can overflow.
  private static let bitrates = 1...1_000_000_000_000

  private(set) var bitrate: Int
  /// The frames sent in the last second, since the bitrate last fell.
  private var recent: [(time: ContinuousClock.Instant, bits: Int)] = []
  private var filling = 0.0
  private var measured: ContinuousClock.Instant?

  /// - Parameter bitrate: bits a second, above zero.
  package init(bitrate: Int) {
    self.bitrate = Self.clamped(bitrate)
  }

  private static func clamped(_ bitrate: Int) -> Int {
    min(max(bitrates.lowerBound, bitrate), bitrates.upperBound)
  }

  /// Changes the bitrate from now on.
  package mutating func adapt(toBitrate bitrate: Int, now: ContinuousClock.Instant) {
    settle(now: now)
    let falls = bitrate < self.bitrate
    self.bitrate = Self.clamped(bitrate)
    if !falls { return }
    let rate = Double(self.bitrate)
    filling = min(max(filling, -Self.credit * rate), Self.maximumDeficit * rate)
    recent.removeAll(keepingCapacity: true)
  }

  /// Accounts for a frame that was sent.
  package mutating func spend(bits: Int, isKeyframe: Bool = false, now: ContinuousClock.Instant) {
    settle(now: now)
    let hasRoom = lastSecond(now: now) + Double(bits) <= Double(bitrate)
    let allowance = isKeyframe && hasRoom ? Self.keyframeAllowance * Double(bitrate) : 0
    filling += max(0, Double(bits) - allowance)
    recent.removeAll { now - $0.time >= .seconds(1) }
    recent.append((now, bits))
  }

  /// Whether another frame may be sent.
  package func allows(now: ContinuousClock.Instant) -> Bool {
    if filling(at: now) > 0 { return false }
    return lastSecond(now: now) <= Self.full * Double(bitrate)
  }

  /// Returns the bits that were sent in the last second.
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

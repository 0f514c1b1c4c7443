package import Codecs
package import Media
import NIOCore

/// Makes VP8 of frames as a camera's encoder does: keyframes when they are requested, and never more bits than the line
/// takes, by the quantizer first, then by fewer frames, then by smaller ones.
///
/// One thread calls it. It waits for nothing.
package final class LiveVideoEncoder {
  /// What the frames are and what they may cost at first.
  package struct Settings: Sendable, Hashable {
    package var size: VideoSize
    /// How many frames come in a second.
    package var framesPerSecond: Double
    package var owner: ParticipantID
    /// Bits a second of payload.
    package var bitrate = 1_000_000
    /// 0 (best) to 16 (fastest).
    package var speed = 8
    package var threads = 1
    /// How often the size changes, between that of the line and half of it; nil for a size that only the line changes.
    package var sizeChange: Duration?

    package init(size: VideoSize, framesPerSecond: Double, owner: ParticipantID = ParticipantID("")) {
      self.size = size
      self.framesPerSecond = framesPerSecond
      self.owner = owner
    }
  }

  package let settings: Settings
  /// What is encoded at present: which frames, and in which size.
  package private(set) var qualityLevel: QualityLadder.QualityLevel
  private var ladder: QualityLadder
  private var budget: BitBudget
  private var requests = KeyframeRequests()
  private var encoder: VP8Encoder
  /// The encoder's own time: as if every frame that it gets came at an even pace, so that a pause is not made up for.
  private var encoderTime: Int64 = 0
  private var encoderBitrate: Int
  private var sinceEncoded = 0
  private var standing: VideoFrame?
  private var firstVideoFrame: ContinuousClock.Instant?

  /// The share of the bitrate that the encoder is set to; the rest is for keyframes.
  private static let share = 0.95
  /// By how much the bitrate must change, in hundredths, before the encoder is told.
  private static let noticeable = 2
  /// A keyframe's largest share of a second's bits, in hundredths.
  private static let keyframeShare = 15

  package init(_ settings: Settings) throws(CodecError) {
    var settings = settings
    settings.framesPerSecond = min(max(settings.framesPerSecond, 0.1), 240)
    budget = BitBudget(bitrate: settings.bitrate)
    settings.bitrate = budget.bitrate
    self.settings = settings
    ladder = QualityLadder(size: settings.size, framesPerSecond: settings.framesPerSecond)
    qualityLevel = ladder.qualityLevel
    encoderBitrate = settings.bitrate
    encoder = try Self.encoder(for: qualityLevel, settings, bitrate: settings.bitrate)
  }

  /// Somebody needs a keyframe: it is the next frame, at the soonest 500 ms after the keyframe before. Requests until
  /// then are joined.
  package func requestKeyframe(now: ContinuousClock.Instant) {
    requests.request(now: now)
  }

  /// When `encodeAgain` is to be called, because a keyframe is needed, unless a frame comes before; nil when none is.
  package var deadline: ContinuousClock.Instant? {
    standing == nil ? nil : requests.deadline
  }

  /// What the path carries from now on.
  ///
  /// - Parameter bitrate: bits a second of payload.
  package func adapt(toBitrate bitrate: Int, now: ContinuousClock.Instant) {
    if bitrate == budget.bitrate { return }
    budget.adapt(toBitrate: bitrate, now: now)
    ladder.adapt(toBitrate: budget.bitrate, now: now)
  }

  /// Nobody watches any more: what is made from now on is for somebody whose line is not known, as at the beginning.
  package func reset(now: ContinuousClock.Instant) {
    budget.adapt(toBitrate: settings.bitrate, now: now)
    ladder = QualityLadder(size: settings.size, framesPerSecond: settings.framesPerSecond)
  }

  /// Makes a frame of the next frame.
  ///
  /// - Parameters:
  ///   - frame: of the settings' size.
  ///   - time: when it is shown, in ticks of 90 kHz.
  /// - Returns: nil when the frame is skipped to hold the bitrate.
  package func encode(
    _ videoFrame: VideoFrame, time: Int64, now: ContinuousClock.Instant
  ) throws(CodecError) -> EncodedFrame? {
    standing = videoFrame
    let isDue = requests.isDue(now: now)
    sinceEncoded += 1
    if !isDue {
      if sinceEncoded < ladder.qualityLevel.divisor { return nil }
      if !budget.allows(now: now) {
        ladder.leftOut(bitrate: budget.bitrate, now: now)
        return nil
      }
    }
    return try make(of: videoFrame, time: time, keyframe: isDue, now: now)
  }

  /// Makes a keyframe of the frame before once more, because somebody waits and the next frame is late.
  ///
  /// - Parameter time: when it is shown, in ticks of 90 kHz; after the time of the frame before.
  /// - Returns: nil when no keyframe is due.
  package func encodeAgain(time: Int64, now: ContinuousClock.Instant) throws(CodecError) -> EncodedFrame? {
    guard let standing, requests.isDue(now: now) else { return nil }
    return try make(of: standing, time: time, keyframe: true, now: now)
  }

  private func make(
    of videoFrame: VideoFrame, time: Int64, keyframe: Bool, now: ContinuousClock.Instant
  ) throws(CodecError) -> EncodedFrame? {
    firstVideoFrame = firstVideoFrame ?? now
    let isNew = try adjust(now: now)
    let scaled = try videoFrame.scaled(to: qualityLevel.size)
    let output = try encoder.encode(scaled, time: encoderTime, duration: frameDuration, keyframe: keyframe || isNew)
    encoderTime += Int64(frameDuration)
    sinceEncoded = 0
    guard let output else { return nil }
    budget.spend(bits: output.payload.readableBytes * 8, isKeyframe: output.isKeyframe, now: now)
    if output.isKeyframe {
      requests.keyframeMade(now: now)
    } else if let quantizer = encoder.lastQuantizer {
      ladder.encoded(quantizer: quantizer, bitrate: budget.bitrate, now: now)
    }
    return EncodedFrame(
      owner: settings.owner, codec: .vp8, time: MediaTime(ticks: time, rate: Codec.vp8.clockRate),
      payload: output.payload, isKeyframe: output.isKeyframe, size: output.isKeyframe ? qualityLevel.size : nil,
      arrival: now)
  }

  /// Brings the encoder to what the ladder and the line request. Another size begins with a keyframe, and waits until one
  /// is allowed.
  ///
  /// - Returns: whether the encoder is a new one.
  private func adjust(now: ContinuousClock.Instant) throws(CodecError) -> Bool {
    let wanted = QualityLadder.QualityLevel(divisor: ladder.qualityLevel.divisor, size: wantedSize(now: now))
    if wanted.size != qualityLevel.size, requests.allows(now: now) {
      encoder = try Self.encoder(for: wanted, settings, bitrate: budget.bitrate)
      qualityLevel = wanted
      encoderBitrate = budget.bitrate
      return true
    }
    if ladder.qualityLevel.divisor != qualityLevel.divisor {
      qualityLevel = QualityLadder.QualityLevel(divisor: ladder.qualityLevel.divisor, size: qualityLevel.size)
    }
    let difference = abs(budget.bitrate - encoderBitrate)
    if difference * 100 >= encoderBitrate * Self.noticeable, difference > 0 {
      try encoder.setBitrate(Self.share(of: budget.bitrate))
      encoderBitrate = budget.bitrate
    }
    return false
  }

  /// What size frames are to have now: the ladder's, or half of it in every other turn of a size that is to change by itself.
  private func wantedSize(now: ContinuousClock.Instant) -> VideoSize {
    let size = ladder.qualityLevel.size
    guard let turn = settings.sizeChange, turn > .zero, let firstVideoFrame,
      Int((now - firstVideoFrame) / turn) % 2 == 1
    else { return size }
    return VideoSize(width: max(2, size.width / 4 * 2), height: max(2, size.height / 4 * 2))
  }

  /// A frame's share of a second, in ticks of 90 kHz.
  private var frameDuration: Int {
    Int((Double(Codec.vp8.clockRate) * Double(qualityLevel.divisor) / settings.framesPerSecond).rounded())
  }

  private static func share(of bitrate: Int) -> Int {
    Int(Double(bitrate) * share)
  }

  private static func encoder(
    for qualityLevel: QualityLadder.QualityLevel, _ settings: Settings, bitrate: Int
  ) throws(CodecError) -> VP8Encoder {
    let framesPerSecond = settings.framesPerSecond / Double(qualityLevel.divisor)
    var fresh = VP8Encoder.Settings(size: qualityLevel.size)
    fresh.framesPerSecond = max(1, Int(framesPerSecond.rounded()))
    fresh.bitrate = share(of: bitrate)
    fresh.choosesKeyframes = false
    fresh.largestKeyframe = max(100, Int(framesPerSecond * Double(keyframeShare)))
    fresh.speed = settings.speed
    fresh.threads = settings.threads
    return try VP8Encoder(fresh)
  }
}

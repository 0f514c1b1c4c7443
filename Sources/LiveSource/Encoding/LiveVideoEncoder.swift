package import Codecs
package import Media
import NIOCore

/// Encodes frames as a camera does: keyframes on request, and never more bits than the network path can carry,
/// by a coarser quantizer first, then by fewer frames, then by smaller ones.
///
/// It is used by one thread and never waits.
package final class LiveVideoEncoder {
  /// The format of the input and the initial bitrate.
  package struct Settings: Sendable, Hashable {
    package var codec: Codec
    package var size: VideoSize
    /// The frame rate of the input.
    package var framesPerSecond: Double
    package var owner: ParticipantID
    /// The bitrate of the payload, in bits a second.
    package var bitrate = 1_000_000
    /// 0 (best) to 16 (fastest).
    package var speed = 8
    package var threads = 1
    /// Whether programs read the frames: see `VideoEncoder.Settings.keepsEdges`.
    package var keepsEdges = false
    /// The interval between changes of the size, from that of the quality ladder to half of it and back; nil for none.
    package var sizeChange: Duration?

    package init(
      codec: Codec = .preferred(for: .video), size: VideoSize, framesPerSecond: Double,
      owner: ParticipantID = ParticipantID("")
    ) {
      self.codec = codec
      self.size = size
      self.framesPerSecond = framesPerSecond
      self.owner = owner
    }
  }

  package let settings: Settings
  /// The frame rate divisor and the size that are encoded at present.
  package private(set) var qualityLevel: QualityLadder.QualityLevel
  private var ladder: QualityLadder
  private var budget: BitBudget
  private var requests = KeyframeRequests()
  private var encoder: VideoEncoder
  /// The encoder's own time, in which all its frames are evenly spaced, so that it does not spend the bits saved during
  /// a pause.
  private var encoderTime: Int64 = 0
  private var encoderBitrate: Int
  private var sinceEncoded = 0
  private var lastFrame: VideoFrame?
  private var firstVideoFrame: ContinuousClock.Instant?

  /// The fraction of the bitrate that the encoder is set to; the rest is for keyframes.
  private static let share = 0.95
  /// The minimum change of the bitrate, in per cent, that is passed to the encoder.
  private static let noticeable = 2
  /// The maximum size of a keyframe, in per cent of a second's bits.
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

  /// Requests a keyframe: the next frame is one, but not until 500 ms after the previous keyframe. Requests until then
  /// are combined.
  package func requestKeyframe(now: ContinuousClock.Instant) {
    requests.request(now: now)
  }

  /// When to call `encodeAgain` for a requested keyframe, unless a frame is encoded before; nil if none is requested.
  package var deadline: ContinuousClock.Instant? {
    lastFrame == nil ? nil : requests.deadline
  }

  /// Changes the available bitrate from now on.
  ///
  /// - Parameter bitrate: of the payload, in bits a second.
  package func adapt(toBitrate bitrate: Int, now: ContinuousClock.Instant) {
    if bitrate == budget.bitrate { return }
    budget.adapt(toBitrate: bitrate, now: now)
    ladder.adapt(toBitrate: budget.bitrate, now: now)
  }

  /// Returns to the initial bitrate and quality: no viewer is left, and the network path of the next one is unknown.
  package func reset(now: ContinuousClock.Instant) {
    budget.adapt(toBitrate: settings.bitrate, now: now)
    ladder = QualityLadder(size: settings.size, framesPerSecond: settings.framesPerSecond)
  }

  /// Encodes the next frame.
  ///
  /// - Parameters:
  ///   - videoFrame: a frame of the size in the settings.
  ///   - time: the presentation time in ticks of 90 kHz.
  /// - Returns: nil if the frame is skipped to keep the bitrate.
  package func encode(
    _ videoFrame: VideoFrame, time: Int64, now: ContinuousClock.Instant
  ) throws(CodecError) -> EncodedFrame? {
    lastFrame = videoFrame
    let isDue = requests.isDue(now: now)
    sinceEncoded += 1
    if !isDue {
      if sinceEncoded < ladder.qualityLevel.divisor { return nil }
      if !budget.allows(now: now) {
        ladder.skipped(bitrate: budget.bitrate, now: now)
        return nil
      }
    }
    return try make(of: videoFrame, time: time, keyframe: isDue, now: now)
  }

  /// Encodes the previous frame again as a keyframe, because a viewer waits for one and the next frame is late.
  ///
  /// - Parameter time: the presentation time in ticks of 90 kHz; after that of the previous frame.
  /// - Returns: nil if no keyframe is due.
  package func encodeAgain(time: Int64, now: ContinuousClock.Instant) throws(CodecError) -> EncodedFrame? {
    guard let lastFrame, requests.isDue(now: now) else { return nil }
    return try make(of: lastFrame, time: time, keyframe: true, now: now)
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
      owner: settings.owner, codec: settings.codec, time: MediaTime(ticks: time, rate: settings.codec.clockRate),
      payload: output.payload, isKeyframe: output.isKeyframe, size: output.isKeyframe ? qualityLevel.size : nil,
      arrival: now)
  }

  /// Adapts the encoder to the quality level and the bitrate. A new size begins with a keyframe, and waits until one is
  /// allowed.
  ///
  /// - Returns: whether a new encoder was created.
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

  /// Returns the size to encode: that of the quality ladder, or half of it in every other interval of `sizeChange`.
  private func wantedSize(now: ContinuousClock.Instant) -> VideoSize {
    let size = ladder.qualityLevel.size
    guard let turn = settings.sizeChange, turn > .zero, let firstVideoFrame,
      Int((now - firstVideoFrame) / turn) % 2 == 1
    else { return size }
    return VideoSize(width: max(2, size.width / 4 * 2), height: max(2, size.height / 4 * 2))
  }

  /// A frame's duration in ticks of 90 kHz.
  private var frameDuration: Int {
    Int((Double(settings.codec.clockRate) * Double(qualityLevel.divisor) / settings.framesPerSecond).rounded())
  }

  private static func share(of bitrate: Int) -> Int {
    Int(Double(bitrate) * share)
  }

  private static func encoder(
    for qualityLevel: QualityLadder.QualityLevel, _ settings: Settings, bitrate: Int
  ) throws(CodecError) -> VideoEncoder {
    let framesPerSecond = settings.framesPerSecond / Double(qualityLevel.divisor)
    var fresh = VideoEncoder.Settings(size: qualityLevel.size)
    fresh.framesPerSecond = max(1, Int(framesPerSecond.rounded()))
    fresh.bitrate = share(of: bitrate)
    fresh.choosesKeyframes = false
    fresh.maximumKeyframePercentage = max(100, Int(framesPerSecond * Double(keyframeShare)))
    fresh.speed = settings.speed
    fresh.threads = settings.threads
    fresh.keepsEdges = settings.keepsEdges
    return try VideoEncoder(settings.codec, fresh)
  }
}

import Codecs
import Media
import NIOCore
import Pattern

/// The test pattern, encoded once and played in many calls as our camera would send it, with a keyframe each second.
struct EncodedPattern: Sendable {
  /// A frame, and the time at which a camera would send it, relative to the pattern's start.
  struct TimedFrame: Sendable {
    let due: Duration
    let frame: EncodedFrame
  }

  static let size = VideoSize(width: 320, height: 240)
  static let framesPerSecond = 25
  static let owner = ParticipantID("camera")
  /// The sender's wall clock at the pattern's start, in milliseconds since 1970.
  static let begin: Int64 = 1_795_280_400_040

  /// In the order of their times.
  let frames: [TimedFrame]

  /// Seven seconds in which each number appears once.
  static let ordered = Result {
    try EncodedPattern(numbers: Array(0..<UInt32(7 * framesPerSecond)), seconds: 7, streamID: 7)
  }

  /// Two seconds in which 20 appears twice, 31 before 30, and 40 not at all.
  static let disordered = Result {
    var numbers = Array(0..<UInt32(2 * framesPerSecond))
    numbers.insert(20, at: 21)
    numbers.swapAt(31, 32)
    numbers.removeAll { $0 == 40 }
    return try EncodedPattern(numbers: numbers, seconds: 2, streamID: 8)
  }

  /// - Parameters:
  ///   - numbers: The frame numbers in order; each is painted with the time that belongs to its number.
  ///   - seconds: The duration of the audio.
  private init(numbers: [UInt32], seconds: Int, streamID: UInt16) throws {
    let frames = try Self.videoFrames(numbers, streamID) + Self.audio(seconds: seconds)
    self.frames = frames.enumerated().sorted { ($0.element.due, $0.offset) < ($1.element.due, $1.offset) }
      .map(\.element)
  }

  private static func videoFrames(_ numbers: [UInt32], _ streamID: UInt16) throws -> [TimedFrame] {
    var settings = VP8Encoder.Settings(size: size)
    settings.framesPerSecond = framesPerSecond
    settings.bitrate = 400_000
    settings.choosesKeyframes = false
    let encoder = try VP8Encoder(settings)
    let painter = PatternPainter(size: size, streamID: streamID)
    let distance = 1_000 / framesPerSecond
    return try numbers.enumerated().compactMap { position, number in
      let videoFrame = painter.videoFrame(frame: number, time: UInt64(begin) + UInt64(number) * UInt64(distance))
      let ticks = Int64(position * 90 * distance)
      guard
        let output = try encoder.encode(
          videoFrame, time: ticks, keyframe: position.isMultiple(of: framesPerSecond))
      else { return nil }
      return timedFrame(
        .vp8, ticks: ticks, output.payload, isKeyframe: output.isKeyframe, due: .milliseconds(position * distance))
    }
  }

  private static func audio(seconds: Int) throws -> [TimedFrame] {
    var settings = OpusEncoder.Settings()
    settings.channels = 1
    settings.bitrate = 32_000
    let encoder = try OpusEncoder(settings)
    let pattern = PatternAudio()
    return try (0..<seconds * 50).map { number in
      // Compensates for the encoder's delay, as our camera does.
      let first = begin * 48 + Int64(number * 960 + encoder.lookahead)
      let payload = try encoder.encode(pattern.audio(from: first, count: 960))
      // A packet can be sent when its last sample exists.
      return timedFrame(
        .opus, ticks: Int64(number * 960), payload, isKeyframe: true, due: .milliseconds(number * 20 + 20))
    }
  }

  private static let anyTime = ContinuousClock.now

  private static func timedFrame(
    _ codec: Codec, ticks: Int64, _ payload: ByteBuffer, isKeyframe: Bool, due: Duration
  ) -> TimedFrame {
    TimedFrame(
      due: due,
      frame: EncodedFrame(
        owner: owner, codec: codec, time: MediaTime(ticks: ticks, rate: codec.clockRate), payload: payload,
        isKeyframe: isKeyframe, size: isKeyframe && codec == .vp8 ? size : nil, arrival: anyTime))
  }
}

import Media
import NIOCore
import TestSupport

/// A synthetic camera and microphone: 30 VP8 frames and 50 Opus packets a second, each with different bytes.
struct SyntheticSource {
  var generator: SeededGenerator
  let start: MonotonicInstant
  var keyframeEvery = 300
  var keyframeBytes = 20_000
  var frameBytes = 3_500
  var size = VideoSize(width: 640, height: 480)
  var sendsAudio = true
  var sendsVideo = true
  /// Whether the next frame must be a keyframe.
  var keyframeIsWanted = false
  private(set) var videoFrames = 0
  private(set) var audioFrames = 0

  init(seed: UInt64, start: MonotonicInstant) {
    generator = SeededGenerator(seed: seed)
    self.start = start
  }

  /// The time at which the next frame is due, or nil if nothing is sent.
  var deadline: MonotonicInstant? {
    [sendsVideo ? nextVideo : nil, sendsAudio ? nextAudio : nil].compactMap(\.self).min()
  }

  private var nextVideo: MonotonicInstant { start + .nanoseconds(Int64(videoFrames) * 100_000_000 / 3) }
  private var nextAudio: MonotonicInstant { start + .milliseconds(Int64(audioFrames) * 20) }

  /// Returns the next frame if one is due.
  mutating func next(now: MonotonicInstant) -> EncodedFrame? {
    if sendsVideo, nextVideo <= now { return video(now: now) }
    if sendsAudio, nextAudio <= now { return audio(now: now) }
    return nil
  }

  private mutating func video(now: MonotonicInstant) -> EncodedFrame {
    defer { videoFrames += 1 }
    let isKeyframe = videoFrames % keyframeEvery == 0 || keyframeIsWanted
    keyframeIsWanted = false
    return Self.vp8(
      number: videoFrames, isKeyframe: isKeyframe, size: size,
      bytes: isKeyframe ? keyframeBytes : frameBytes / 2 + Int.random(in: 0..<frameBytes, using: &generator),
      time: Int64(videoFrames) * 3_000, arrival: now, using: &generator)
  }

  private mutating func audio(now: MonotonicInstant) -> EncodedFrame {
    defer { audioFrames += 1 }
    var payload = ByteBuffer()
    // 20 ms of stereo CELT.
    payload.writeInteger(UInt8(0xFC))
    payload.writeInteger(UInt32(audioFrames))
    for _ in 0..<60 { payload.writeInteger(UInt8.random(in: 0...255, using: &generator)) }
    return EncodedFrame(
      owner: ParticipantID("source"), codec: .opus, time: MediaTime(ticks: Int64(audioFrames) * 960, rate: 48_000),
      payload: payload, isKeyframe: true, arrival: now.instant)
  }

  /// Returns a frame with a valid header, its number and random data.
  static func vp8(
    number: Int, isKeyframe: Bool, size: VideoSize = VideoSize(width: 640, height: 480), bytes: Int, time: Int64,
    arrival: MonotonicInstant, using generator: inout SeededGenerator
  ) -> EncodedFrame {
    var payload = ByteBuffer()
    payload.writeBytes([isKeyframe ? 0x10 : 0x11, 0x02, 0x00])
    if isKeyframe {
      payload.writeBytes([0x9D, 0x01, 0x2A])
      payload.writeMultipleIntegers(UInt16(size.width), UInt16(size.height), endianness: .little)
    }
    payload.writeInteger(UInt32(number))
    while payload.readableBytes < bytes { payload.writeInteger(generator.next()) }
    return EncodedFrame(
      owner: ParticipantID("source"), codec: .vp8, time: MediaTime(ticks: time, rate: 90_000), payload: payload,
      isKeyframe: isKeyframe, size: isKeyframe ? size : nil, arrival: arrival.instant)
  }

  /// Returns the number that a frame of this source contains.
  static func number(of frame: EncodedFrame) -> Int? {
    let position = frame.codec == .opus ? 1 : frame.isKeyframe ? 10 : 3
    return frame.payload.getInteger(at: frame.payload.readerIndex + position, as: UInt32.self).map(Int.init)
  }
}

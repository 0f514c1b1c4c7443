import Media
import NIOCore
import PeerEngine
import TestSupport

/// A simulated camera with an ideal encoder: 30 frames a second, each of the size that the bitrate allows, keyframes on
/// request, and audio.
struct LiveEncoder {
  static let audioBitrate = 32_000

  /// The bitrate of both tracks together, in bits a second.
  var bitrate = 600_000
  /// The bitrate above which a higher target does not make the frames larger, in bits a second.
  var wanted = 4_000_000
  /// How many times larger a keyframe is than the frames after it.
  var keyframeFactor = 4.0
  /// The distance of regular keyframes in frames, besides those that were requested; nil for none.
  var keyframeEvery: Int?
  private(set) var keyframes: [MonotonicInstant] = []
  private(set) var videoFrames = 0
  private var packets = 0
  private var generator: SeededGenerator
  private let start: MonotonicInstant
  private var wantsKeyframe = true
  /// The bytes by which keyframes exceeded the bitrate; the next frames are smaller by as much.
  private var debt = 0

  init(seed: UInt64, start: MonotonicInstant) {
    generator = SeededGenerator(seed: seed)
    self.start = start
  }

  private var nextVideoFrame: MonotonicInstant { start + .nanoseconds(Int64(videoFrames) * 100_000_000 / 3) }
  private var nextAudio: MonotonicInstant { start + .milliseconds(Int64(packets) * 20) }

  var deadline: MonotonicInstant { min(nextVideoFrame, nextAudio) }

  /// Requests a keyframe, unless the last one was encoded less than 500 ms ago.
  mutating func requestKeyframe(now: MonotonicInstant) {
    if let last = keyframes.last, now - last < .milliseconds(500) { return }
    wantsKeyframe = true
  }

  mutating func next(now: MonotonicInstant) -> EncodedFrame? {
    if nextVideoFrame <= now { return videoFrame(now: now) }
    if nextAudio <= now { return audio(now: now) }
    return nil
  }

  private mutating func videoFrame(now: MonotonicInstant) -> EncodedFrame {
    defer { videoFrames += 1 }
    let isKeyframe = wantsKeyframe || keyframeEvery.map { videoFrames % $0 == 0 } ?? false
    wantsKeyframe = false
    let share = Double(max(20_000, min(bitrate, wanted) - Self.audioBitrate)) / 8 / 30
    var bytes = share * Double.random(in: 0.8...1.2, using: &generator)
    if isKeyframe {
      keyframes.append(now)
      debt += Int(bytes * (keyframeFactor - 1))
      bytes *= keyframeFactor
    } else {
      // An encoder's rate control recovers a keyframe's excess over about a second.
      let back = min(Double(debt), bytes / 4)
      debt -= Int(back)
      bytes -= back
    }
    return Self.vp8(number: videoFrames, isKeyframe: isKeyframe, bytes: max(60, Int(bytes)), arrival: now)
  }

  /// Returns a frame with a valid VP8 header, its number and padding.
  private static func vp8(
    number: Int, isKeyframe: Bool, bytes: Int, arrival: MonotonicInstant
  ) -> EncodedFrame {
    var payload = ByteBuffer()
    payload.writeBytes([isKeyframe ? 0x10 : 0x11, 0x02, 0x00])
    let size = VideoSize(width: 640, height: 480)
    if isKeyframe {
      payload.writeBytes([0x9D, 0x01, 0x2A])
      payload.writeMultipleIntegers(UInt16(size.width), UInt16(size.height), endianness: .little)
    }
    payload.writeInteger(UInt32(number))
    payload.writeRepeatingByte(UInt8(truncatingIfNeeded: number), count: max(0, bytes - payload.readableBytes))
    return EncodedFrame(
      owner: ParticipantID("source"), codec: .vp8, time: MediaTime(ticks: Int64(number) * 3_000, rate: 90_000),
      payload: payload, isKeyframe: isKeyframe, size: isKeyframe ? size : nil, arrival: arrival.instant)
  }

  private mutating func audio(now: MonotonicInstant) -> EncodedFrame {
    defer { packets += 1 }
    var payload = ByteBuffer(bytes: [0xFC])
    payload.writeInteger(UInt32(packets))
    payload.writeRepeatingByte(7, count: Self.audioBitrate / 8 / 50)
    return EncodedFrame(
      owner: ParticipantID("source"), codec: .opus, time: MediaTime(ticks: Int64(packets) * 960, rate: 48_000),
      payload: payload, isKeyframe: true, arrival: now.instant)
  }
}

import Media
import NIOCore
import TestSupport

/// Frames with true headers and random insides: enough for everything that does not decode.
struct MadeUpMedia {
  private var generator: SeededGenerator
  private var pictures: Int64 = 0
  private var packets: Int64 = 0
  let start: ContinuousClock.Instant

  init(seed: UInt64, start: ContinuousClock.Instant) {
    generator = SeededGenerator(seed: seed)
    self.start = start
  }

  /// The next picture, 30 a second, every thirtieth a keyframe.
  mutating func picture() -> EncodedFrame {
    let isKeyframe = pictures % 30 == 0
    var payload = ByteBuffer()
    if isKeyframe {
      // RFC 6386, 9.1: keyframe, version 0, shown; start code; 640x480.
      payload.writeBytes([0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01])
    } else {
      payload.writeBytes([0x11, 0x02, 0x00])
    }
    fill(&payload, count: isKeyframe ? 20_000 : Int.random(in: 500...4_000, using: &generator))
    defer { pictures += 1 }
    return EncodedFrame(
      owner: ParticipantID("source"), codec: .vp8, time: MediaTime(ticks: pictures * 3_000, rate: 90_000),
      payload: payload, isKeyframe: isKeyframe, size: isKeyframe ? PictureSize(width: 640, height: 480) : nil,
      arrival: start + .nanoseconds(pictures * 1_000_000_000 / 30))
  }

  /// The next 20 ms of sound.
  mutating func sound() -> EncodedFrame {
    // RFC 6716, 3.1: CELT, fullband, 20 ms, mono, one frame.
    var payload = ByteBuffer(bytes: [0xF8])
    fill(&payload, count: Int.random(in: 40...120, using: &generator))
    defer { packets += 1 }
    return EncodedFrame(
      owner: ParticipantID("source"), codec: .opus, time: MediaTime(ticks: packets * 960, rate: 48_000),
      payload: payload, isKeyframe: true, arrival: start + .milliseconds(packets * 20))
  }

  private mutating func fill(_ payload: inout ByteBuffer, count: Int) {
    for _ in 0..<count / 8 { payload.writeInteger(generator.next()) }
  }
}

package import Media
import NIOCore

/// Frames with valid headers, a number and random data: enough for every test that does not decode them.
package struct SyntheticMedia {
  /// The size and number of frames.
  package struct Shape {
    package var keyframeEvery: Int64
    package var keyframeBytes: Int
    package var videoFrameBytes: ClosedRange<Int>
    package var audioBytes: ClosedRange<Int>

    package init(
      keyframeEvery: Int64 = 30, keyframeBytes: Int = 20_000, videoFrameBytes: ClosedRange<Int> = 500...4_000,
      audioBytes: ClosedRange<Int> = 40...120
    ) {
      self.keyframeEvery = keyframeEvery
      self.keyframeBytes = keyframeBytes
      self.videoFrameBytes = videoFrameBytes
      self.audioBytes = audioBytes
    }

    /// About 600 kb/s.
    package static let usual = Shape()
    /// About 200 kb/s.
    package static let slim = Shape(keyframeEvery: 90, keyframeBytes: 6_000, videoFrameBytes: 200...900)
  }

  private var generator: SeededGenerator
  private var videoFrames: Int64 = 0
  private var packets: Int64 = 0
  package let start: MonotonicInstant
  package let shape: Shape

  package init(seed: UInt64, start: MonotonicInstant, shape: Shape = .usual) {
    generator = SeededGenerator(seed: seed)
    self.start = start
    self.shape = shape
  }

  /// Returns the next of 30 frames a second; the first is a keyframe.
  package mutating func videoFrame() -> EncodedFrame {
    let isKeyframe = videoFrames % shape.keyframeEvery == 0
    var payload = ByteBuffer()
    if isKeyframe {
      // RFC 6386, 9.1: keyframe, version 0, shown; start code; 640x480.
      payload.writeBytes([0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01])
    } else {
      payload.writeBytes([0x11, 0x02, 0x00])
    }
    payload.writeInteger(UInt32(videoFrames))
    fill(&payload, count: isKeyframe ? shape.keyframeBytes : Int.random(in: shape.videoFrameBytes, using: &generator))
    defer { videoFrames += 1 }
    return EncodedFrame(
      owner: ParticipantID("source"), codec: .vp8, time: MediaTime(ticks: videoFrames * 3_000, rate: 90_000),
      payload: payload, isKeyframe: isKeyframe, size: isKeyframe ? VideoSize(width: 640, height: 480) : nil,
      arrival: (start + .nanoseconds(videoFrames * 1_000_000_000 / 30)).instant)
  }

  /// Returns the next 20 ms of audio.
  package mutating func audio() -> EncodedFrame {
    // RFC 6716, 3.1: CELT, fullband, 20 ms, mono, one frame.
    var payload = ByteBuffer(bytes: [0xF8])
    payload.writeInteger(UInt32(packets))
    fill(&payload, count: Int.random(in: shape.audioBytes, using: &generator))
    defer { packets += 1 }
    return EncodedFrame(
      owner: ParticipantID("source"), codec: .opus, time: MediaTime(ticks: packets * 960, rate: 48_000),
      payload: payload, isKeyframe: true, arrival: (start + .milliseconds(packets * 20)).instant)
  }

  /// Appends random bytes from a random position of a prepared array, which is far cheaper than generating each byte.
  private mutating func fill(_ payload: inout ByteBuffer, count: Int) {
    let position = Int.random(in: 0...Self.stock.count - count, using: &generator)
    payload.writeBytes(Self.stock[position..<position + count])
  }

  private static let stock: [UInt8] = {
    var generator = SeededGenerator(seed: 77)
    return (0..<8_192).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } }
  }()
}

extension EncodedFrame {
  /// The number that a synthetic frame contains.
  package var madeUpNumber: Int? {
    let position = codec == .opus ? 1 : isKeyframe ? 10 : 3
    return payload.getInteger(at: payload.readerIndex + position, as: UInt32.self).map(Int.init)
  }
}

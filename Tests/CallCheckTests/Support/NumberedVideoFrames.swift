import CallCheck
import CallCheckTestSupport
import Codecs
import Media
import NIOCore
import Pattern

/// Frames of the pattern that are all keyframes, so that they can be lost, duplicated and reordered without affecting
/// each other.
struct NumberedVideoFrames {
  static let size = VideoSize(width: 160, height: 120)
  let payloads: [ByteBuffer]
  /// Frames per second.
  let rate: Double

  /// Encodes frames.
  ///
  /// - Parameter numbers: the frame numbers; each frame has the time of its number.
  init(count: Int, rate: Double = 30) throws {
    self.rate = rate
    let painter = PatternPainter(size: Self.size, streamID: 3)
    var settings = VP8Encoder.Settings(size: Self.size)
    settings.bitrate = 2_000_000
    let encoder = try VP8Encoder(settings)
    payloads = try (0..<count).map { number in
      let videoFrame = painter.videoFrame(frame: UInt32(number), time: Self.milliseconds(Double(number) / rate))
      return try encoder.encode(videoFrame, time: Int64(number) * 3_000, keyframe: true)?.payload ?? ByteBuffer()
    }
  }

  /// Returns the wall clock at a time of the check, in milliseconds since 1970.
  static func milliseconds(_ time: Double) -> UInt64 {
    UInt64(Double(SyntheticCall.wallClock) + (time * 1_000).rounded())
  }

  /// Returns when a frame is produced.
  func time(_ number: Int) -> Double { Double(number) / rate }

  func frame(_ number: Int, at time: Double) -> EncodedFrame {
    EncodedFrame(
      owner: SyntheticCall.peer, codec: .vp8, time: MediaTime(ticks: Int64(number) * 3_000, rate: 90_000),
      payload: payloads[number], isKeyframe: true, size: Self.size, arrival: SyntheticCall.instant(time))
  }
}

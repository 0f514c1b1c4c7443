import Codecs
import Media
import NIOCore

/// Frames of VP8 or VP9 that our own encoder makes.
enum VPXFrames {
  static let size = VideoSize(width: 64, height: 48)

  static func make(_ codec: Codec, count: Int, keyframeEvery distance: Int = 1_000) throws -> [ByteBuffer] {
    var settings = VideoEncoder.Settings(size: size)
    settings.choosesKeyframes = false
    let encoder = try VideoEncoder(codec, settings)
    return try (0..<count).map { number in
      var videoFrame = VideoFrame(size: size, luma: UInt8(50 + number * 3 % 150))
      // Something that moves.
      for row in 0..<16 { videoFrame.luma[(row + number % 30) * size.width + number % 60] = 235 }
      let output = try encoder.encode(videoFrame, time: Int64(number) * 3_000, keyframe: number % distance == 0)
      return output?.payload ?? ByteBuffer()
    }
  }
}

import NIOCore

/// Encodes a frame as a lossy WebP file: one VP8 keyframe in a RIFF container (RFC 9649, 2.5).
///
/// WebP takes the frame's planes as they are: both have ITU-R BT.601 in limited range, and chroma planes that are rounded up.
package enum WebPImage {
  /// The default coarseness: details of a small picture stay visible.
  package static let defaultQuantizer = 24

  /// Returns the file. The same frame always gives the same bytes.
  ///
  /// - Parameters:
  ///   - videoFrame: sides of 2 to 16383 pixels.
  ///   - quantizer: 2 (finest, largest) to 63 (coarsest, smallest).
  package static func bytes(
    of videoFrame: VideoFrame, quantizer: Int = defaultQuantizer
  ) throws(CodecError) -> [UInt8] {
    var settings = VideoEncoder.Settings(size: videoFrame.size)
    // The lowest bitrate makes the encoder choose the coarsest quantizer that it may use, which is the one that is wanted.
    settings.bitrate = 1_000
    settings.coarsestQuantizer = quantizer
    settings.speed = 4
    guard let output = try VP8Encoder(settings).encode(videoFrame, time: 0, keyframe: true), output.isKeyframe else {
      throw CodecError("encode a picture of \(videoFrame.size)", "the encoder returned no keyframe")
    }
    return container(of: Array(output.payload.readableBytesView))
  }

  private static func container(of keyframe: [UInt8]) -> [UInt8] {
    // A chunk has an even length; the padding is not counted in its own size.
    let padding = [UInt8](repeating: 0, count: keyframe.count % 2)
    let chunk = Array("VP8 ".utf8) + number(keyframe.count) + keyframe + padding
    return Array("RIFF".utf8) + number(4 + chunk.count) + Array("WEBP".utf8) + chunk
  }

  private static func number(_ value: Int) -> [UInt8] {
    let value = UInt32(clamping: value)
    return (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}

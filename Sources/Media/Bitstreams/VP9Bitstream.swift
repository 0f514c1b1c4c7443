import Bitstream
package import NIOCore

/// Frames of VP9, and superframes of several.
package enum VP9Bitstream: VideoBitstream {
  package static func header(of frame: ByteBuffer) -> VideoHeader? {
    (try? VP9Superframe(parsing: frame)).flatMap(VideoHeader.init)
  }

  /// What we send has 8 bits, and colours at half the width and height.
  package static func obstacle(toSending keyframe: ByteBuffer) -> String? {
    guard let superframe = try? VP9Superframe(parsing: keyframe), let first = superframe.frames.first,
      let header = try? VP9FrameHeader(parsing: first), header.profile > 0
    else { return nil }
    return "its video is VP9 of profile \(header.profile)"
  }

  package static func codecString(of keyframe: ByteBuffer, size: VideoSize?) -> String? {
    size.flatMap { size in
      VP9CodecConfiguration(keyframe: keyframe, size: .init(width: size.width, height: size.height))?.codecString
    }
  }

  package static func profileParameter(of keyframe: ByteBuffer) -> String? {
    VP9CodecConfiguration(keyframe: keyframe).map { String($0.profile) }
  }

  /// Files of profile 0 have none.
  package static func codecPrivate(of keyframe: ByteBuffer, maximumLength: Int) -> ByteBuffer? {
    VP9CodecConfiguration(keyframe: keyframe).flatMap { $0.profile > 0 ? $0.features : nil }
  }
}

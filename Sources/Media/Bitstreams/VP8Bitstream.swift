import Bitstream
package import NIOCore

/// Frames of VP8 (RFC 6386).
package enum VP8Bitstream: VideoBitstream {
  package static func header(of frame: ByteBuffer) -> VideoHeader? {
    (try? VP8FrameHeader(parsing: frame)).flatMap(VideoHeader.init)
  }

  package static func codecString(of keyframe: ByteBuffer, size: VideoSize?) -> String? { "vp8" }
}

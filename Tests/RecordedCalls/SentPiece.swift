import Media
import NIOCore

/// One frame or packet that a user sends.
struct SentPiece {
  /// When it is captured, in seconds of the call.
  var time: Double
  /// Its media time, in ticks of its codec since the beginning of the call.
  var ticks: Int64
  var codec: Codec
  var payload: ByteBuffer
  var isKeyframe = true
  var size: VideoSize?
  var orientation = VideoOrientation.upright
  var gap: MediaGap?
  /// Whether it is shown before an earlier one.
  var isReordered = false
}

import Media
import NIOCore

/// One frame on its way into a WebM file.
struct WebMBlock: Sendable, Hashable {
  var kind: MediaKind
  /// From the file's time zero.
  var time: Duration
  /// How long it is heard; nil for a picture, which is shown until the next.
  var duration: Duration?
  var isKeyframe: Bool
  /// Whether it is meant to be shown; some VP8 frames only help later ones (RFC 6386, 9.1).
  var isShown: Bool
  var payload: ByteBuffer
}

package import Media
package import NIOCore

/// A frame as stored in a file, placed on the file's time line.
package struct FileFrame: Sendable, Hashable {
  package var kind: MediaKind
  /// When it begins to be shown or heard, in units of `FileTime.rate` since the file's first frame.
  package var time: Int64
  package var payload: ByteBuffer
  package var isKeyframe: Bool
  /// A VP8 keyframe's video size.
  package var size: VideoSize?

  package init(kind: MediaKind, time: Int64, payload: ByteBuffer, isKeyframe: Bool, size: VideoSize? = nil) {
    self.kind = kind
    self.time = time
    self.payload = payload
    self.isKeyframe = isKeyframe
    self.size = size
  }
}

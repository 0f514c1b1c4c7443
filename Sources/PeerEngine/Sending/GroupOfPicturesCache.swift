package import Media
import NIOCore

/// The frames since the last keyframe: all that a viewer needs to see the present frame.
///
/// A value that shares its frames' bytes with all copies, so that each viewer's session can have its own for little.
package struct GroupOfPicturesCache: Sendable {
  package static let maximumFrames = 1_000
  package static let maximumBytes = 16 << 20

  /// From the keyframe on; empty while there is none, or when the group has become too long to be sent again.
  package private(set) var frames: [EncodedFrame] = []
  /// Bytes of the frames.
  package private(set) var byteCount = 0

  package init() {}

  package var isEmpty: Bool { frames.isEmpty }

  /// Takes the next frame of the video.
  package mutating func add(_ frame: EncodedFrame) {
    if frame.isKeyframe {
      clear()
    } else if frames.isEmpty {
      return
    }
    frames.append(frame)
    byteCount += frame.payload.readableBytes
    if frames.count > Self.maximumFrames || byteCount > Self.maximumBytes { clear() }
  }

  package mutating func clear() {
    frames.removeAll(keepingCapacity: true)
    byteCount = 0
  }
}

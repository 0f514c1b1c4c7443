import Codecs
import Media
import NIOCore

/// Lets no picture through before a keyframe that can be read: what comes out can be decoded from its first frame on.
struct VideoGate: Sendable {
  private var isOpen = false
  /// Frames that did not come through.
  private(set) var refused: UInt64 = 0

  /// Passes on a frame, with what its own bits say about keyframe and size, or nothing.
  mutating func admit(_ frame: EncodedFrame) -> EncodedFrame? {
    var frame = frame
    do {
      frame.size = try VP8Decoder.keyframeSize(of: frame.payload)
      frame.isKeyframe = frame.size != nil
      if frame.payload.readableBytes < 3 { isOpen = false }
      isOpen = isOpen || frame.isKeyframe
    } catch {
      isOpen = false
    }
    if isOpen { return frame }
    refused += 1
    return nil
  }
}

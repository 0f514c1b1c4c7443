import Codecs
import Media
import NIOCore

/// Lets no frame through before a keyframe that can be read, nor a keyframe above 4096x4096, nor what depends on one: what
/// comes out can be decoded from its first frame on, and no decoder is asked to set memory aside for an absurd size.
struct VideoGate: Sendable {
  private var isOpen = false
  private var refusedGap = RejectedFrameGap()
  /// Frames that did not come through.
  private(set) var refused: UInt64 = 0
  /// What was refused since the last frame that came through; nil when nothing was.
  var openGap: MediaGap? { refusedGap.gap }

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
    guard isOpen else {
      refused += 1
      refusedGap.add(frame)
      return nil
    }
    return refusedGap.settle(frame)
  }
}

package import Media

/// Writes frames to a bounded stream. A consumer that is too slow loses whole groups of frames, never a frame from the
/// middle of one: after a lost frame, none is sent until the next keyframe.
package struct FrameStreamWriter {
  private let continuation: AsyncStream<EncodedFrame>.Continuation
  private var dropper = FrameDropper()
  /// Frames lost because the consumer was too slow.
  package private(set) var lostFrames = 0
  /// Whether the consumer has cancelled the stream.
  package private(set) var isClosed = false

  /// The number of frames that the stream buffers: more than a second of video and audio.
  static let capacity = 128

  package init(_ continuation: AsyncStream<EncodedFrame>.Continuation) {
    self.continuation = continuation
  }

  package mutating func give(_ frame: EncodedFrame) {
    let track = frame.track
    if dropper.isDropping(track), !frame.isKeyframe {
      lostFrames += 1
      return
    }
    // The stream reports only afterwards whether it had room.
    switch continuation.yield(frame) {
    case .enqueued:
      _ = dropper.takeDropped(of: track)
    case .dropped:
      lostFrames += 1
      dropper.drop(frame, of: track)
    case .terminated:
      isClosed = true
    @unknown default:
      isClosed = true
    }
  }

  func finish() {
    continuation.finish()
  }
}

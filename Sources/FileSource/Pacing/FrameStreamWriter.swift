package import Media

/// The bounded stream's mouth. A consumer that is too slow loses whole groups of frames, never a frame out of the
/// middle of one: after a frame has been lost, none is given until the next keyframe.
package struct FrameStreamWriter {
  private let continuation: AsyncStream<EncodedFrame>.Continuation
  private var dropper = FrameDropper()
  /// Frames that the consumer was too slow for.
  package private(set) var lostFrames = 0
  /// Whether the consumer has gone.
  package private(set) var isClosed = false

  /// Frames that wait in the stream at most: more than a second of video and audio.
  static let capacity = 128

  package init(_ continuation: AsyncStream<EncodedFrame>.Continuation) {
    self.continuation = continuation
  }

  package mutating func give(_ frame: EncodedFrame) {
    let track = FrameDropper.Track(of: frame)
    if dropper.isDropping(track), !frame.isKeyframe {
      lostFrames += 1
      return
    }
    // The stream tells only afterwards whether it had room.
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

import Media
import NIOCore

/// A frame with its place on the recording's time line.
struct TimestampedFrame: Sendable, Hashable {
  let frame: EncodedFrame
  /// How long after the first frame of the participant it is shown or heard.
  let position: Duration
  /// How the recorder made it; nil for one that came.
  let repair: FrameRepair?

  init(frame: EncodedFrame, position: Duration, repair: FrameRepair? = nil) {
    self.frame = frame
    self.position = position
    self.repair = repair
  }
}

/// How the recorder made an audio packet.
enum FrameRepair: Sendable, Hashable {
  /// Rebuilt from the copy in the packet after it.
  case corrected
  /// Invented by libopus from the packets before it.
  case concealed
}

extension EncodedFrame {
  /// The memory that it takes at most while it waits; audio goes into two files.
  var waitingCost: Int { payload.readableBytes * (codec.kind == .audio ? 2 : 1) + Self.overhead }

  /// What an entry takes besides its frame's payload.
  static let overhead = 256
}

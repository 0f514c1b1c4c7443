import Bitstream
import Codecs
import Media
import NIOCore

/// Lets no packet through that is not Opus: one of no bytes, or one whose lengths do not fit (RFC 6716, 3.4); nor one for
/// which there was no time (`AudioBudget`).
struct AudioGate: Sendable {
  private var refusedGap = RejectedFrameGap()
  /// Packets that did not come through.
  private(set) var refused: UInt64 = 0
  /// What was refused since the last packet that came through; nil when nothing was.
  var openGap: MediaGap? { refusedGap.gap }

  /// Passes on a packet, with what it says of itself, or nothing.
  mutating func admit(_ frame: EncodedFrame, budget: inout AudioBudget) -> (EncodedFrame, OpusPacket)? {
    guard let shape = frame.opus,
      budget.take(Duration(opusTicks: Int64(shape.duration)), arrival: frame.arrived)
    else {
      refused += 1
      refusedGap.add(frame)
      return nil
    }
    return (refusedGap.settle(frame), shape)
  }
}

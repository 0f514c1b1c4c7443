import Codecs
import Media
import NIOCore

/// Lets no packet through that is not Opus: one of no bytes, or one whose lengths do not fit (RFC 6716, 3.4).
struct SoundGate: Sendable {
  private var hasBegun = false
  private var gap = RefusedGap()
  /// Packets that did not come through.
  private(set) var refused: UInt64 = 0

  /// Passes on a packet, with what it says of itself, or nothing.
  mutating func admit(_ frame: EncodedFrame) -> (EncodedFrame, OpusPacketShape)? {
    guard let shape = try? OpusPacketShape(parsing: frame.payload) else {
      refused += 1
      if hasBegun { gap.add(frame) }
      return nil
    }
    hasBegun = true
    return (gap.settle(frame), shape)
  }

  /// Whether a packet only says that the sender leaves out silence (discontinuous transmission): one or two bytes.
  static func isSilent(_ payload: ByteBuffer, shape: OpusPacketShape) -> Bool {
    shape.isSilent || payload.readableBytes <= 2
  }
}

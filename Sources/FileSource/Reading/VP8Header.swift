import Media
import NIOCore

/// What the first bytes of a VP8 frame tell (RFC 6386, 9.1).
struct VP8Header: Hashable {
  var isKeyframe: Bool
  /// A keyframe's picture size; nil for every other frame.
  var size: PictureSize?

  /// Reads a header; nil when the bytes are no VP8 frame.
  init?(parsing frame: ByteBuffer) {
    let start = frame.readerIndex
    guard let first: UInt8 = frame.getInteger(at: start), frame.readableBytes >= 3 else { return nil }
    isKeyframe = first & 1 == 0
    guard isKeyframe else { return }
    guard
      frame.getBytes(at: start + 3, length: 3) == [0x9d, 0x01, 0x2a],
      let width: UInt16 = frame.getInteger(at: start + 6, endianness: .little),
      let height: UInt16 = frame.getInteger(at: start + 8, endianness: .little)
    else { return nil }
    // The upper two bits ask the player to scale.
    let size = PictureSize(width: Int(width & 0x3fff), height: Int(height & 0x3fff))
    guard size.width > 0, size.height > 0 else { return nil }
    self.size = size
  }
}

package import NIOCore

/// The first fields of the header of a VP9 frame (VP9 bitstream specification, 6.2).
package struct VP9FrameHeader: Sendable, Hashable {
  /// The video size of a keyframe in pixels: 1 to 65,536.
  package struct Size: Sendable, Hashable {
    package var width: Int
    package var height: Int
  }

  package var isKeyframe: Bool
  /// The video size; nil unless the frame is a keyframe.
  package var size: Size?

  /// Parses a header; nil when the bytes are not a VP9 frame.
  package init?(parsing frame: ByteBuffer) {
    var bits = Bits(bytes: frame.getBytes(at: frame.readerIndex, length: min(16, frame.readableBytes)) ?? [])
    guard bits.read(2) == 2, let low = bits.read(1), let high = bits.read(1) else { return nil }
    let profile = high << 1 | low
    if profile == 3, bits.read(1) != 0 { return nil }
    guard let showsExisting = bits.read(1) else { return nil }
    if showsExisting == 1 {
      isKeyframe = false
      return
    }
    guard let isInter = bits.read(1), bits.read(2) != nil else { return nil }
    isKeyframe = isInter == 0
    guard isKeyframe else { return }
    guard bits.read(24) == 0x498342 else { return nil }
    if profile >= 2, bits.read(1) == nil { return nil }
    // The color configuration: profiles 1 and 3 include the subsampling, and RGB (7) has no color range.
    guard let colour = bits.read(3) else { return nil }
    let isOdd = profile & 1 == 1
    guard bits.read(colour == 7 ? (isOdd ? 1 : 0) : (isOdd ? 4 : 1)) != nil else { return nil }
    guard let width = bits.read(16), let height = bits.read(16) else { return nil }
    size = Size(width: width + 1, height: height + 1)
  }

  /// A reader of bits, the most significant first.
  private struct Bits {
    let bytes: [UInt8]
    var position = 0

    mutating func read(_ count: Int) -> Int? {
      guard position + count <= bytes.count * 8 else { return nil }
      var value = 0
      for _ in 0..<count {
        value = value << 1 | Int(bytes[position / 8] >> UInt8(7 - position % 8) & 1)
        position += 1
      }
      return value
    }
  }
}

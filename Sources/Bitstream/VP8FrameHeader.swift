package import NIOCore

/// What a VP8 frame says of itself before its coded partitions (RFC 6386, 9.1).
package struct VP8FrameHeader: Sendable, Hashable {
  /// A keyframe's video size, and how a player is asked to enlarge it.
  package struct Size: Sendable, Hashable {
    /// In pixels, 14 bits each.
    package var width: UInt16
    package var height: UInt16
    /// 0: not at all, 1: by 5/4, 2: by 5/3, 3: by 2.
    package var horizontalScale: UInt8
    package var verticalScale: UInt8
  }

  package var isKeyframe: Bool
  /// The bitstream version, 0...3 in use.
  package var version: UInt8
  /// Whether the frame is shown, or only kept for others to refer to.
  package var isShown: Bool
  /// In bytes, 19 bits.
  package var firstPartitionSize: UInt32
  /// Nil for every frame that is not a keyframe.
  package var size: Size?

  /// Reads the 3 bytes of every frame and the 7 more of a keyframe.
  ///
  /// - Parameter frame: the whole frame, or its first payload after the descriptor.
  package init(parsing frame: ByteBuffer) throws(ParseError) {
    var rest = frame
    guard let (low, middle, high) = rest.readMultipleIntegers(as: (UInt8, UInt8, UInt8).self) else {
      throw .tooShort("A VP8 frame", needs: 3, found: frame.readableBytes)
    }
    let tag = UInt32(low) | UInt32(middle) << 8 | UInt32(high) << 16
    isKeyframe = tag & 1 == 0
    version = UInt8(truncatingIfNeeded: tag >> 1 & 0x07)
    isShown = tag >> 4 & 1 == 1
    firstPartitionSize = tag >> 5
    size = isKeyframe ? try Self.readSize(&rest, found: frame.readableBytes) : nil
  }

  private static func readSize(_ rest: inout ByteBuffer, found: Int) throws(ParseError) -> Size {
    guard let (first, second, third) = rest.readMultipleIntegers(as: (UInt8, UInt8, UInt8).self),
      let (width, height) = rest.readMultipleIntegers(endianness: .little, as: (UInt16, UInt16).self)
    else {
      throw .tooShort("A VP8 keyframe", needs: 10, found: found)
    }
    let startCode = Int(first) << 16 | Int(second) << 8 | Int(third)
    guard startCode == 0x9D012A else {
      throw .wrongValue("A VP8 keyframe's start code", expected: "10289450", found: startCode)
    }
    return Size(
      width: width & 0x3FFF, height: height & 0x3FFF, horizontalScale: UInt8(width >> 14),
      verticalScale: UInt8(height >> 14))
  }
}

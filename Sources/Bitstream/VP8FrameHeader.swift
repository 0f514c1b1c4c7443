package import NIOCore

/// The uncompressed header of a VP8 frame (RFC 6386, 9.1).
package struct VP8FrameHeader: Sendable, Hashable {
  /// The video size in a keyframe, and the scale at which it should be shown.
  package struct Size: Sendable, Hashable {
    /// Width and height in pixels, 14 bits each.
    package var width: UInt16
    package var height: UInt16
    /// The scale: 0: none, 1: 5/4, 2: 5/3, 3: 2.
    package var horizontalScale: UInt8
    package var verticalScale: UInt8
  }

  package var isKeyframe: Bool
  /// The bitstream version, 0...3 in use.
  package var version: UInt8
  /// Whether the frame is shown, or only used as a reference.
  package var isShown: Bool
  /// The size in bytes, 19 bits.
  package var firstPartitionSize: UInt32
  /// The video size; nil unless the frame is a keyframe.
  package var size: Size?

  /// Parses the 3 bytes of every frame and the 7 further bytes of a keyframe.
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

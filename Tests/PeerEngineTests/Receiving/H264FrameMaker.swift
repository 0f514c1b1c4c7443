import Bitstream
import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport

/// Writes the header of a slice.
struct SliceHeaderWriter {
  private var bits = [UInt8]()

  mutating func write(_ value: Int, _ count: Int) {
    for position in (0..<count).reversed() { bits.append(UInt8(value >> position & 1)) }
  }

  /// Writes an unsigned Exp-Golomb code.
  mutating func code(_ value: Int) {
    let length = Int.bitWidth - (value + 1).leadingZeroBitCount
    write(value + 1, 2 * length - 1)
  }

  /// The header and then any data, together of at least `size` bytes.
  mutating func bytes(size: Int, number: Int) -> [UInt8] {
    while bits.count % 8 != 0 { bits.append(1) }
    let header = stride(from: 0, to: bits.count, by: 8).map { bits[$0..<$0 + 8].reduce(0) { $0 << 1 | $1 } }
    return header + (0..<max(0, size - header.count)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) | 0x80 }
  }
}

/// NAL units of H.264 with any data: parameter sets of libx264 and slices with a header of their own.
enum H264FrameMaker {
  /// Constrained baseline of 320x180; frame_num has 4 bits.
  static let sequence = bytes("6742c00dd901419f9f0110000003001000000303c8f142a480")
  static let picture = bytes("68cb83cb20")
  /// Main profile of 642x362, with the same id.
  static let otherSequence = bytes("674d401ed900a42fe224c044000003000400000300f03c58b920")
  static let delimiter = bytes("09f0")
  static let information = bytes("060104 00001080")

  static func bytes(_ text: String) -> ByteBuffer {
    let digits = text.compactMap(\.hexDigitValue).map(UInt8.init)
    return ByteBuffer(bytes: stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
  }

  /// Returns a slice.
  ///
  /// - Parameters:
  ///   - number: frame_num, below 16.
  ///   - referenceIDC: nal_ref_idc; 0 if no frame refers to it.
  static func slice(
    _ number: Int, isIDR: Bool = false, referenceIDC: UInt8 = 2, firstMacroblock: Int = 0, picture: Int = 0,
    size: Int = 20
  ) -> ByteBuffer {
    var header = SliceHeaderWriter()
    header.code(firstMacroblock)
    header.code(isIDR ? 7 : 5)
    header.code(picture)
    header.write(number, 4)
    return ByteBuffer(bytes: [referenceIDC << 5 | (isIDR ? 5 : 1)] + header.bytes(size: size, number: number))
  }

  /// Returns the payload of a frame.
  static func frame(_ units: [ByteBuffer]) -> ByteBuffer {
    var frame = ByteBuffer()
    for unit in units { H264NALUnits.append(unit, to: &frame) }
    return frame
  }

  static func keyframe(size: Int = 40) -> [ByteBuffer] {
    [sequence, picture, slice(0, isIDR: true, referenceIDC: 3, size: size)]
  }
}

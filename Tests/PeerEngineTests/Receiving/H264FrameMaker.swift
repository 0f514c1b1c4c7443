import Bitstream
import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport

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
    var bits = [UInt8]()
    func write(_ value: Int, _ count: Int) {
      for position in (0..<count).reversed() { bits.append(UInt8(value >> position & 1)) }
    }
    func code(_ value: Int) {
      let length = Int.bitWidth - (value + 1).leadingZeroBitCount
      write(value + 1, 2 * length - 1)
    }
    code(firstMacroblock)
    code(isIDR ? 7 : 5)
    code(picture)
    write(number, 4)
    while bits.count % 8 != 0 { bits.append(1) }
    let header = stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<start + 8].reduce(0) { $0 << 1 | $1 }
    }
    let first = referenceIDC << 5 | (isIDR ? 5 : 1)
    let fill = (0..<max(0, size - header.count)).map { UInt8(truncatingIfNeeded: $0 * 7 + number) | 0x80 }
    return ByteBuffer(bytes: [first] + header + fill)
  }

  static func frame(_ units: [ByteBuffer]) -> ByteBuffer {
    var frame = ByteBuffer()
    for unit in units { H264NALUnits.append(unit, to: &frame) }
    return frame
  }

  static func keyframe(size: Int = 40) -> [ByteBuffer] {
    [sequence, picture, slice(0, isIDR: true, referenceIDC: 3, size: size)]
  }
}

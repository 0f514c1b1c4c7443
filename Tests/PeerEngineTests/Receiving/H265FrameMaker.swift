import Bitstream
import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport

/// NAL units of H.265 with any data: parameter sets of x265 and slices with a header of their own.
enum H265FrameMaker {
  static let video = H264FrameMaker.bytes("40010c01ffff01600000030090000003000003003c959409")
  /// 320x180; slice_pic_order_cnt_lsb has 8 bits, and up to 2 frames are reordered.
  static let sequence = H264FrameMaker.bytes(
    "42010101600000030090000003000003003ca00a080c1f3e595952930bc05a020000030002000003003c10")
  static let picture = H264FrameMaker.bytes("4401c073c189")
  /// 642x362, with the same id.
  static let otherSequence = H264FrameMaker.bytes(
    "42010201600000030090000003000003003f0000a005120171c92659598acd24995e02d010000003001000000301e080")
  static let delimiter = H264FrameMaker.bytes("460150")
  static let information = H264FrameMaker.bytes("4e01050411223380")

  static var sets: [ByteBuffer] { [video, sequence, picture] }

  /// Returns a slice segment.
  ///
  /// - Parameters:
  ///   - order: the picture order count, of which the slice has 8 bits.
  ///   - type: nal_unit_type, 0 to 21.
  ///   - picture: the id of the picture parameter set.
  static func slice(
    _ order: Int, type: UInt8 = 1, isFirst: Bool = true, temporalID: UInt8 = 0, layerID: UInt8 = 0, picture: Int = 0,
    size: Int = 20
  ) -> ByteBuffer {
    var header = SliceHeaderWriter()
    header.write(isFirst ? 1 : 0, 1)
    if (16...21).contains(type) { header.write(0, 1) }
    header.code(picture)
    if isFirst {
      header.code(type >= 16 ? 2 : 1)
      if type != 19, type != 20 { header.write(order & 0xFF, 8) }
    }
    var slice = ByteBuffer(integer: UInt16(type) << 9 | UInt16(layerID) << 3 | UInt16(temporalID + 1))
    slice.writeBytes(header.bytes(size: size, number: order))
    return slice
  }

  static func frame(_ units: [ByteBuffer]) -> ByteBuffer { H264FrameMaker.frame(units) }

  static func keyframe(_ order: Int = 0, type: UInt8 = 19, size: Int = 40) -> [ByteBuffer] {
    sets + [slice(order, type: type, size: size)]
  }
}

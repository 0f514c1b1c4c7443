package import NIOCore

/// The ids of a picture parameter set (PPS), to which slices refer (ITU-T H.264, 7.3.2.2).
package struct H264PictureParameterSet: Sendable, Hashable {
  /// The number of picture parameter sets that a stream can have at once: ids are 0 to 255.
  package static let maximumCount = 256

  /// pic_parameter_set_id.
  package let id: UInt8
  /// The sequence parameter set that it belongs to, 0 to 31.
  package let sequenceParameterSetID: UInt8
  /// entropy_coding_mode_flag: whether slices are coded by CABAC, which baseline profiles do not have.
  package let usesArithmeticCoding: Bool
  /// bottom_field_pic_order_in_frame_present_flag: whether the slices of a frame tell where its bottom field is shown.
  package let tellsBottomField: Bool

  /// Parses a NAL unit, header included.
  package init(parsing unit: ByteBuffer) throws(ParseError) {
    guard unit.readableBytes <= H264SequenceParameterSet.maximumBytes else {
      throw .wrongValue(
        "A PPS's size", expected: "at most \(H264SequenceParameterSet.maximumBytes) bytes", found: unit.readableBytes)
    }
    let type = Int(unit.getInteger(at: unit.readerIndex, as: UInt8.self) ?? 0) & 0x1F
    guard type == 8 else { throw .wrongValue("A PPS's nal_unit_type", expected: "8", found: type) }
    var reader = NALUnitBitReader(unit, part: "A PPS")
    id = UInt8(try reader.code("pic_parameter_set_id", upTo: 255))
    sequenceParameterSetID = UInt8(try reader.code("seq_parameter_set_id", upTo: 31))
    usesArithmeticCoding = try reader.flag()
    tellsBottomField = try reader.flag()
  }
}

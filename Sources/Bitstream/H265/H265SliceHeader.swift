package import NIOCore

/// The first fields of the header of a slice segment, up to the picture order count (ITU-T H.265, 7.3.6.1).
package struct H265SliceHeader: Sendable, Hashable {
  /// nal_unit_type.
  package let type: H265NALUnit.Kind
  /// TemporalId, 0 to 6.
  package let temporalID: UInt8
  /// first_slice_segment_in_pic_flag: whether the slice segment is the first one of a picture.
  package let isFirst: Bool
  /// slice_pic_parameter_set_id, 0 to 63.
  package let pictureParameterSetID: UInt8
  /// The fields that only the first slice segment is read for; nil for others, and where the parameter sets were not given.
  package let picture: Picture?

  /// What the first slice segment says of its picture.
  package struct Picture: Sendable, Hashable {
    /// slice_type: 0 is B, 1 P, 2 I.
    package let sliceType: UInt8
    /// pic_output_flag: whether the picture is shown.
    package let isShown: Bool
    /// slice_pic_order_cnt_lsb: the picture order count modulo 2^``H265SequenceParameterSet/pictureOrderCountBits``; 0 in an IDR
    /// picture.
    package let orderCount: UInt16
  }

  /// Parses the beginning of a NAL unit, header included.
  ///
  /// - Parameter sets: the parameter sets of the stream; nil if only the fields that do not depend on them are needed.
  package init(parsing unit: ByteBuffer, sets: H265ParameterSets? = nil) throws(ParseError) {
    guard let nalUnit = H265NALUnit(unit) else {
      throw .tooShort("A slice segment", needs: H265NALUnit.headerSize, found: unit.readableBytes)
    }
    type = nalUnit.type
    guard type.isSlice, nalUnit.isValid else {
      throw .wrongValue("A slice segment's nal_unit_type", expected: "0 to 9 or 16 to 21", found: Int(type.rawValue))
    }
    temporalID = nalUnit.temporalIDPlus1 - 1
    var reader = NALUnitBitReader(unit, headerSize: H265NALUnit.headerSize, part: "The header of a slice segment")
    isFirst = try reader.flag()
    // no_output_of_prior_pics_flag
    if type.isKeyframe { try reader.skip(1) }
    let id = UInt8(try reader.code("slice_pic_parameter_set_id", upTo: 63))
    pictureParameterSetID = id
    guard isFirst, let sets, let parameters = sets.picture(id), let sequence = sets.sequence(for: id) else {
      picture = nil
      return
    }
    // slice_reserved_flag
    try reader.skip(Int(parameters.extraSliceHeaderBits))
    let sliceType = UInt8(try reader.code("slice_type", upTo: 2))
    let isShown = parameters.hasOutputFlag ? try reader.flag() : true
    // colour_plane_id
    if sequence.hasSeparateColourPlanes { try reader.skip(2) }
    let orderCount = type.isIDR ? 0 : try reader.read(Int(sequence.pictureOrderCountBits))
    picture = Picture(
      sliceType: sliceType, isShown: isShown, orderCount: UInt16(truncatingIfNeeded: orderCount))
  }
}

package import NIOCore

/// The fields of a picture parameter set (PPS) that the header of a slice segment depends on (ITU-T H.265, 7.3.2.3.1).
package struct H265PictureParameterSet: Sendable, Hashable {
  /// pps_pic_parameter_set_id, 0 to 63.
  package let id: UInt8
  /// The sequence parameter set that it belongs to, 0 to 15.
  package let sequenceParameterSetID: UInt8
  /// dependent_slice_segments_enabled_flag.
  package let hasDependentSliceSegments: Bool
  /// output_flag_present_flag: whether slices tell that their picture is not shown.
  package let hasOutputFlag: Bool
  /// num_extra_slice_header_bits, 0 to 7.
  package let extraSliceHeaderBits: UInt8

  /// Parses a NAL unit, header included.
  package init(parsing unit: ByteBuffer) throws(ParseError) {
    var reader = try H265ParameterSets.reader(of: unit, type: .pictureParameterSet, name: "PPS")
    id = UInt8(try reader.code("pps_pic_parameter_set_id", upTo: 63))
    sequenceParameterSetID = UInt8(try reader.code("pps_seq_parameter_set_id", upTo: 15))
    hasDependentSliceSegments = try reader.flag()
    hasOutputFlag = try reader.flag()
    extraSliceHeaderBits = UInt8(truncatingIfNeeded: try reader.read(3))
  }
}

package import NIOCore

/// A picture parameter set (PPS): its ids, to which slices refer, and what their headers need (ITU-T H.264, 7.3.2.2).
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
  /// What slice headers need for their references; nil if the set ends before, or has several slice groups.
  package let references: References?

  /// What a slice header has of its references, and how many.
  package struct References: Sendable, Hashable {
    /// num_ref_idx_l0_default_active_minus1 and num_ref_idx_l1_default_active_minus1, each 0 to 31.
    package var lastIndex: UInt8
    package var lastBackwardIndex: UInt8
    /// weighted_pred_flag.
    package var isWeighted: Bool
    /// weighted_bipred_idc: 1 if B slices state weights.
    package var bidirectionalWeights: UInt8
    /// redundant_pic_cnt_present_flag.
    package var countsRedundantPictures: Bool
  }

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
    references = try? Self.references(&reader)
  }

  private static func references(_ reader: inout NALUnitBitReader) throws(ParseError) -> References? {
    // num_slice_groups_minus1; several are of the baseline and extended profiles only.
    guard try reader.code("num_slice_groups_minus1", upTo: 7) == 0 else { return nil }
    var references = References(
      lastIndex: UInt8(try reader.code("num_ref_idx_l0_default_active_minus1", upTo: 31)),
      lastBackwardIndex: UInt8(try reader.code("num_ref_idx_l1_default_active_minus1", upTo: 31)),
      isWeighted: try reader.flag(), bidirectionalWeights: UInt8(truncatingIfNeeded: try reader.read(2)),
      countsRedundantPictures: false)
    // pic_init_qp_minus26, pic_init_qs_minus26, chroma_qp_index_offset
    for _ in 0..<3 { _ = try reader.signedCode() }
    // deblocking_filter_control_present_flag, constrained_intra_pred_flag
    try reader.skip(2)
    references.countsRedundantPictures = try reader.flag()
    return references
  }
}

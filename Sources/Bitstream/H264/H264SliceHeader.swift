package import NIOCore

/// The beginning of a slice header, up to frame_num (ITU-T H.264, 7.3.3).
package struct H264SliceHeader: Sendable, Hashable {
  /// first_mb_in_slice: 0 in the first slice of a picture, unless slices come in any order.
  package let firstMacroblock: UInt32
  /// slice_type, 0 to 9.
  package let sliceType: UInt8
  /// pic_parameter_set_id.
  package let pictureParameterSetID: UInt8
  /// nal_ref_idc, 0 to 3: 0 if no frame refers to this one.
  package let referenceIDC: UInt8
  /// Whether the slice belongs to a keyframe.
  package let isIDR: Bool
  /// frame_num: the number of reference frames since the keyframe, modulo 2^``H264SequenceParameterSet/log2MaximumFrameNumber``;
  /// nil where the parameter set was not given.
  package let frameNumber: UInt16?

  /// Whether the slice is a B slice, which can refer to frames that are shown later.
  package var isBidirectional: Bool { sliceType % 5 == 1 }

  /// Parses the beginning of a NAL unit, header included.
  ///
  /// - Parameter parameters: the sequence parameter set of the slice; nil if only the fields before frame_num are needed.
  package init(parsing unit: ByteBuffer, parameters: H264SequenceParameterSet? = nil) throws(ParseError) {
    let header = unit.getInteger(at: unit.readerIndex, as: UInt8.self) ?? 0
    guard H264NALUnit.Kind(rawValue: header).hasSliceHeader else {
      throw .wrongValue("A slice's nal_unit_type", expected: "1, 2 or 5", found: Int(header & 0x1F))
    }
    referenceIDC = header >> 5 & 0x03
    isIDR = header & 0x1F == 5
    var reader = NALUnitBitReader(unit, part: "A slice header")
    firstMacroblock = try reader.code()
    sliceType = UInt8(try reader.code("slice_type", upTo: 9))
    pictureParameterSetID = UInt8(try reader.code("pic_parameter_set_id", upTo: 255))
    guard let parameters else {
      frameNumber = nil
      return
    }
    // colour_plane_id
    if parameters.hasSeparateColourPlanes { try reader.skip(2) }
    frameNumber = UInt16(truncatingIfNeeded: try reader.read(Int(parameters.log2MaximumFrameNumber)))
  }
}

package import NIOCore

/// The beginning of a slice header, up to the picture order count (ITU-T H.264, 7.3.3).
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
  /// The field that the slice belongs to; nil for one of a whole frame, and where the parameter set was not given.
  package let field: Field?
  /// What it says of the picture order count; nil where one of the parameter sets was not given, or if it ends before.
  package let order: Order?

  /// One of the two fields of an interlaced frame.
  package enum Field: Sendable, Hashable {
    case top, bottom
  }

  /// The coded picture order count.
  package struct Order: Sendable, Hashable {
    /// pic_order_cnt_lsb; 0 unless the type is 0.
    package var leastSignificantBits: UInt16 = 0
    /// delta_pic_order_cnt_bottom, or 0.
    package var bottomDifference: Int32 = 0
    /// delta_pic_order_cnt[0], or 0.
    package var difference: Int32 = 0
    /// delta_pic_order_cnt[1], or 0.
    package var secondDifference: Int32 = 0
  }

  /// Whether the slice is a B slice, which can refer to frames that are shown later.
  package var isBidirectional: Bool { sliceType % 5 == 1 }

  /// Parses the beginning of a NAL unit, header included.
  ///
  /// - Parameters:
  ///   - parameters: the sequence parameter set of the slice; nil if only the fields before frame_num are needed.
  ///   - picture: its picture parameter set; nil if the picture order count is not needed.
  package init(
    parsing unit: ByteBuffer, parameters: H264SequenceParameterSet? = nil, picture: H264PictureParameterSet? = nil
  ) throws(ParseError) {
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
      (frameNumber, field, order) = (nil, nil, nil)
      return
    }
    // colour_plane_id
    if parameters.hasSeparateColourPlanes { try reader.skip(2) }
    frameNumber = UInt16(truncatingIfNeeded: try reader.read(Int(parameters.log2MaximumFrameNumber)))
    // A frame is not damaged for what only its place in the order needs.
    var place: (field: Field?, order: Order?) = (nil, nil)
    do {
      place.field = try Self.field(&reader, parameters)
      if let picture {
        place.order = try Self.order(&reader, parameters, picture, isIDR: isIDR, field: place.field)
      }
    } catch {}
    (field, order) = place
  }

  private static func field(
    _ reader: inout NALUnitBitReader, _ parameters: H264SequenceParameterSet
  ) throws(ParseError) -> Field? {
    // field_pic_flag, bottom_field_flag
    guard !parameters.isProgressive, try reader.flag() else { return nil }
    return try reader.flag() ? .bottom : .top
  }

  private static func order(
    _ reader: inout NALUnitBitReader, _ parameters: H264SequenceParameterSet, _ picture: H264PictureParameterSet,
    isIDR: Bool, field: Field?
  ) throws(ParseError) -> Order {
    // idr_pic_id
    if isIDR { _ = try reader.code() }
    var order = Order()
    let tellsBottomField = picture.tellsBottomField && field == nil
    switch parameters.pictureOrderCount {
    case .leastSignificantBits(let count):
      order.leastSignificantBits = UInt16(truncatingIfNeeded: try reader.read(Int(count)))
      if tellsBottomField { order.bottomDifference = try reader.signedCode32() }
    case .cycle(let cycle):
      if cycle.isExact { break }
      order.difference = try reader.signedCode32()
      if tellsBottomField { order.secondDifference = try reader.signedCode32() }
    case .decodingOrder: break
    }
    return order
  }
}

package import NIOCore

/// A slice header up to the picture order count, and what resets that (ITU-T H.264, 7.3.3).
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
  /// Whether the picture order count begins again with the picture although it is no keyframe
  /// (memory_management_control_operation 5). Not known, and false, of streams whose sequence parameter set excludes reordering, and where
  /// the picture parameter set does not tell the form of the header.
  package let resetsOrder: Bool

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
      (frameNumber, field, order, resetsOrder) = (nil, nil, nil, false)
      return
    }
    // colour_plane_id
    if parameters.hasSeparateColourPlanes { try reader.skip(2) }
    frameNumber = UInt16(truncatingIfNeeded: try reader.read(Int(parameters.log2MaximumFrameNumber)))
    // A frame is not damaged for what only its place in the order needs.
    var place: (field: Field?, order: Order?, resets: Bool) = (nil, nil, false)
    do {
      place.field = try Self.field(&reader, parameters)
      if let picture {
        place.order = try Self.order(&reader, parameters, picture, isIDR: isIDR, field: place.field)
        if referenceIDC > 0, !isIDR, parameters.reorderedFrames != 0, let references = picture.references {
          place.resets = try Self.resetsOrder(&reader, references, parameters, sliceType: sliceType % 5)
        }
      }
    } catch {}
    (field, order, resetsOrder) = place
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

/// What follows the picture order count.
extension H264SliceHeader {
  /// The maximum number of commands in a list of a slice header: one for each field of 16 frames, and its end, twice.
  private static let maximumCommands = 66

  /// Reads the rest of the header up to the marking of references, and returns whether that has the operation 5.
  ///
  /// - Parameter sliceType: modulo 5: 0: P, 1: B, 2: I, 3: SP, 4: SI.
  private static func resetsOrder(
    _ reader: inout NALUnitBitReader, _ references: H264PictureParameterSet.References,
    _ parameters: H264SequenceParameterSet, sliceType: UInt8
  ) throws(ParseError) -> Bool {
    let isBidirectional = sliceType == 1
    let isPredicted = sliceType == 0 || sliceType == 3
    // redundant_pic_cnt, direct_spatial_mv_pred_flag
    if references.countsRedundantPictures { _ = try reader.code() }
    if isBidirectional { try reader.skip(1) }
    var counts = [references.lastIndex, references.lastBackwardIndex].map { Int($0) + 1 }
    if isPredicted || isBidirectional {
      // num_ref_idx_active_override_flag
      if try reader.flag() {
        counts[0] = 1 + (try reader.code("num_ref_idx_l0_active_minus1", upTo: 31))
        if isBidirectional { counts[1] = 1 + (try reader.code("num_ref_idx_l1_active_minus1", upTo: 31)) }
      }
      for _ in 0..<(isBidirectional ? 2 : 1) { try skipListModification(&reader) }
    }
    if isPredicted && references.isWeighted || isBidirectional && references.bidirectionalWeights == 1 {
      // ChromaArrayType
      let hasChroma = parameters.chromaFormat > 0 && !parameters.hasSeparateColourPlanes
      try skipWeights(&reader, counts: isBidirectional ? counts : [counts[0]], hasChroma: hasChroma)
    }
    return try hasReset(&reader)
  }

  /// 7.3.3.1.
  private static func skipListModification(_ reader: inout NALUnitBitReader) throws(ParseError) {
    guard try reader.flag() else { return }
    for _ in 0..<maximumCommands {
      if try reader.code("modification_of_pic_nums_idc", upTo: 5) == 3 { return }
      _ = try reader.code()
    }
    throw .wrongValue("The modifications of a reference list", expected: "an end", found: maximumCommands)
  }

  /// 7.3.3.2.
  private static func skipWeights(
    _ reader: inout NALUnitBitReader, counts: [Int], hasChroma: Bool
  ) throws(ParseError) {
    // luma_log2_weight_denom, chroma_log2_weight_denom
    for _ in 0..<(hasChroma ? 2 : 1) { _ = try reader.code() }
    for _ in 0..<counts.reduce(0, +) {
      if try reader.flag() {
        for _ in 0..<2 { _ = try reader.signedCode() }
      }
      if hasChroma, try reader.flag() {
        for _ in 0..<4 { _ = try reader.signedCode() }
      }
    }
  }

  /// 7.3.3.3, of a picture that is not IDR.
  private static func hasReset(_ reader: inout NALUnitBitReader) throws(ParseError) -> Bool {
    // adaptive_ref_pic_marking_mode_flag
    guard try reader.flag() else { return false }
    for _ in 0..<maximumCommands {
      switch try reader.code("memory_management_control_operation", upTo: 6) {
      case 0: return false
      case 5: return true
      case 3: for _ in 0..<2 { _ = try reader.code() }
      default: _ = try reader.code()
      }
    }
    throw .wrongValue("The memory management control operations", expected: "an end", found: maximumCommands)
  }
}

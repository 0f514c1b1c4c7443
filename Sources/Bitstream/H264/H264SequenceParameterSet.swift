package import NIOCore

/// A sequence parameter set (SPS): what holds for all frames from a keyframe to the next (ITU-T H.264, 7.3.2.1.1).
package struct H264SequenceParameterSet: Sendable, Hashable {
  /// The bytes of a parameter set that is accepted, also of a picture parameter set.
  package static let maximumBytes = 1_024
  /// The number of sequence parameter sets that a stream can have at once: ids are 0 to 31.
  package static let maximumCount = 32

  package typealias Size = PixelSize

  /// How slice headers tell the picture order count (ITU-T H.264, 8.2.1).
  package enum PictureOrderCount: Sendable, Hashable {
    /// Type 0: its lowest bits; their number, 4 to 16.
    case leastSignificantBits(UInt8)
    /// Type 1: differences from a cycle of expected ones.
    case cycle(Cycle)
    /// Type 2: pictures are shown in the order of decoding.
    case decodingOrder
  }

  /// The expected differences between picture order counts (type 1).
  package struct Cycle: Sendable, Hashable {
    /// delta_pic_order_always_zero_flag: whether slice headers have no differences from the expected ones.
    package var isExact: Bool
    /// offset_for_non_ref_pic.
    package var offsetOfOthers: Int32
    /// offset_for_top_to_bottom_field.
    package var offsetOfBottomField: Int32
    /// offset_for_ref_frame, at most 255.
    package var offsets: [Int32]
  }

  /// The maximum number of reference frames in a cycle of picture order counts.
  package static let maximumCycle: UInt32 = 255

  /// seq_parameter_set_id, 0 to 31.
  package let id: UInt8
  /// profile_idc, for example 66 (baseline), 77 (main), 100 (high).
  package let profileIDC: UInt8
  /// The byte of constraint_set0_flag to constraint_set5_flag, the first in its highest bit.
  package let constraintFlags: UInt8
  /// level_idc: ten times the level, for example 31.
  package let levelIDC: UInt8
  /// chroma_format_idc: 0: monochrome, 1: 4:2:0, 2: 4:2:2, 3: 4:4:4.
  package let chromaFormat: UInt8
  /// The bits of a sample: the maximum of luma and chroma, 8 to 14.
  package let bitDepth: UInt8
  /// The bits of a sample of luma and of chroma.
  package let lumaBitDepth: UInt8
  package let chromaBitDepth: UInt8
  /// Whether the three colours are coded apart, so that a slice header names one.
  package let hasSeparateColourPlanes: Bool
  /// The number of bits of frame_num, 4 to 16.
  package let log2MaximumFrameNumber: UInt8
  /// How the picture order count of a picture is coded.
  package let pictureOrderCount: PictureOrderCount
  /// pic_order_cnt_type: 2 if frames are shown in the order of decoding.
  package var pictureOrderCountType: UInt8 {
    switch pictureOrderCount {
    case .leastSignificantBits: 0
    case .cycle: 1
    case .decodingOrder: 2
    }
  }
  /// max_num_ref_frames, 0 to 16.
  package let maximumReferences: UInt8
  /// Whether the encoder may leave out values of frame_num, so that a step does not prove a loss.
  package let allowsFrameNumberGaps: Bool
  /// Whether each picture is a whole frame, so that a slice header does not tell fields.
  package let isProgressive: Bool
  /// The size of a frame as decoded, in whole macroblocks.
  package let codedSize: Size
  /// The size of a frame after cropping.
  package let size: Size
  /// The maximum number of frames that precede a frame in decoding and follow it in output: 0 if there is no reordering (no
  /// B-frames); nil if the parameter set does not tell it.
  package let reorderedFrames: Int?

  /// The codec in MIME types (RFC 6381, 3.3), for example `avc1.640c1f`.
  package var codecString: String {
    "avc1." + [profileIDC, constraintFlags, levelIDC].map(Self.hexadecimal).joined()
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  /// The profiles whose parameter sets tell the format of chroma.
  private static let highProfiles: Set<UInt8> = [44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244]
  /// Those of them that have no references if constraint_set3_flag is set.
  private static let intraProfiles: Set<UInt8> = [44, 86, 100, 110, 122, 244]
  /// A side has fewer macroblocks than this: 65,536 pixels.
  private static let maximumMacroblocks: UInt32 = 4_095

  /// Parses a NAL unit, header included.
  package init(parsing unit: ByteBuffer) throws(ParseError) {
    guard unit.readableBytes <= Self.maximumBytes else {
      throw .wrongValue("An SPS's size", expected: "at most \(Self.maximumBytes) bytes", found: unit.readableBytes)
    }
    let type = Int(unit.getInteger(at: unit.readerIndex, as: UInt8.self) ?? 0) & 0x1F
    guard type == 7 else { throw .wrongValue("An SPS's nal_unit_type", expected: "7", found: type) }
    var reader = NALUnitBitReader(unit, part: "An SPS")
    profileIDC = UInt8(truncatingIfNeeded: try reader.read(8))
    constraintFlags = UInt8(truncatingIfNeeded: try reader.read(8))
    levelIDC = UInt8(truncatingIfNeeded: try reader.read(8))
    id = UInt8(try reader.code("seq_parameter_set_id", upTo: 31))
    let format = Self.highProfiles.contains(profileIDC) ? try Format(&reader) : Format()
    chromaFormat = format.chroma
    hasSeparateColourPlanes = format.hasSeparatePlanes
    lumaBitDepth = format.lumaDepth
    chromaBitDepth = format.chromaDepth
    bitDepth = max(format.lumaDepth, format.chromaDepth)
    log2MaximumFrameNumber = UInt8(4 + (try reader.code("log2_max_frame_num_minus4", upTo: 12)))
    pictureOrderCount = try Self.readPictureOrderCount(&reader)
    maximumReferences = UInt8(try reader.code("max_num_ref_frames", upTo: 16))
    allowsFrameNumberGaps = try reader.flag()
    let columns = 1 + (try reader.code("pic_width_in_mbs_minus1", upTo: Self.maximumMacroblocks - 1))
    let rows = 1 + (try reader.code("pic_height_in_map_units_minus1", upTo: Self.maximumMacroblocks - 1))
    isProgressive = try reader.flag()
    // mb_adaptive_frame_field_flag
    if !isProgressive { try reader.skip(1) }
    // direct_8x8_inference_flag
    try reader.skip(1)
    codedSize = Size(width: columns * 16, height: rows * 16 * (isProgressive ? 1 : 2))
    size = try Self.crop(codedSize, format: format, isProgressive: isProgressive, &reader)
    // What follows a broken VUI is only hints.
    let restriction = try? Self.readReorderedFrames(&reader)
    let isNeverReordered =
      pictureOrderCount == .decodingOrder || profileIDC == 66
      || Self.intraProfiles.contains(profileIDC) && constraintFlags & 0x10 != 0
    reorderedFrames = restriction ?? (isNeverReordered ? 0 : nil)
  }

  private struct Format {
    var chroma: UInt8 = 1
    var hasSeparatePlanes = false
    var lumaDepth: UInt8 = 8
    var chromaDepth: UInt8 = 8

    init() {}

    init(_ reader: inout NALUnitBitReader) throws(ParseError) {
      chroma = UInt8(try reader.code("chroma_format_idc", upTo: 3))
      if chroma == 3 { hasSeparatePlanes = try reader.flag() }
      lumaDepth = UInt8(8 + (try reader.code("bit_depth_luma_minus8", upTo: 6)))
      chromaDepth = UInt8(8 + (try reader.code("bit_depth_chroma_minus8", upTo: 6)))
      // qpprime_y_zero_transform_bypass_flag
      try reader.skip(1)
      guard try reader.flag() else { return }
      for list in 0..<(chroma == 3 ? 12 : 8) where try reader.flag() {
        try Self.skipScalingList(of: list < 6 ? 16 : 64, &reader)
      }
    }

    /// ITU-T H.264, 7.3.2.1.1.1.
    private static func skipScalingList(of size: Int, _ reader: inout NALUnitBitReader) throws(ParseError) {
      var (last, next) = (8, 8)
      for _ in 0..<size {
        if next != 0 { next = (last + (try reader.signedCode()) % 256 + 256) % 256 }
        if next != 0 { last = next }
      }
    }
  }

  private static func readPictureOrderCount(_ reader: inout NALUnitBitReader) throws(ParseError) -> PictureOrderCount {
    switch try reader.code("pic_order_cnt_type", upTo: 2) {
    case 0: return .leastSignificantBits(UInt8(4 + (try reader.code("log2_max_pic_order_cnt_lsb_minus4", upTo: 12))))
    case 1:
      var cycle = Cycle(
        isExact: try reader.flag(), offsetOfOthers: try reader.signedCode32(),
        offsetOfBottomField: try reader.signedCode32(), offsets: [])
      let count = try reader.code("num_ref_frames_in_pic_order_cnt_cycle", upTo: maximumCycle)
      for _ in 0..<count { cycle.offsets.append(try reader.signedCode32()) }
      return .cycle(cycle)
    default: return .decodingOrder
    }
  }

  private static func crop(_ coded: Size, format: Format, isProgressive: Bool, _ reader: inout NALUnitBitReader)
    throws(ParseError) -> Size
  {
    guard try reader.flag() else { return coded }
    let limit = maximumMacroblocks * 16
    let left = try reader.code("frame_crop_left_offset", upTo: limit)
    let right = try reader.code("frame_crop_right_offset", upTo: limit)
    let top = try reader.code("frame_crop_top_offset", upTo: limit)
    let bottom = try reader.code("frame_crop_bottom_offset", upTo: limit)
    let horizontalUnit = (1...2).contains(format.chroma) ? 2 : 1
    let verticalUnit = (format.chroma == 1 ? 2 : 1) * (isProgressive ? 1 : 2)
    let size = Size(
      width: coded.width - (left + right) * horizontalUnit, height: coded.height - (top + bottom) * verticalUnit)
    guard size.width > 0 else {
      throw .wrongValue("An SPS's width after cropping", expected: "at least 1", found: size.width)
    }
    guard size.height > 0 else {
      throw .wrongValue("An SPS's height after cropping", expected: "at least 1", found: size.height)
    }
    return size
  }
}

/// The video usability information (VUI; ITU-T H.264, E.1.1).
extension H264SequenceParameterSet {
  /// Reads the VUI up to max_num_reorder_frames; nil if it is not there.
  private static func readReorderedFrames(_ reader: inout NALUnitBitReader) throws(ParseError) -> Int? {
    guard try reader.flag() else { return nil }
    // aspect_ratio_info_present_flag, aspect_ratio_idc, sar_width, sar_height
    if try reader.flag(), try reader.read(8) == 255 { try reader.skip(32) }
    // overscan_info_present_flag, overscan_appropriate_flag
    if try reader.flag() { try reader.skip(1) }
    // video_signal_type_present_flag
    if try reader.flag() {
      try reader.skip(4)
      // colour_description_present_flag
      if try reader.flag() { try reader.skip(24) }
    }
    // chroma_loc_info_present_flag
    if try reader.flag() {
      for _ in 0..<2 { _ = try reader.code() }
    }
    // timing_info_present_flag
    if try reader.flag() { try reader.skip(65) }
    let hasNALParameters = try skipDecoderParameters(&reader)
    let hasVCLParameters = try skipDecoderParameters(&reader)
    // low_delay_hrd_flag
    if hasNALParameters || hasVCLParameters { try reader.skip(1) }
    // pic_struct_present_flag
    try reader.skip(1)
    // bitstream_restriction_flag
    guard try reader.flag() else { return nil }
    // motion_vectors_over_pic_boundaries_flag, max_bytes_per_pic_denom, max_bits_per_mb_denom, log2_max_mv_length
    try reader.skip(1)
    for _ in 0..<4 { _ = try reader.code() }
    return try reader.code("max_num_reorder_frames", upTo: 16)
  }

  /// Skips the parameters of a hypothetical reference decoder (E.1.2), and returns whether they are there.
  private static func skipDecoderParameters(_ reader: inout NALUnitBitReader) throws(ParseError) -> Bool {
    guard try reader.flag() else { return false }
    let count = 1 + (try reader.code("cpb_cnt_minus1", upTo: 31))
    try reader.skip(8)
    for _ in 0..<count {
      for _ in 0..<2 { _ = try reader.code() }
      try reader.skip(1)
    }
    try reader.skip(20)
    return true
  }
}

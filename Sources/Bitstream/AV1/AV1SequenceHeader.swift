package import NIOCore

/// What holds for all frames from a keyframe to the next: a sequence header OBU (AV1 bitstream specification, 5.5).
package struct AV1SequenceHeader: Sendable, Hashable {
  /// The bytes of a sequence header that is accepted: the longest has about 1,000.
  package static let maximumBytes = 1_024

  /// Width and height in pixels, at least 1.
  package struct Size: Sendable, Hashable {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  /// The layers that a decoder may choose to decode.
  package struct OperatingPoint: Sendable, Hashable {
    /// operating_point_idc: a bit for each temporal layer, then from bit 8 on one for each spatial layer; 0 if there are no layers.
    package var layers: UInt16
    /// seq_level_idx, 0 to 31.
    package var level: UInt8
    /// seq_tier: whether it is of the high tier.
    package var isHighTier: Bool
    /// Whether frame headers have its buffer_removal_time.
    var hasRemovalTime = false

    package init(layers: UInt16, level: UInt8, isHighTier: Bool) {
      self.layers = layers
      self.level = level
      self.isHighTier = isHighTier
    }

    /// The number of spatial layers, 1 to 4.
    package var spatialLayers: Int { max(1, 16 - (layers & 0x0F00).leadingZeroBitCount - 8) }
  }

  /// seq_profile: 0 (main), 1 (high), 2 (professional).
  package let profile: UInt8
  /// Whether the stream is a picture with a short header (reduced_still_picture_header).
  package let isReducedStillPicture: Bool
  /// At least one; the first has the most layers.
  package let operatingPoints: [OperatingPoint]
  /// The maximum size of a frame, and its size unless its header tells it.
  package let maximumSize: Size
  /// 8, 10 or 12.
  package let bitDepth: UInt8
  package let isMonochrome: Bool
  /// Whether the chroma has half the width, and half the height.
  package let hasHalfChromaWidth: Bool
  package let hasHalfChromaHeight: Bool
  /// chroma_sample_position, 0 to 3.
  package let chromaSamplePosition: UInt8
  /// What is needed to read frame headers.
  let frameFields: FrameFields

  /// Which fields a frame header has.
  struct FrameFields: Sendable, Hashable {
    /// The bits of frame_width_minus_1 and frame_height_minus_1, 1 to 16.
    var widthBits = 0
    var heightBits = 0
    /// The bits of a frame id, and of the difference of two; 0 if frames have none.
    var frameIDBits = 0
    var frameIDDifferenceBits = 0
    /// 0 without order hints.
    var orderHintBits = 0
    /// seq_force_screen_content_tools and seq_force_integer_mv: nil if the frame header tells it.
    var screenContentTools: Bool?
    var integerMotionVectors: Bool?
    var hasSuperresolution = false
    /// The bits of frame_presentation_time; 0 if shown frames have none.
    var presentationTimeBits = 0
    /// The bits of buffer_removal_time; 0 if frames have none.
    var removalTimeBits = 0
    /// The bit at which the first operating_point_idc begins; nil in a short header.
    var layersPosition: Int?
  }

  /// The codec in MIME types (AV1 in ISOBMFF, 5), for example `av01.0.04M.08`.
  package var codecString: String {
    let point = operatingPoints[0]
    return "av01.\(profile).\(Self.twoDigits(point.level))\(point.isHighTier ? "H" : "M").\(Self.twoDigits(bitDepth))"
  }

  private static func twoDigits(_ number: UInt8) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// The number of spatial layers of the operating point with the most, 1 to 4.
  package var spatialLayers: Int { operatingPoints[0].spatialLayers }

  /// Returns the payload of the OBU with this header, in which the first operating point has the spatial layers up to one, 0 to 3.
  package func payload(_ payload: ByteBuffer, withSpatialLayersUpTo layer: UInt8) -> ByteBuffer {
    guard let position = frameFields.layersPosition else { return payload }
    let layers = operatingPoints[0].layers
    // Without layers, all bits are 0, and each temporal layer is meant.
    let wanted = Int(layers | (layers == 0 ? 0x00FF : 0) | (1 << UInt16(9 + min(3, layer)) - 0x0100))
    var changed = payload
    for bit in 0..<12 {
      let index = payload.readerIndex + (position + bit) / 8
      let mask: UInt8 = 0x80 >> UInt8((position + bit) % 8)
      guard let byte = changed.getInteger(at: index, as: UInt8.self) else { break }
      changed.setInteger(wanted >> (11 - bit) & 1 == 1 ? byte | mask : byte & ~mask, at: index)
    }
    return changed
  }

  /// Parses the payload of the OBU. What follows the colours is ignored.
  package init(parsing payload: ByteBuffer) throws(ParseError) {
    guard payload.readableBytes <= Self.maximumBytes else {
      throw .wrongValue(
        "A sequence header's size", expected: "at most \(Self.maximumBytes) bytes", found: payload.readableBytes)
    }
    var reader = AV1BitReader(payload, part: "A sequence header")
    var fields = FrameFields()
    profile = UInt8(try reader.read(3))
    guard profile <= 2 else {
      throw .wrongValue("A sequence header's seq_profile", expected: "0 to 2", found: Int(profile))
    }
    // still_picture
    try reader.skip(1)
    isReducedStillPicture = try reader.flag()
    operatingPoints =
      isReducedStillPicture
      ? [OperatingPoint(layers: 0, level: UInt8(try reader.read(5)), isHighTier: false)]
      : try Self.readOperatingPoints(&reader, &fields)
    fields.widthBits = 1 + (try reader.read(4))
    fields.heightBits = 1 + (try reader.read(4))
    let width = 1 + (try reader.read(fields.widthBits))
    maximumSize = Size(width: width, height: 1 + (try reader.read(fields.heightBits)))
    if !isReducedStillPicture, try reader.flag() {
      fields.frameIDDifferenceBits = 2 + (try reader.read(4))
      fields.frameIDBits = 1 + fields.frameIDDifferenceBits + (try reader.read(3))
    }
    // use_128x128_superblock, enable_filter_intra, enable_intra_edge_filter
    try reader.skip(3)
    if !isReducedStillPicture { try Self.readTools(&reader, &fields) }
    fields.hasSuperresolution = try reader.flag()
    // enable_cdef, enable_restoration
    try reader.skip(2)
    frameFields = fields
    let colours = try Colours(&reader, profile: profile)
    bitDepth = colours.bitDepth
    isMonochrome = colours.isMonochrome
    hasHalfChromaWidth = colours.hasHalfWidth
    hasHalfChromaHeight = colours.hasHalfHeight
    chromaSamplePosition = colours.samplePosition
  }

  private static func readOperatingPoints(_ reader: inout AV1BitReader, _ fields: inout FrameFields) throws(ParseError)
    -> [OperatingPoint]
  {
    var delayBits: Int?
    // timing_info_present_flag
    if try reader.flag() {
      // num_units_in_display_tick, time_scale
      try reader.skip(64)
      let hasEqualIntervals = try reader.flag()
      // num_ticks_per_picture_minus_1
      if hasEqualIntervals { try reader.skipVariableLength() }
      // decoder_model_info_present_flag
      if try reader.flag() {
        delayBits = 1 + (try reader.read(5))
        // num_units_in_decoding_tick
        try reader.skip(32)
        fields.removalTimeBits = 1 + (try reader.read(5))
        let bits = 1 + (try reader.read(5))
        fields.presentationTimeBits = hasEqualIntervals ? 0 : bits
      }
    }
    let hasDisplayDelays = try reader.flag()
    let count = 1 + (try reader.read(5))
    var points: [OperatingPoint] = []
    points.reserveCapacity(count)
    for _ in 0..<count {
      fields.layersPosition = fields.layersPosition ?? reader.position
      let layers = UInt16(try reader.read(12))
      let level = UInt8(try reader.read(5))
      var point = OperatingPoint(layers: layers, level: level, isHighTier: level > 7 ? try reader.flag() : false)
      if let delayBits, try reader.flag() {
        // decoder_buffer_delay, encoder_buffer_delay, low_delay_mode_flag
        try reader.skip(2 * delayBits + 1)
        point.hasRemovalTime = true
      }
      if hasDisplayDelays, try reader.flag() { try reader.skip(4) }
      points.append(point)
    }
    return points
  }

  /// Reads which tools frames may use.
  private static func readTools(_ reader: inout AV1BitReader, _ fields: inout FrameFields) throws(ParseError) {
    // enable_interintra_compound, enable_masked_compound, enable_warped_motion, enable_dual_filter
    try reader.skip(4)
    let hasOrderHints = try reader.flag()
    // enable_jnt_comp, enable_ref_frame_mvs
    if hasOrderHints { try reader.skip(2) }
    // seq_choose_screen_content_tools
    if try !reader.flag() { fields.screenContentTools = try reader.flag() }
    // seq_choose_integer_mv
    if fields.screenContentTools ?? true, try !reader.flag() { fields.integerMotionVectors = try reader.flag() }
    if hasOrderHints { fields.orderHintBits = 1 + (try reader.read(3)) }
  }

  /// AV1 bitstream specification, 5.5.2.
  private struct Colours {
    var bitDepth: UInt8
    var isMonochrome: Bool
    var hasHalfWidth = true
    var hasHalfHeight = true
    var samplePosition: UInt8 = 0

    init(_ reader: inout AV1BitReader, profile: UInt8) throws(ParseError) {
      let isHigh = try reader.flag()
      let isTwelve = profile == 2 && isHigh ? try reader.flag() : false
      bitDepth = isTwelve ? 12 : isHigh ? 10 : 8
      isMonochrome = profile == 1 ? false : try reader.flag()
      // color_primaries, transfer_characteristics, matrix_coefficients: unspecified
      var description = 0x020202
      if try reader.flag() { description = try reader.read(24) }
      if isMonochrome {
        // color_range
        try reader.skip(1)
        return
      }
      // sRGB
      if description == 0x010D00 {
        (hasHalfWidth, hasHalfHeight) = (false, false)
        return
      }
      // color_range
      try reader.skip(1)
      switch profile {
      case 0: break
      case 1: (hasHalfWidth, hasHalfHeight) = (false, false)
      default:
        hasHalfWidth = bitDepth == 12 ? try reader.flag() : true
        hasHalfHeight = bitDepth == 12 && hasHalfWidth ? try reader.flag() : false
      }
      if hasHalfWidth, hasHalfHeight { samplePosition = UInt8(try reader.read(2)) }
    }
  }
}

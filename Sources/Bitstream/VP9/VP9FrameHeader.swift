package import NIOCore

/// The uncompressed header of a VP9 frame (VP9 bitstream specification, 6.2 and 7.2), up to the frame's size.
///
/// ``extent(in:)`` parses what follows.
package struct VP9FrameHeader: Sendable, Hashable {
  /// The size of a frame in pixels: 1 to 65,536.
  package struct Size: Sendable, Hashable {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  /// What a frame is predicted from.
  package enum Kind: Sendable, Hashable {
    /// A keyframe, with which decoding can begin.
    case keyframe
    /// Without prediction from other frames (intra_only), but not all references are replaced.
    case intraOnly
    /// Predicted from other frames.
    ///
    /// - Parameter references: ref_frame_idx, three slots of reference frames, 0...7.
    case inter(references: [Int])
    /// An earlier frame that is shown (show_existing_frame); there is no frame data.
    ///
    /// - Parameter slot: frame_to_show_map_idx, 0...7.
    case showsExisting(slot: Int)
  }

  /// 0...3; profiles 1 and 3 have other chroma subsampling than 4:2:0, profiles 2 and 3 have 10 or 12 bits.
  package let profile: UInt8
  /// The bits of a sample: 8, 10 or 12; nil if the frame does not state them, as those predicted from others in profiles 2 and 3.
  package let bitDepth: UInt8?
  package let kind: Kind
  /// Whether the frame is shown (show_frame), or only used as a reference.
  package let isShown: Bool
  /// error_resilient_mode: whether the frame uses neither probabilities nor motion vectors of the frame before it.
  package let isErrorResilient: Bool
  /// refresh_frame_flags: bit N is set if the frame is stored in slot N.
  package let refreshFrameFlags: UInt8
  /// The frame's size; nil if it is that of a reference of unknown size.
  package let size: Size?
  /// The number of bits up to here.
  private let parsedBits: Int

  /// frame_sync_code.
  private static let syncCode = 0x498342

  package var isKeyframe: Bool { kind == .keyframe }

  /// Parses a header.
  ///
  /// - Parameters:
  ///   - frame: a whole frame, or its first bytes: at most 28 are read.
  ///   - references: the sizes of the reference frames. Without them the size of most inter frames is nil.
  package init(parsing frame: ByteBuffer, references: VP9ReferenceSizes? = nil) throws(ParseError) {
    var bits = VP9BitReader(frame)
    let marker = try bits.read(2)
    guard marker == 2 else { throw .wrongValue("A VP9 frame marker", expected: "2", found: marker) }
    let (low, high) = (try bits.read(1), try bits.read(1))
    profile = UInt8(high << 1 | low)
    if profile == 3 { try Self.readReserved(&bits) }
    if try bits.flag() {
      let slot = try bits.read(3)
      kind = .showsExisting(slot: slot)
      (isShown, isErrorResilient, refreshFrameFlags) = (true, false, 0)
      size = references?[slot]
      parsedBits = bits.position
      bitDepth = profile < 2 ? 8 : nil
      return
    }
    let isKeyframe = try !bits.flag()
    isShown = try bits.flag()
    isErrorResilient = try bits.flag()
    var depth: UInt8? = profile < 2 ? 8 : nil
    if isKeyframe {
      try Self.readSyncCode(&bits)
      depth = try Self.readColour(&bits, profile: profile)
      kind = .keyframe
      refreshFrameFlags = 0xFF
      size = try Self.readSize(&bits)
    } else {
      let isIntraOnly = isShown ? false : try bits.flag()
      // reset_frame_context
      if !isErrorResilient { try bits.skip(2) }
      if isIntraOnly {
        try Self.readSyncCode(&bits)
        if profile > 0 { depth = try Self.readColour(&bits, profile: profile) }
        kind = .intraOnly
        refreshFrameFlags = UInt8(try bits.read(8))
        size = try Self.readSize(&bits)
      } else {
        refreshFrameFlags = UInt8(try bits.read(8))
        var slots: [Int] = []
        slots.reserveCapacity(3)
        for _ in 0..<3 {
          slots.append(try bits.read(3))
          // ref_frame_sign_bias
          try bits.skip(1)
        }
        kind = .inter(references: slots)
        size = try Self.readSize(&bits, slots: slots, references: references)
      }
    }
    bitDepth = depth
    // render_size
    try bits.skipOptional(32)
    parsedBits = bits.position
  }

  private static func readReserved(_ bits: inout VP9BitReader) throws(ParseError) {
    if try bits.flag() { throw .wrongValue("A reserved bit of a VP9 frame header", expected: "0", found: 1) }
  }

  private static func readSyncCode(_ bits: inout VP9BitReader) throws(ParseError) {
    let code = try bits.read(24)
    guard code == syncCode else {
      throw .wrongValue("A VP9 frame's sync code", expected: "\(syncCode)", found: code)
    }
  }

  /// Reads color_config.
  ///
  /// - Returns: the bits of a sample.
  private static func readColour(_ bits: inout VP9BitReader, profile: UInt8) throws(ParseError) -> UInt8 {
    var depth: UInt8 = 8
    // ten_or_twelve_bit
    if profile >= 2 { depth = try bits.flag() ? 12 : 10 }
    let hasSubsampling = profile & 1 == 1
    let isRGB = try bits.read(3) == 7
    if !isRGB {
      // color_range, subsampling_x, subsampling_y
      try bits.skip(hasSubsampling ? 3 : 1)
    } else if !hasSubsampling {
      throw .wrongValue("The profile of a VP9 frame with RGB", expected: "1 or 3", found: Int(profile))
    }
    if hasSubsampling { try readReserved(&bits) }
    return depth
  }

  private static func readSize(_ bits: inout VP9BitReader) throws(ParseError) -> Size {
    Size(width: try bits.read(16) + 1, height: try bits.read(16) + 1)
  }

  /// Reads frame_size_with_refs.
  private static func readSize(
    _ bits: inout VP9BitReader, slots: [Int], references: VP9ReferenceSizes?
  ) throws(ParseError) -> Size? {
    for slot in slots {
      // found_ref
      if try bits.flag() { return references?[slot] }
    }
    return try readSize(&bits)
  }
}

/// The part of the header after the frame's size.
extension VP9FrameHeader {
  /// The lengths of a frame's headers.
  package struct Extent: Sendable, Hashable {
    /// The length of the uncompressed header in bits, without the zero bits that fill its last byte.
    package var bits: Int
    /// header_size_in_bytes: the length of the compressed header, which follows.
    package var compressedHeaderSize: Int

    /// The length of the uncompressed header in bytes.
    package var bytes: Int { (bits + 7) / 8 }
  }

  /// Parses the rest of the header.
  ///
  /// - Parameter frame: the whole frame.
  /// - Returns: nil if the frame's size is unknown, because the length of the tile information depends on it.
  package func extent(in frame: ByteBuffer) throws(ParseError) -> Extent? {
    var bits = VP9BitReader(frame, position: parsedBits)
    if case .showsExisting = kind { return Extent(bits: parsedBits, compressedHeaderSize: 0) }
    guard let size else { return nil }
    if case .inter = kind {
      // allow_high_precision_mv
      try bits.skip(1)
      // is_filter_switchable, raw_interpolation_filter
      if try !bits.flag() { try bits.skip(2) }
    }
    // refresh_frame_context, frame_parallel_decoding_mode
    if !isErrorResilient { try bits.skip(2) }
    // frame_context_idx
    try bits.skip(2)
    try Self.skipLoopFilter(&bits)
    try Self.skipQuantization(&bits)
    try Self.skipSegmentation(&bits)
    try Self.skipTiles(&bits, width: size.width)
    let compressedHeaderSize = try bits.read(16)
    guard compressedHeaderSize > 0 else {
      throw .wrongValue("The length of a VP9 frame's compressed header", expected: "above 0", found: 0)
    }
    return Extent(bits: bits.position, compressedHeaderSize: compressedHeaderSize)
  }

  /// Skips loop_filter_params.
  private static func skipLoopFilter(_ bits: inout VP9BitReader) throws(ParseError) {
    // loop_filter_level, loop_filter_sharpness
    try bits.skip(9)
    guard try bits.flag(), try bits.flag() else { return }
    // loop_filter_ref_deltas, loop_filter_mode_deltas
    for _ in 0..<6 { try bits.skipOptional(7) }
  }

  /// Skips quantization_params.
  private static func skipQuantization(_ bits: inout VP9BitReader) throws(ParseError) {
    // base_q_idx
    try bits.skip(8)
    // delta_q_y_dc, delta_q_uv_dc, delta_q_uv_ac
    for _ in 0..<3 { try bits.skipOptional(5) }
  }

  /// The lengths of the segmentation features with their signs: quantizer, loop filter, reference frame, skip.
  private static let segmentationFeatures = [9, 7, 2, 0]

  /// Skips segmentation_params.
  private static func skipSegmentation(_ bits: inout VP9BitReader) throws(ParseError) {
    guard try bits.flag() else { return }
    // segmentation_update_map
    if try bits.flag() {
      for _ in 0..<7 { try bits.skipOptional(8) }
      if try bits.flag() {
        for _ in 0..<3 { try bits.skipOptional(8) }
      }
    }
    // segmentation_update_data
    guard try bits.flag() else { return }
    // segmentation_abs_or_delta_update
    try bits.skip(1)
    for _ in 0..<8 {
      for length in segmentationFeatures { try bits.skipOptional(length) }
    }
  }

  /// Skips tile_info.
  private static func skipTiles(_ bits: inout VP9BitReader, width: Int) throws(ParseError) {
    // The width in superblocks of 64 pixels: 1 to 1,024. A tile is 4 to 64 of them wide.
    let columns = (width + 63) / 64
    var minimum = 0
    while 64 << minimum < columns { minimum += 1 }
    var maximum = 1
    while columns >> maximum >= 4 { maximum += 1 }
    maximum -= 1
    for _ in 0..<max(0, maximum - minimum) {
      if try !bits.flag() { break }
    }
    // tile_rows_log2
    try bits.skipOptional(1)
  }
}

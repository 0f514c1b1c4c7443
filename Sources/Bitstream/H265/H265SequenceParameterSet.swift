package import NIOCore

/// A sequence parameter set (SPS): what holds for all frames from a keyframe to the next (ITU-T H.265, 7.3.2.2.1).
package struct H265SequenceParameterSet: Sendable, Hashable {
  /// sps_seq_parameter_set_id, 0 to 15.
  package let id: UInt8
  /// The video parameter set that it belongs to, 0 to 15.
  package let videoParameterSetID: UInt8
  /// The number of temporal sub-layers, 1 to 7.
  package let temporalLayers: UInt8
  /// sps_temporal_id_nesting_flag: whether a receiver may go to a higher temporal sub-layer with any frame of it.
  package let isTemporallyNested: Bool
  package let profile: H265ProfileTierLevel
  /// chroma_format_idc: 0: monochrome, 1: 4:2:0, 2: 4:2:2, 3: 4:4:4.
  package let chromaFormat: UInt8
  /// Whether the three colours are coded apart, so that a slice header names one.
  package let hasSeparateColourPlanes: Bool
  /// The bits of a sample of luma and of chroma, 8 to 16.
  package let lumaBitDepth: UInt8
  package let chromaBitDepth: UInt8
  /// The bits of a sample: the maximum of luma and chroma.
  package var bitDepth: UInt8 { max(lumaBitDepth, chromaBitDepth) }
  /// The size of a frame as decoded.
  package let codedSize: PixelSize
  /// The size of a frame inside of the conformance window.
  package let size: PixelSize
  /// The number of bits of slice_pic_order_cnt_lsb, 4 to 16.
  package let pictureOrderCountBits: UInt8
  /// sps_max_num_reorder_pics of all temporal sub-layers: the maximum number of frames that precede a frame in decoding and follow it
  /// in output, 0 to 15. 0 if there is no reordering (no B-frames).
  package let reorderedFrames: Int
  /// sps_max_dec_pic_buffering_minus1 of all temporal sub-layers, plus 1: the frames that a decoder keeps, 1 to 16.
  package let bufferedFrames: Int

  /// The codec in MIME types, for example `hvc1.1.6.L93.B0`.
  package var codecString: String { profile.codecString }

  /// The maximum of a side in pixels.
  private static let maximumSide: UInt32 = 65_535

  /// Parses a NAL unit, header included, up to the numbers of frames in a decoder.
  package init(parsing unit: ByteBuffer) throws(ParseError) {
    var reader = try H265ParameterSets.reader(of: unit, type: .sequenceParameterSet, name: "SPS")
    videoParameterSetID = UInt8(truncatingIfNeeded: try reader.read(4))
    temporalLayers = UInt8(truncatingIfNeeded: try reader.read(3)) + 1
    guard temporalLayers <= 7 else {
      throw .wrongValue("An SPS's sps_max_sub_layers_minus1", expected: "at most 6", found: 7)
    }
    isTemporallyNested = try reader.flag()
    profile = try H265ProfileTierLevel(&reader, temporalLayers: Int(temporalLayers))
    id = UInt8(try reader.code("sps_seq_parameter_set_id", upTo: 15))
    chromaFormat = UInt8(try reader.code("chroma_format_idc", upTo: 3))
    hasSeparateColourPlanes = chromaFormat == 3 ? try reader.flag() : false
    let width = try reader.code("pic_width_in_luma_samples", upTo: Self.maximumSide)
    let height = try reader.code("pic_height_in_luma_samples", upTo: Self.maximumSide)
    guard width > 0 else { throw .wrongValue("An SPS's width", expected: "at least 1", found: 0) }
    guard height > 0 else { throw .wrongValue("An SPS's height", expected: "at least 1", found: 0) }
    codedSize = PixelSize(width: width, height: height)
    size = try Self.crop(codedSize, chromaFormat: chromaFormat, &reader)
    lumaBitDepth = UInt8(8 + (try reader.code("bit_depth_luma_minus8", upTo: 8)))
    chromaBitDepth = UInt8(8 + (try reader.code("bit_depth_chroma_minus8", upTo: 8)))
    pictureOrderCountBits = UInt8(4 + (try reader.code("log2_max_pic_order_cnt_lsb_minus4", upTo: 12)))
    // sps_sub_layer_ordering_info_present_flag: whether there are numbers for each temporal sub-layer, else for all of them.
    let count = try reader.flag() ? Int(temporalLayers) : 1
    var (buffered, reordered) = (1, 0)
    for _ in 0..<count {
      buffered = max(buffered, 1 + (try reader.code("sps_max_dec_pic_buffering_minus1", upTo: 15)))
      reordered = max(reordered, try reader.code("sps_max_num_reorder_pics", upTo: 15))
      // sps_max_latency_increase_plus1
      _ = try reader.code()
    }
    bufferedFrames = buffered
    reorderedFrames = reordered
  }

  private static func crop(_ coded: PixelSize, chromaFormat: UInt8, _ reader: inout NALUnitBitReader)
    throws(ParseError) -> PixelSize
  {
    guard try reader.flag() else { return coded }
    let left = try reader.code("conf_win_left_offset", upTo: maximumSide)
    let right = try reader.code("conf_win_right_offset", upTo: maximumSide)
    let top = try reader.code("conf_win_top_offset", upTo: maximumSide)
    let bottom = try reader.code("conf_win_bottom_offset", upTo: maximumSide)
    let horizontalUnit = (1...2).contains(chromaFormat) ? 2 : 1
    let verticalUnit = chromaFormat == 1 ? 2 : 1
    let size = PixelSize(
      width: coded.width - (left + right) * horizontalUnit, height: coded.height - (top + bottom) * verticalUnit)
    guard size.width > 0 else {
      throw .wrongValue("An SPS's width inside of the conformance window", expected: "at least 1", found: size.width)
    }
    guard size.height > 0 else {
      throw .wrongValue("An SPS's height inside of the conformance window", expected: "at least 1", found: size.height)
    }
    return size
  }
}

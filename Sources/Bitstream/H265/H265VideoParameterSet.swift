package import NIOCore

/// The id of a video parameter set (VPS), to which sequence parameter sets refer (ITU-T H.265, 7.3.2.1).
package struct H265VideoParameterSet: Sendable, Hashable {
  /// vps_video_parameter_set_id, 0 to 15.
  package let id: UInt8
  /// The number of temporal sub-layers, 1 to 7.
  package let temporalLayers: UInt8

  /// Parses a NAL unit, header included.
  package init(parsing unit: ByteBuffer) throws(ParseError) {
    var reader = try H265ParameterSets.reader(of: unit, type: .videoParameterSet, name: "VPS")
    id = UInt8(truncatingIfNeeded: try reader.read(4))
    // vps_base_layer_internal_flag, vps_base_layer_available_flag, vps_max_layers_minus1
    try reader.skip(8)
    temporalLayers = UInt8(truncatingIfNeeded: try reader.read(3)) + 1
    guard temporalLayers <= 7 else {
      throw .wrongValue("A VPS's vps_max_sub_layers_minus1", expected: "at most 6", found: 7)
    }
  }
}

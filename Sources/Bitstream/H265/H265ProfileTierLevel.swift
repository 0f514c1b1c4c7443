/// The profile, tier and level of an H.265 stream (ITU-T H.265, 7.3.3): 12 bytes, which files and MIME types repeat.
package struct H265ProfileTierLevel: Sendable, Hashable {
  /// general_profile_space, 0 to 3; 0 is the only one in use.
  package let profileSpace: UInt8
  /// general_tier_flag: whether the tier is High, with higher bitrates.
  package let isHighTier: Bool
  /// general_profile_idc, 0 to 31: 1 Main, 2 Main 10, 3 Main Still Picture, 4 and above extensions.
  package let profileIDC: UInt8
  /// general_profile_compatibility_flag[0] in the highest bit, to that of 31.
  package let compatibilityFlags: UInt32
  /// The 48 bits from general_progressive_source_flag to the one before general_level_idc, in the low bits.
  package let constraintFlags: UInt64
  /// general_level_idc: 30 times the level, for example 93 for 3.1.
  package let levelIDC: UInt8

  init(_ reader: inout NALUnitBitReader, temporalLayers: Int) throws(ParseError) {
    profileSpace = UInt8(truncatingIfNeeded: try reader.read(2))
    isHighTier = try reader.flag()
    profileIDC = UInt8(truncatingIfNeeded: try reader.read(5))
    compatibilityFlags = try reader.read(32)
    constraintFlags = UInt64(try reader.read(16)) << 32 | UInt64(try reader.read(32))
    levelIDC = UInt8(truncatingIfNeeded: try reader.read(8))
    // The profiles and levels of lower temporal sub-layers.
    guard temporalLayers > 1 else { return }
    var bits = 0
    for _ in 1..<temporalLayers {
      // sub_layer_profile_present_flag, sub_layer_level_present_flag
      if try reader.flag() { bits += 88 }
      if try reader.flag() { bits += 8 }
    }
    try reader.skip((9 - temporalLayers) * 2 + bits)
  }

  /// The codec in MIME types (ISO/IEC 14496-15, E.3), for example `hvc1.1.6.L93.B0`.
  package var codecString: String {
    let space = ["", "A", "B", "C"][Int(profileSpace & 0x03)]
    var bytes = (0..<6).map { UInt8(truncatingIfNeeded: constraintFlags >> UInt64(40 - 8 * $0)) }
    while bytes.last == 0 { bytes.removeLast() }
    let compatibility = UInt32(bitReversed: compatibilityFlags)
    let parts =
      [
        "hvc1", space + String(profileIDC), String(compatibility, radix: 16, uppercase: true),
        (isHighTier ? "H" : "L") + String(levelIDC),
      ] + bytes.map { String($0, radix: 16, uppercase: true) }
    return parts.joined(separator: ".")
  }
}

extension UInt32 {
  fileprivate init(bitReversed value: UInt32) {
    self = (0..<32).reduce(0) { $0 | (value >> UInt32($1) & 1) << UInt32(31 - $1) }
  }
}

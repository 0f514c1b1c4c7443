/// The parameters of H.264 in `a=fmtp` (RFC 6184, 8.1): what the stream of a payload type may be.
///
/// They describe what was agreed. What a stream is, its parameter sets say: OBS for example writes `42e01f` for every profile.
package struct H264Parameters: Sendable, Hashable {
  /// The first byte of `profile-level-id`, which is profile_idc of the sequence parameter set.
  package var profileIDC: UInt8
  /// The second byte, with the flags constraint_set0 (0x80) to constraint_set5 (0x04).
  package var constraints: UInt8
  /// The third byte, level_idc: ten times the level, so 52 is level 5.2.
  package var levelIDC: UInt8
  /// 0, 1 or 2: which payload structures the packets have (RFC 6184, 6.2).
  package var packetizationMode: UInt8
  /// Whether each direction may have a level of its own.
  package var allowsLevelAsymmetry: Bool

  /// The level of our descriptions, 5.2: libwebrtc's encoder on iOS limits its frame rate to the level that we accept.
  package static let acceptedLevelIDC: UInt8 = 0x34

  package init(
    profileIDC: UInt8, constraints: UInt8, levelIDC: UInt8 = acceptedLevelIDC, packetizationMode: UInt8 = 1,
    allowsLevelAsymmetry: Bool = true
  ) {
    self.profileIDC = profileIDC
    self.constraints = constraints
    self.levelIDC = levelIDC
    self.packetizationMode = packetizationMode
    self.allowsLevelAsymmetry = allowsLevelAsymmetry
  }

  /// Reads the parameters of a format. Without `profile-level-id` it is `42e01f`, as in libwebrtc; without `packetization-mode` it
  /// is 0. Nil if one of them is not of its form.
  package init?(_ parameters: FormatParameters) {
    let text = parameters["profile-level-id"] ?? "42e01f"
    guard text.utf8.count == 6, text.utf8.allSatisfy(Self.isHexadecimal), let number = UInt32(text, radix: 16) else {
      return nil
    }
    let mode = parameters["packetization-mode"] ?? "0"
    guard mode.isDecimal, let mode = UInt8(mode), mode <= 2 else { return nil }
    self.init(
      profileIDC: UInt8(number >> 16), constraints: UInt8(number >> 8 & 0xFF), levelIDC: UInt8(number & 0xFF),
      packetizationMode: mode, allowsLevelAsymmetry: parameters["level-asymmetry-allowed"] == "1")
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }

  /// The profile; nil if it is none that we support.
  package var profile: H264Profile? { H264Profile(profileIDC: profileIDC, constraints: constraints) }

  /// Our parameters in an answer to these: the same profile, and level 5.2 if each direction may have its own, else the same
  /// level.
  package var answer: H264Parameters {
    var answer = self
    guard allowsLevelAsymmetry, let profile else { return answer }
    answer.levelIDC = Self.acceptedLevelIDC
    // Below high profile, constraint_set3 makes level 1.1 level 1b (H.264, A.3.4).
    switch profile {
    case .baseline, .constrainedBaseline, .main: answer.constraints &= ~0x10
    case .high, .constrainedHigh: break
    }
    return answer
  }

  /// Six hexadecimal digits.
  package var profileLevelID: String {
    [profileIDC, constraints, levelIDC].map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// The value of `a=fmtp` after the payload type.
  package var text: String {
    let asymmetry = allowsLevelAsymmetry ? "level-asymmetry-allowed=1;" : ""
    return "\(asymmetry)packetization-mode=\(packetizationMode);profile-level-id=\(profileLevelID)"
  }
}

/// The profiles of H.264 that we support, all with 8 bits and 4:2:0: those of RFC 6184, table 5, that libwebrtc knows.
package enum H264Profile: String, Sendable, Hashable, CaseIterable {
  case baseline
  case constrainedBaseline
  case main
  case high
  case constrainedHigh

  /// profile_idc, which of the constraint bits count, and their values.
  private static let patterns: [(profileIDC: UInt8, mask: UInt8, constraints: UInt8, profile: H264Profile)] = [
    (0x42, 0b0100_1111, 0b0100_0000, .constrainedBaseline),
    (0x4D, 0b1000_1111, 0b1000_0000, .constrainedBaseline),
    (0x58, 0b1100_1111, 0b1100_0000, .constrainedBaseline),
    (0x42, 0b0100_1111, 0b0000_0000, .baseline),
    (0x58, 0b1100_1111, 0b1000_0000, .baseline),
    (0x4D, 0b1010_1111, 0b0000_0000, .main),
    (0x64, 0b1111_1111, 0b0000_0000, .high),
    (0x64, 0b1111_1111, 0b0000_1100, .constrainedHigh),
  ]

  /// Finds the profile of a `profile-level-id` or of a sequence parameter set; nil if it is none that we support.
  package init?(profileIDC: UInt8, constraints: UInt8) {
    let pattern = Self.patterns.first { $0.profileIDC == profileIDC && constraints & $0.mask == $0.constraints }
    guard let pattern else { return nil }
    self = pattern.profile
  }
}

extension FormatParameters {
  /// The maximum number of parameter sets, and of bytes in each.
  package static let maximumParameterSets = 32
  package static let maximumParameterSetBytes = 1_024

  /// The parameter sets of H.264 in `sprop-parameter-sets` (RFC 6184, 8.1), each a NAL unit. Those that cannot be read, and those
  /// beyond the limits, are left out.
  package var parameterSets: [[UInt8]] { units("sprop-parameter-sets") }

  /// Returns the NAL units of a parameter, which are in Base64 with commas between them.
  func units(_ name: String) -> [[UInt8]] {
    guard let text = self[name] else { return [] }
    return text.fields(separatedBy: ",").prefix(Self.maximumParameterSets).compactMap { field in
      let encoded = field.trimmed
      guard encoded.utf8.count <= (Self.maximumParameterSetBytes + 2) / 3 * 4 else { return nil }
      guard let bytes = Base64.decode(encoded), (1...Self.maximumParameterSetBytes).contains(bytes.count) else {
        return nil
      }
      return bytes
    }
  }
}

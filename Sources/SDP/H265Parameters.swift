/// The parameters of H.265 in `a=fmtp` (RFC 7798, 7.1): what the stream of a payload type may be.
///
/// They describe what was agreed. What a stream is, its parameter sets say.
package struct H265Parameters: Sendable, Hashable {
  /// `profile-id`, which is general_profile_idc of the sequence parameter set: 1 Main, 2 Main 10.
  package var profileID: UInt8
  /// `tier-flag`: whether the tier is High.
  package var isHighTier: Bool
  /// `level-id`: 30 times the level, so 93 is level 3.1.
  package var levelID: UInt8
  /// Whether there is one RTP stream whose packets are in decoding order: `tx-mode` is SRST and `sprop-max-don-diff` 0, and the
  /// profile is of the only space in use (`profile-space` is 0).
  package var isPlain: Bool

  /// The level of our descriptions, 6: that of libwebrtc's offers, above all that cameras send.
  package static let acceptedLevelID: UInt8 = 180

  package init(profileID: UInt8, isHighTier: Bool = false, levelID: UInt8 = acceptedLevelID) {
    self.profileID = profileID
    self.isHighTier = isHighTier
    self.levelID = levelID
    isPlain = true
  }

  /// Reads the parameters of a format. All can be absent, as in an offer of Safari: that is profile Main, tier Main, level 3.1. Nil if
  /// one of them is not of its form.
  package init?(_ parameters: FormatParameters) {
    guard let profile = Self.number(parameters["profile-id"], upTo: 31, default: 1),
      let space = Self.number(parameters["profile-space"], upTo: 3, default: 0),
      let tier = Self.number(parameters["tier-flag"], upTo: 1, default: 0),
      let level = Self.number(parameters["level-id"], upTo: 255, default: 93),
      let difference = Self.number(parameters["sprop-max-don-diff"], upTo: 32_767, default: 0)
    else { return nil }
    self.init(profileID: UInt8(clamping: profile), isHighTier: tier == 1, levelID: UInt8(clamping: level))
    isPlain = space == 0 && difference == 0 && parameters["tx-mode"]?.lowercased() ?? "srst" == "srst"
  }

  private static func number(_ text: String?, upTo maximum: Int, default absent: Int) -> Int? {
    guard let text else { return absent }
    guard text.isDecimal, let number = Int(text), number <= maximum else { return nil }
    return number
  }

  /// Whether we support what they describe: Main or Main 10, in one RTP stream in decoding order.
  package var isSupported: Bool { isPlain && (1...2).contains(profileID) }

  /// Our parameters in an answer to these: the same profile and tier, with level 6.
  package var answer: H265Parameters { H265Parameters(profileID: profileID, isHighTier: isHighTier) }

  /// Returns whether two formats can stand for each other: they have one profile and one tier. The level is no part of that.
  package func isSame(as other: H265Parameters) -> Bool {
    profileID == other.profileID && isHighTier == other.isHighTier
  }

  /// The value of `a=fmtp` after the payload type, as in offers of Chromium.
  package var text: String {
    "level-id=\(levelID);profile-id=\(profileID);tier-flag=\(isHighTier ? 1 : 0);tx-mode=SRST"
  }

  /// Names what we do not support of a format, for people.
  package static func obstacle(_ parameters: FormatParameters) -> String {
    for name in ["tx-mode", "sprop-max-don-diff", "profile-space"] {
      guard let value = parameters[name], value != "0", value.lowercased() != "srst" else { continue }
      return "\(name) \(value)"
    }
    return "profile-id \(parameters["profile-id"] ?? "1")"
  }
}

extension FormatParameters {
  /// The parameter sets of H.265 in `sprop-vps`, `sprop-sps` and `sprop-pps` (RFC 7798, 7.1), each a NAL unit. Those that cannot be read,
  /// and those beyond the limits, are left out.
  package var h265ParameterSets: [[UInt8]] {
    ["sprop-vps", "sprop-sps", "sprop-pps"].flatMap(units).prefix(Self.maximumParameterSets).map(\.self)
  }
}

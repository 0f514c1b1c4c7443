import Media

/// The name of a frame's codec with its profile and level, as in the parameter `codecs` of MIME types (RFC 6381).
enum CodecProfile {
  /// Returns the name; nil for a codec that has none, and for a frame that does not tell it.
  ///
  /// - Parameter frame: a keyframe, or a packet of audio.
  static func name(of frame: EncodedFrame) -> String? {
    switch frame.codec {
    case .h264: frame.profile
    case .vp9: frame.size.map { "vp09.00.\(level(of: $0)).08" }
    case .vp8, .opus: frame.codec.rawValue
    case .g722, .pcmu, .pcma: nil
    }
  }

  /// The lowest level of VP9 that has frames of this size, by their area (VP9 levels, Annex A). The bitstream does not tell the level.
  private static func level(of size: VideoSize) -> Int {
    let levels: [(area: Int, level: Int)] = [
      (36_864, 10), (73_728, 11), (122_880, 20), (245_760, 21), (552_960, 30), (983_040, 31), (2_228_224, 40),
      (8_912_896, 50),
    ]
    let area = size.width * size.height
    return levels.first { area <= $0.area }?.level ?? 60
  }
}

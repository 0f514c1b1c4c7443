import Media

/// The name of a frame's codec with its profile and level, as in the parameter `codecs` of MIME types (RFC 6381).
enum CodecProfile {
  /// Returns the name; nil for a codec that has none, and for a frame that does not tell it.
  ///
  /// - Parameter frame: a keyframe, or a packet of audio.
  static func name(of frame: EncodedFrame) -> String? {
    switch frame.codec.audio {
    case .opus: frame.codec.rawValue
    case .g722, .pcmu, .pcma: nil
    case nil: frame.codec.properties.bitstream?.codecString(of: frame.payload, size: frame.size)
    }
  }

  /// Returns the value of the parameter that states the profile in a description, for example `2` for VP9 of 10 bits, where the bitstream
  /// tells it; nil for other codecs.
  ///
  /// - Parameter frame: a keyframe, or a packet of audio.
  static func parameter(of frame: EncodedFrame) -> String? {
    frame.codec.properties.bitstream?.profileParameter(of: frame.payload)
  }
}

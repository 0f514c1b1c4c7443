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
}

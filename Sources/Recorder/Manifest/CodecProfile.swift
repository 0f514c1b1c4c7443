import Bitstream
import Media

/// The name of a frame's codec with its profile and level, as in the parameter `codecs` of MIME types (RFC 6381).
enum CodecProfile {
  /// Returns the name; nil for a codec that has none, and for a frame that does not tell it.
  ///
  /// - Parameter frame: a keyframe, or a packet of audio.
  static func name(of frame: EncodedFrame) -> String? {
    switch frame.codec {
    case .h264: frame.profile
    case .vp9: configuration(ofVP9: frame)?.codecString
    case .vp8, .opus: frame.codec.rawValue
    case .g722, .pcmu, .pcma: nil
    }
  }

  /// Returns the value of the parameter that states the profile in a description, for example `2` for VP9 of 10 bits, where the bitstream
  /// tells it; nil for other codecs.
  ///
  /// - Parameter frame: a keyframe, or a packet of audio.
  static func parameter(of frame: EncodedFrame) -> String? {
    switch frame.codec {
    case .vp9: configuration(ofVP9: frame).map { String($0.profile) }
    case .vp8, .h264, .opus, .g722, .pcmu, .pcma: nil
    }
  }

  /// Returns what a keyframe of VP9 says of its stream.
  static func configuration(ofVP9 frame: EncodedFrame) -> VP9CodecConfiguration? {
    frame.size.flatMap { size in
      VP9CodecConfiguration(keyframe: frame.payload, size: .init(width: size.width, height: size.height))
    }
  }
}

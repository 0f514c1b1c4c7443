package import NIOCore

/// What the frames of a codec of video say: the row of a codec in the table of ``CodecProperties`` names the type that reads them.
package protocol VideoBitstream: Sendable {
  /// Returns what the header of a whole frame says; nil if it cannot be parsed.
  static func header(of frame: ByteBuffer) -> VideoHeader?

  /// Returns what a keyframe says that keeps its stream from being sent as it is, as a clause; nil if nothing does.
  static func obstacle(toSending keyframe: ByteBuffer) -> String?

  /// Returns the profile and level of a keyframe as in the parameter `codecs` of MIME types (RFC 6381, 3.3), for example `avc1.42e01f`; nil
  /// if the frame does not say them.
  static func profile(of keyframe: ByteBuffer) -> String?

  /// Returns the value of the parameter that states the profile in a description (``CodecProperties/profile``); nil if a keyframe does not
  /// tell it, or if the codec has one value only.
  static func profileParameter(of keyframe: ByteBuffer) -> String?

  /// Returns the name of the codec with profile and level for a recording's manifest. By default that is ``profile(of:)``.
  ///
  /// - Parameter size: that of the keyframe.
  static func codecString(of keyframe: ByteBuffer, size: VideoSize?) -> String?

  /// Returns what a file states of a track before its first frame, Matroska's CodecPrivate (RFC 9559, 5.1.4.1.22); nil without that.
  ///
  /// - Parameter maximumLength: in bytes.
  static func codecPrivate(of keyframe: ByteBuffer, maximumLength: Int) -> ByteBuffer?

  /// Returns the maximum number of frames that precede one in decoding and follow it in output, according to the parameter sets of a
  /// keyframe; nil if they do not tell it.
  static func reorderedFrames(keyframe: ByteBuffer) -> Int?

  /// Whether a frame may be decoded without an error although this one, to which it refers, was refused.
  static func hidesLoss(of frame: ByteBuffer) -> Bool

  /// Whether a track in a file needs private data, without which its frames cannot be read.
  static var needsCodecPrivate: Bool { get }

  /// Returns the parameter sets in the private data of a track; nil if it has none.
  static func statedParameterSets(codecPrivate: ByteBuffer) -> StatedParameterSets?

  /// Returns what a NAL unit of a frame states as a parameter set; nil if it is none.
  static func parameterSet(_ unit: ByteBuffer) -> VideoParameterSet?

  /// Returns what converts the frames of a track in a file; nil if the private data is not of the codec, and for a codec whose frames are
  /// stored as they are.
  static func framing(codecPrivate: [UInt8]) -> (any VideoFraming)?
}

/// The parameter sets that a file states of a track, for codecs whose frames are NAL units.
package struct StatedParameterSets: Sendable {
  /// NAL units, headers included.
  package var units: [ByteBuffer]
  /// The private data that says that no frame has others, nor the same ones.
  package var complete: ByteBuffer
  /// The bytes of a length before a NAL unit: 1, 2 or 4.
  package var lengthSize: Int
}

/// What a NAL unit is that is a parameter set.
package struct VideoParameterSet: Sendable {
  /// The size of frames, if it states that.
  package var size: VideoSize?
}

/// Brings the frames of a track in a file into the form of ``EncodedFrame``.
package protocol VideoFraming: Sendable {
  /// Converts a frame; nil if it is none of the codec. A frame that is in the form already is returned as it is.
  func frame(_ stored: ByteBuffer) -> ByteBuffer?
}

extension VideoBitstream {
  package static func obstacle(toSending keyframe: ByteBuffer) -> String? { nil }
  package static func profile(of keyframe: ByteBuffer) -> String? { nil }
  package static func profileParameter(of keyframe: ByteBuffer) -> String? { nil }
  package static func codecString(of keyframe: ByteBuffer, size: VideoSize?) -> String? { profile(of: keyframe) }
  package static func codecPrivate(of keyframe: ByteBuffer, maximumLength: Int) -> ByteBuffer? { nil }
  package static func reorderedFrames(keyframe: ByteBuffer) -> Int? { 0 }
  package static func hidesLoss(of frame: ByteBuffer) -> Bool { false }
  package static var needsCodecPrivate: Bool { false }
  package static func statedParameterSets(codecPrivate: ByteBuffer) -> StatedParameterSets? { nil }
  package static func parameterSet(_ unit: ByteBuffer) -> VideoParameterSet? { nil }
  package static func framing(codecPrivate: [UInt8]) -> (any VideoFraming)? { nil }
}

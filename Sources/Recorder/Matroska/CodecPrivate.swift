import Bitstream
import Media
import NIOCore

/// What the description of a track in Matroska tells a decoder before the first frame (RFC 9559, 5.1.4.1.22), and its delay.
enum CodecPrivate {
  /// The maximum length for video: an AVCDecoderConfigurationRecord with one parameter set of each kind, of the maximum length.
  static let maximumLength = 2 * H264SequenceParameterSet.maximumBytes + 16

  /// Returns the private data of a video track; nil if its codec has none.
  ///
  /// - Parameter keyframe: the first frame of the track.
  static func of(_ keyframe: EncodedFrame) -> ByteBuffer? {
    keyframe.codec.properties.bitstream?.codecPrivate(of: keyframe.payload, maximumLength: maximumLength)
  }

  /// Returns the private data of an audio track.
  static func of(_ audio: MatroskaHeader.Audio) -> ByteBuffer? {
    switch audio.codec.audio {
    case .opus: OpusHeader.identification(channels: audio.channels)
    case .g722, .pcmu, .pcma: WaveFormat(of: audio.codec)?.encoded
    case nil: nil
    }
  }

  /// Returns how long the output of a decoder is late at the start, and how long it needs to converge after a seek (RFC 7845, 4.6),
  /// in nanoseconds; nil if neither is the case.
  static func delay(of codec: Codec) -> (start: UInt64, seek: UInt64)? {
    switch codec.audio {
    case .opus: (UInt64(OpusHeader.preSkip) * 1_000_000_000 / 48_000, 80_000_000)
    case .g722, .pcmu, .pcma, nil: nil
    }
  }
}

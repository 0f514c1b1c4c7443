/// The codecs that a call carries, of each kind the preferred one first. What differs between them beside the bitstream is a row of the table in
/// `CodecProperties.swift`; kind and clock rate are here, because each packet needs them, and to read a row, Swift would copy it.
public enum Codec: String, Sendable, Hashable, CaseIterable {
  /// Opus (RFC 6716), in RTP as in RFC 7587.
  case opus
  /// G.722, in RTP as in RFC 3551, 4.5.2.
  case g722
  /// G.711 with the µ-law, in RTP as in RFC 3551, 4.5.14.
  case pcmu
  /// G.711 with the A-law, in RTP as in RFC 3551, 4.5.14.
  case pcma
  /// VP8 (RFC 6386), in RTP as in RFC 7741.
  case vp8
  /// H.264 (ITU-T H.264), in RTP as in RFC 6184; in a frame each NAL unit follows its length in 4 bytes (ISO/IEC 14496-15, 5.3.4.2).
  case h264
  /// VP9 (bitstream specification, version 0.6), in RTP as in RFC 9628.
  case vp9
  /// AV1 (bitstream specification, version 1.0.0), in RTP as in AOM's "RTP Payload Format For AV1", version 1.0; a frame is a temporal unit in
  /// the low-overhead format, each OBU with its size, without temporal delimiters, padding and tile lists.
  case av1
  /// H.265, also HEVC (ITU-T H.265), in RTP as in RFC 7798; a frame has the form of one of H.264.
  case h265

  /// Whether the codec is for audio or video.
  public var kind: MediaKind { audio == nil ? .video : .audio }

  /// The rate of the codec's RTP clock in Hz: 48,000 for Opus (RFC 7587, 4.1), 90,000 for video (RFC 3551, 5), 8,000 for G.711 and also
  /// for G.722, although that has 16,000 samples a second (RFC 3551, 4.5.2).
  public var clockRate: Int32 {
    switch audio {
    case nil: 90_000
    case .opus: 48_000
    case .g722, .pcmu, .pcma: 8_000
    }
  }
}

/// The codecs of audio, for code that has no other kind.
package enum AudioCodec: Sendable, Hashable {
  case opus, g722, pcmu, pcma
}

/// The codecs of video, for code that has no other kind.
package enum VideoCodec: Sendable, Hashable {
  case vp8, h264, vp9, av1, h265
}

extension Codec {
  /// The codec as one of audio; nil for video.
  package var audio: AudioCodec? {
    switch self {
    case .opus: .opus
    case .g722: .g722
    case .pcmu: .pcmu
    case .pcma: .pcma
    case .vp8, .h264, .vp9, .av1, .h265: nil
    }
  }

  /// The codec as one of video; nil for audio.
  package var video: VideoCodec? {
    switch self {
    case .opus, .g722, .pcmu, .pcma: nil
    case .vp8: .vp8
    case .h264: .h264
    case .vp9: .vp9
    case .av1: .av1
    case .h265: .h265
    }
  }

  /// Whether the program `chatbot-media` decodes the codec, and no library of this program.
  package var needsWorker: Bool { properties.decoder == nil }

  /// Whether frames of a stream may be stored in another order than that in which they are shown.
  package var canReorderFrames: Bool { kind == .video && properties.canReorderFrames }
}

/// Whether a track is audio or video.
public enum MediaKind: String, Sendable, Hashable, CaseIterable {
  case audio
  case video
}

/// A value for audio and one for video: a dictionary by ``MediaKind`` without hashing.
package struct PerMediaKind<Value> {
  package var audio: Value?
  package var video: Value?

  package init() {}

  // Not `_read` and `_modify`: Swift 6.3 releases once too often what a reading coroutine yields. Code that must not copy a
  // large value names the member.
  package subscript(kind: MediaKind) -> Value? {
    get {
      switch kind {
      case .audio: audio
      case .video: video
      }
    }
    set {
      switch kind {
      case .audio: audio = newValue
      case .video: video = newValue
      }
    }
  }

  package func mapValues<Other>(_ transform: (Value) -> Other) -> [MediaKind: Other] {
    var values: [MediaKind: Other] = [:]
    values[.audio] = audio.map(transform)
    values[.video] = video.map(transform)
    return values
  }
}

extension PerMediaKind: Sendable where Value: Sendable {}

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

  /// Whether the codec is for audio or video.
  public var kind: MediaKind {
    switch self {
    case .opus, .g722, .pcmu, .pcma: .audio
    case .vp8, .h264, .vp9: .video
    }
  }

  /// The rate of the codec's RTP clock in Hz: 48,000 for Opus (RFC 7587, 4.1), 90,000 for video (RFC 3551, 5), 8,000 for G.711 and also
  /// for G.722, although that has 16,000 samples a second (RFC 3551, 4.5.2).
  public var clockRate: Int32 {
    switch self {
    case .opus: 48_000
    case .g722, .pcmu, .pcma: 8_000
    case .vp8, .h264, .vp9: 90_000
    }
  }
}

extension Codec {
  /// Whether the program `chatbot-media` decodes the codec, and no library of this program.
  package var needsWorker: Bool {
    switch self {
    case .h264, .g722, .pcmu, .pcma: true
    case .opus, .vp8, .vp9: false
    }
  }

  /// Whether frames of a stream may be stored in another order than that in which they are shown.
  package var canReorderFrames: Bool {
    switch self {
    case .h264: true
    case .opus, .g722, .pcmu, .pcma, .vp8, .vp9: false
    }
  }
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

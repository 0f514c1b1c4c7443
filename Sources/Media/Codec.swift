/// The two codecs that chatbot carries.
public enum Codec: String, Sendable, Hashable, CaseIterable {
  /// Opus, RFC 6716; on the wire by RFC 7587.
  case opus
  /// VP8, RFC 6386; on the wire by RFC 7741.
  case vp8

  /// Whether the codec's frames are heard or seen.
  public var kind: MediaKind {
    switch self {
    case .opus: .audio
    case .vp8: .video
    }
  }

  /// Ticks a second of the codec's RTP clock: 48,000 for Opus (RFC 7587, 4.1), 90,000 for VP8 (RFC 7741, 4.1).
  public var clockRate: Int32 {
    switch self {
    case .opus: 48_000
    case .vp8: 90_000
    }
  }
}

/// Whether a track is heard or seen.
public enum MediaKind: String, Sendable, Hashable, CaseIterable {
  case audio
  case video
}

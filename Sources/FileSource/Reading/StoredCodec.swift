package import Media

/// The codecs that a file can hold and that something here can read: to be played as stored, or to be decoded.
package enum StoredCodec: Sendable, Hashable, CaseIterable {
  case vp8
  case vp9
  case opus
  case vorbis

  /// Those that a call carries, so that their frames can be played as stored.
  package static let carried: Set<StoredCodec> = [.vp8, .opus]

  package var kind: MediaKind {
    switch self {
    case .vp8, .vp9: .video
    case .opus, .vorbis: .audio
    }
  }

  /// The codec as a call names it; nil when a call does not carry it.
  package var carried: Codec? {
    switch self {
    case .vp8: .vp8
    case .opus: .opus
    case .vp9, .vorbis: nil
    }
  }

  /// The name as people say it.
  package var name: String {
    switch self {
    case .vp8: "VP8"
    case .vp9: "VP9"
    case .opus: "Opus"
    case .vorbis: "Vorbis"
    }
  }

  /// Matroska's name.
  init?(matroska name: String) {
    switch name {
    case "V_VP8": self = .vp8
    case "V_VP9": self = .vp9
    case "A_OPUS": self = .opus
    case "A_VORBIS": self = .vorbis
    default: return nil
    }
  }
}

package import Media

/// A track of a file that was read through.
package struct StoredTrack: Sendable, Hashable, CustomStringConvertible {
  package let codec: StoredCodec
  /// The number of frames that are played.
  package let frames: Int
  /// The number of keyframes among them; for audio, all.
  package let keyframes: Int
  /// The longest time between two keyframes, or between the last one and the end, in units of `MediaTimebase.rate`.
  package let keyframeDistance: Int64
  /// The size of the first keyframe; nil for audio.
  package let size: VideoSize?
  /// nil for video.
  package let channels: Int?
  /// The number of frames in the file that are skipped, because they cannot be decoded or overlap earlier ones.
  package let skippedFrames: Int
  /// The start of the first frame and the end of the last one, in units of `MediaTimebase.rate` from the container's
  /// zero.
  package let start: Int64
  package let end: Int64
  /// WebM's track number, which identifies the track when the file is played.
  let number: UInt64
  /// What a decoder needs before the first frame.
  package let codecPrivate: [UInt8]
  /// The 48 kHz ticks that a decoder must discard at the start (RFC 7845, 4.2).
  package let preSkip: Int64

  /// For example `VP8 640x480, 300 frames in 10.00 s` or `Opus mono, 500 packets in 10.00 s`.
  package var description: String {
    let length = MediaTimebase.text(end - start)
    return switch codec.kind {
    case .video: "\(codec.name) \(size.map(\.description) ?? "of unknown size"), \(frames) frames in \(length) s"
    case .audio: "\(codec.name) \(channels == 2 ? "stereo" : "mono"), \(frames) packets in \(length) s"
    }
  }
}

/// The codecs that files can contain and this program can play, as stored or decoded.
package enum StoredCodec: Sendable, Hashable, CaseIterable {
  case vp8
  case vp9
  case opus
  case vorbis

  /// The codecs that a call carries, so that their frames can be played as stored.
  package static let callCodecs: Set<StoredCodec> = [.vp8, .opus]

  package var kind: MediaKind {
    switch self {
    case .vp8, .vp9: .video
    case .opus, .vorbis: .audio
    }
  }

  /// The codec of a call; nil if a call does not carry it.
  package var callCodec: Codec? {
    switch self {
    case .vp8: .vp8
    case .opus: .opus
    case .vp9, .vorbis: nil
    }
  }

  /// The usual name.
  package var name: String {
    switch self {
    case .vp8: "VP8"
    case .vp9: "VP9"
    case .opus: "Opus"
    case .vorbis: "Vorbis"
    }
  }

  /// Maps Matroska's codec id.
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

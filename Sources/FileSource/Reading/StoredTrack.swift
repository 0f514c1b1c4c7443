package import Media
import NIOCore

/// A track of a file that was read through.
package struct StoredTrack: Sendable, Hashable, CustomStringConvertible {
  package let codec: Codec
  /// The number of frames that are played.
  package let frames: Int
  /// The number of keyframes among them; for audio, all.
  package let keyframes: Int
  /// The longest time between two keyframes, or between the last one and the end, in units of `MediaTimebase.rate`.
  package let keyframeDistance: Int64
  /// Whether video is stored in another order than that in which it is shown (B-frames).
  package let isReordered: Bool
  /// What a keyframe says that keeps the video from being sent as stored, as a clause; nil if nothing does.
  let obstacle: String?
  /// The size of the first keyframe, before it is turned; nil for audio.
  package let size: VideoSize?
  /// How the frames of video are turned before they are shown.
  package let orientation: VideoOrientation
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
    case .video:
      "\(codec.name) \(size.map(\.description) ?? "of unknown size"), \(frames) frames in \(length) s"
        + (orientation == .upright ? "" : ", \(orientation)")
    case .audio: "\(codec.name) \(channels == 2 ? "stereo" : "mono"), \(frames) packets in \(length) s"
    }
  }
}

extension Codec {
  /// The codecs that are decoded without another program.
  package static let decodedHere = Set(allCases.filter { !$0.needsWorker })

  /// The usual name.
  var name: String { properties.name }

  /// Maps the name of a codec in FFmpeg, which for most is that of ours.
  package init?(ffmpeg name: String) {
    guard let codec = Self(rawValue: name) ?? Self.allCases.first(where: { $0.properties.ffmpegName == name }) else {
      return nil
    }
    self = codec
  }

  /// Maps the four characters in an IVF file's header.
  init?(fourCC: String) {
    guard let codec = Self.allCases.first(where: { $0.properties.fourCC == fourCC }) else { return nil }
    self = codec
  }
}

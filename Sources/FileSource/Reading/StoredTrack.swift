package import Media

/// What was found of a track when its file was read through.
package struct StoredTrack: Sendable, Hashable, CustomStringConvertible {
  package let codec: StoredCodec
  /// Frames that will be played.
  package let frames: Int
  /// Keyframes among them; for audio, all.
  package let keyframes: Int
  /// The first keyframe's size; nil for audio.
  package let size: VideoSize?
  /// nil for frames.
  package let channels: Int?
  /// Frames that are in the file but are skipped, because nothing could decode them or their time was already taken.
  package let skippedFrames: Int
  /// From the first frame's beginning to the last one's end, in units of `FileTime.rate`, from the container's own zero.
  package let start: Int64
  package let end: Int64
  /// How the track is found again when the file is played: WebM's track number.
  let number: UInt64
  /// What a decoder needs before the first frame.
  package let codecPrivate: [UInt8]
  /// Ticks of 48 kHz at the start that a decoder is to swallow (RFC 7845, 4.2).
  package let preSkip: Int64

  /// For example `VP8 640x480, 300 frames in 10.00 s` or `Opus mono, 500 packets in 10.00 s`.
  package var description: String {
    let length = FileTime.text(end - start)
    return switch codec.kind {
    case .video: "\(codec.name) \(size.map(\.description) ?? "of unknown size"), \(frames) frames in \(length) s"
    case .audio: "\(codec.name) \(channels == 2 ? "stereo" : "mono"), \(frames) packets in \(length) s"
    }
  }
}

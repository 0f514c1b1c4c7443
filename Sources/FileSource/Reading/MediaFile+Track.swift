public import Media

extension MediaFile {
  /// What was found of a track when the file was read through.
  public struct Track: Sendable, Hashable, CustomStringConvertible {
    public let codec: Codec
    /// Frames that will be played.
    public let frames: Int
    /// Keyframes among them; for sound, all.
    public let keyframes: Int
    /// The first keyframe's size; nil for sound.
    public let size: PictureSize?
    /// One or two; nil for pictures.
    public let channels: Int?
    /// From the first frame's beginning to the last one's end.
    public let duration: Duration
    /// Frames that are in the file but are left out, because nothing could decode them or their time was already taken.
    public let skippedFrames: Int

    /// In units of `FileTime.rate`, from the container's own zero.
    let start: Int64
    let end: Int64
    /// How the track is found again when the file is played: WebM's track number.
    let number: UInt64

    /// For example `VP8 640x480, 300 frames in 10.00 s` or `Opus mono, 500 packets in 10.00 s`.
    public var description: String {
      let length = FileTime.text(end - start)
      return switch codec {
      case .vp8: "VP8 \(size.map(\.description) ?? "of unknown size"), \(frames) frames in \(length) s"
      case .opus: "Opus \(channels == 2 ? "stereo" : "mono"), \(frames) packets in \(length) s"
      }
    }
  }
}

extension FileTime {
  /// Seconds with two decimals.
  static func text(_ units: Int64) -> String {
    let hundredths = (units + 3600) / 7200
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
  }
}

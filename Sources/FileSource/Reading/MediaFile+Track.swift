public import Media

extension MediaFile {
  /// What was found of a track when the file was read through.
  public struct Track: Sendable, Hashable, CustomStringConvertible {
    public let codec: Codec
    let stored: StoredTrack

    /// nil for a track that a call does not carry as stored.
    init?(_ stored: StoredTrack) {
      guard let codec = stored.codec.carried else { return nil }
      self.codec = codec
      self.stored = stored
    }

    /// Frames that will be played.
    public var frames: Int { stored.frames }
    /// Keyframes among them; for audio, all.
    public var keyframes: Int { stored.keyframes }
    /// The first keyframe's size; nil for audio.
    public var size: VideoSize? { stored.size }
    /// One or two; nil for frames.
    public var channels: Int? { stored.channels }
    /// From the first frame's beginning to the last one's end.
    public var duration: Duration { FileTime.duration(stored.end - stored.start) }
    /// Frames that are in the file but are skipped, because nothing could decode them or their time was already taken.
    public var skippedFrames: Int { stored.skippedFrames }

    /// For example `VP8 640x480, 300 frames in 10.00 s` or `Opus mono, 500 packets in 10.00 s`.
    public var description: String { stored.description }
  }
}

extension FileTime {
  /// Seconds with two decimals.
  package static func text(_ units: Int64) -> String {
    let hundredths = (units + 3600) / 7200
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
  }
}

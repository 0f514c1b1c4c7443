public import Media

/// A file that has been read from start to end and can be played as stored: WebM, Matroska, IVF, Ogg, and MP4 with the program
/// `chatbot-media`.
///
/// Opening reads the whole file once (with bounded memory), because what a header says about length and contents is
/// often missing or wrong, and because a call should not begin with a file that breaks in the middle. It blocks while
/// it reads.
public struct MediaFile: Sendable {
  /// The container formats that can be played.
  public enum Format: String, Sendable, Hashable {
    case webM = "WebM"
    case ogg = "Ogg"
    case ivf = "IVF"
    /// MP4 or QuickTime, which needs the program `chatbot-media`.
    case mp4 = "MP4"
  }

  public var path: String { stored.path }
  public var format: Format { stored.format }
  /// One or two tracks: video, audio or both.
  public let tracks: [Track]
  /// What a user may want to know although the file can be played, each as a sentence: it is truncated, frames are
  /// skipped, keyframes are rare.
  public var notes: [String] {
    stored.notes + (tracks.first { $0.codec.kind == .video }?.keyframeNote.map { [$0] } ?? [])
  }
  /// The time after which the file restarts when it is played in a loop, in units of `MediaTimebase.rate`.
  package var period: Int64 { stored.period }
  private let stored: StoredFile

  /// Opens a file and reads it through.
  ///
  /// - Throws: why the file cannot be played, as a sentence.
  public init(opening path: String) throws(OpeningError) {
    try self.init(opening: path, accepting: MediaKind.allCases.map(Codec.preferred))
  }

  /// - Parameter codecs: the codecs that can be played.
  package init(opening path: String, accepting codecs: [Codec]) throws(OpeningError) {
    do {
      stored = try StoredFile(opening: path, accepting: Set(codecs))
      try stored.refuseWhatIsTooShort()
    } catch {
      throw OpeningError(path: path, reason: error)
    }
    tracks = stored.tracks.map(Track.init)
  }

  /// The duration of one round.
  public var duration: Duration { MediaTimebase.duration(period) }

  /// Returns the track of a kind, if there is one.
  public func track(_ kind: MediaKind) -> Track? {
    tracks.first { $0.codec.kind == kind }
  }

  /// For example `samples/test.webm: 10.00 s, VP8 640x480, 300 frames in 10.00 s; Opus mono, 500 packets in 10.00 s`.
  public var summary: String { stored.summary }

  /// Returns a reader of one of the tracks, at its start.
  package func reader(of track: Track) throws(ReadError) -> TrackReader {
    try stored.reader(of: track.stored)
  }
}

extension MediaFile {
  /// A track of a file that was read through.
  public struct Track: Sendable, Hashable, CustomStringConvertible {
    public let codec: Codec
    let stored: StoredTrack

    init(_ stored: StoredTrack) {
      codec = stored.codec
      self.stored = stored
    }

    /// The number of frames that are played.
    public var frames: Int { stored.frames }
    /// The number of keyframes among them; for audio, all.
    public var keyframes: Int { stored.keyframes }
    /// The size of the first keyframe; nil for audio.
    public var size: VideoSize? { stored.size }
    /// 1 or 2; nil for video.
    public var channels: Int? { stored.channels }
    /// The time from the start of the first frame to the end of the last one.
    public var duration: Duration { MediaTimebase.duration(stored.end - stored.start) }
    /// The longest time without a keyframe; for audio, that of one packet.
    public var keyframeDistance: Duration { MediaTimebase.duration(stored.keyframeDistance) }

    /// A sender repeats the frames since the last keyframe for a viewer who needs one, if they last no longer than this.
    static let maximumKeyframeDistance: Duration = .seconds(10)

    /// A sentence about keyframes that are too far apart for viewers who join late.
    var keyframeNote: String? {
      guard keyframeDistance > Self.maximumKeyframeDistance else { return nil }
      return
        "Its keyframes are up to \(MediaTimebase.text(stored.keyframeDistance)) s apart: a viewer who joins, or loses a "
        + "packet, more than 10 s after one sees no video until the next. Encode the file while it plays (--live): then "
        + "keyframes are sent on request."
    }

    /// The number of frames in the file that are skipped, because they cannot be decoded or overlap earlier ones.
    public var skippedFrames: Int { stored.skippedFrames }

    /// For example `VP8 640x480, 300 frames in 10.00 s` or `Opus mono, 500 packets in 10.00 s`.
    public var description: String { stored.description }
  }
}

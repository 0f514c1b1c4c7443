public import Media

/// A file that has been read through from start to end and can be played as stored: VP8 and Opus in WebM, VP8 in IVF,
/// or Opus in Ogg.
///
/// Opening reads the whole file once (with bounded memory), because what a header says of length and contents is often
/// missing or wrong, and because a call should not begin with a file that breaks in its middle. It blocks while it reads.
public struct MediaFile: Sendable {
  /// The kinds of file that can be played.
  public enum Format: String, Sendable, Hashable {
    case webM = "WebM"
    case ogg = "Ogg"
    case ivf = "IVF"
  }

  public var path: String { stored.path }
  public var format: Format { stored.format }
  /// One or two tracks: frames, audio or both.
  public let tracks: [Track]
  /// What a user may want to know although the file can be played, each as a sentence: it is cut off, frames are skipped.
  public var remarks: [String] { stored.remarks }
  /// Units of `FileTime.rate` after which the file starts again when it is played in a loop.
  var period: Int64 { stored.period }
  private let stored: StoredFile

  /// Reads a file through.
  ///
  /// - Throws: why it cannot be played, as a sentence.
  public init(opening path: String) throws(OpeningError) {
    do {
      stored = try StoredFile(opening: path, accepting: StoredCodec.carried)
      try stored.refuseWhatIsTooShort()
    } catch {
      throw OpeningError(path: path, reason: error)
    }
    tracks = stored.tracks.compactMap(Track.init)
  }

  /// How long one round takes.
  public var duration: Duration { FileTime.duration(period) }

  /// The track of a kind, if there is one.
  public func track(_ kind: MediaKind) -> Track? {
    tracks.first { $0.codec.kind == kind }
  }

  /// For example `samples/test.webm: 10.00 s, VP8 640x480, 300 frames in 10.00 s; Opus mono, 500 packets in 10.00 s`.
  public var summary: String { stored.summary }

  /// A reader of one of the tracks, from its start.
  func reader(of track: Track) throws(ReadError) -> TrackReader {
    try stored.reader(of: track.stored)
  }
}

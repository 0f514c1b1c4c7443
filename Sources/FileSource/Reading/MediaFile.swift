public import Media

/// A file that has been read through from start to end and can be played: VP8 and Opus in WebM, or Opus in Ogg.
///
/// Opening reads the whole file once (with bounded memory), because what a header says of length and contents is often
/// missing or wrong, and because a call should not begin with a file that breaks in its middle. It blocks while it reads.
public struct MediaFile: Sendable {
  /// The kinds of file that can be played.
  public enum Format: String, Sendable, Hashable {
    case webM = "WebM"
    case ogg = "Ogg"
  }

  public let path: String
  public let format: Format
  /// One or two tracks: pictures, sound or both.
  public let tracks: [Track]
  /// What a user may want to know although the file can be played, each as a sentence: it is cut off, frames are left out.
  public let remarks: [String]
  /// Units of `FileTime.rate` after which the file begins anew when it is played in a loop.
  let period: Int64
  /// The first frame's time in the container, in units.
  let origin: Int64
  private let file: OpenFile

  /// Reads a file through.
  ///
  /// - Throws: why it cannot be played, as a sentence.
  public init(opening path: String) throws(OpeningError) {
    do {
      self = try Self(checking: path)
    } catch {
      throw OpeningError(path: path, reason: error)
    }
  }

  /// How long one round takes.
  public var duration: Duration { FileTime.duration(period) }

  /// The track of a kind, if there is one.
  public func track(_ kind: MediaKind) -> Track? {
    tracks.first { $0.codec.kind == kind }
  }

  /// For example `samples/test.webm: 10.00 s, VP8 640x480, 300 frames in 10.00 s; Opus mono, 500 packets in 10.00 s`.
  public var summary: String {
    "\(path): \(FileTime.text(period)) s, \(tracks.map(\.description).joined(separator: "; "))"
  }

  /// A reader of one of the tracks, from its start.
  func reader(of track: Track) throws(Refusal) -> TrackReader {
    try TrackReader(
      TrackReader.Source(file: file, format: format, codec: track.codec, number: track.number), origin: origin)
  }

  private init(checking path: String) throws(Refusal) {
    let file = try OpenFile(path)
    guard file.size > 0 else { throw .empty }
    let format = try FormatGuess.format(file.beginning(16))
    var remarks: [String] = []
    let found: [Track]
    switch format {
    case .webM: found = try Self.surveyWebM(file, &remarks)
    case .ogg: found = try Self.surveyOgg(file, &remarks)
    }
    guard let origin = found.map(\.start).min() else { throw .nothingInside }

    self.path = path
    self.format = format
    self.file = file
    self.origin = origin
    self.remarks = remarks
    tracks = found
    period = Self.period(of: found.map { $0.start..<$0.end })
  }
}

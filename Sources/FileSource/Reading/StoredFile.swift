package import Media

/// A file that has been read through from start to end: the tracks found in it, and readers of their frames.
///
/// Opening reads the whole file once (with bounded memory), because what a header says of length and contents is often
/// missing or wrong, and because a call should not begin with a file that breaks in its middle. It blocks while it reads.
package struct StoredFile: Sendable {
  package let path: String
  package let format: MediaFile.Format
  /// One or two tracks: frames, audio or both.
  package let tracks: [StoredTrack]
  /// What a user may want to know although the file can be played, each as a sentence.
  package let remarks: [String]
  /// Units of `FileTime.rate` after which the file starts again when it is played in a loop.
  package let period: Int64
  /// The first frame's time in the container, in units.
  package let origin: Int64
  private let file: OpenFile

  /// Reads a file through.
  ///
  /// - Parameter codecs: those that can be played.
  package init(opening path: String, accepting codecs: Set<StoredCodec>) throws(MediaFile.ReadError) {
    let file = try OpenFile(path)
    guard file.size > 0 else { throw .empty }
    let format = try FormatDetector.format(file.beginning(FormatDetector.length))
    var survey = StoredFileScan(file: file, format: format, codecs: codecs)
    tracks = try survey.run()
    guard let origin = tracks.map(\.start).min() else { throw .nothingInside }
    self.path = path
    self.format = format
    self.file = file
    self.origin = origin
    remarks = survey.remarks
    period = Self.period(of: tracks.map { $0.start..<$0.end })
  }

  /// Refuses what would be played in so short rounds, or so fast, that nothing else could be done.
  package func refuseWhatIsTooShort() throws(MediaFile.ReadError) {
    guard period >= Self.shortestPeriod else {
      throw .unsupported("it lasts \(FileTime.text(period)) s, and a hundredth of a second is the least")
    }
    for track in tracks where Int64(track.frames) > period / (Int64(FileTime.rate) / 1000) {
      throw .unsupported("its \(track.codec.kind) has more than 1000 frames a second")
    }
  }

  /// A shorter file would be opened again and again all the time: 10 ms, in units.
  private static let shortestPeriod = Int64(FileTime.rate) / 100

  /// The track of a kind, if there is one.
  package func track(_ kind: MediaKind) -> StoredTrack? {
    tracks.first { $0.codec.kind == kind }
  }

  /// For example `samples/test.webm: 10.00 s, VP8 640x480, 300 frames in 10.00 s; Opus mono, 500 packets in 10.00 s`.
  package var summary: String {
    "\(path): \(FileTime.text(period)) s, \(tracks.map(\.description).joined(separator: "; "))"
  }

  /// A reader of one of the tracks, from its start.
  package func reader(of track: StoredTrack) throws(MediaFile.ReadError) -> TrackReader {
    try TrackReader(
      TrackReader.Source(file: file, format: format, codec: track.codec, number: track.number), origin: origin)
  }

  /// Tracks that begin this close together began together, but for the delay of an encoder: 50 ms, in units.
  private static let togetherLimit = Int64(FileTime.rate) / 20

  /// The time after which the file starts again: when its longer track ends.
  ///
  /// Tracks that begin together, but for the few milliseconds that an Opus encoder puts in front, each start again at their
  /// own place; so the longer one continues without a hole. Other tracks start again when the last has ended. The length is
  /// rounded up to a whole number of ticks of both clocks, so no round is ever a fraction of a tick off.
  package static func period(of tracks: [Range<Int64>]) -> Int64 {
    let firstStart = tracks.map(\.lowerBound).min() ?? 0
    let lastStart = tracks.map(\.lowerBound).max() ?? 0
    let lastEnd = tracks.map(\.upperBound).max() ?? 0
    let longest = tracks.map { $0.upperBound - $0.lowerBound }.max() ?? 0
    return FileTime.roundedUp(lastStart - firstStart <= togetherLimit ? longest : lastEnd - firstStart)
  }
}

package import Media

/// A file that has been read from start to end: its tracks, and readers of their frames.
///
/// Opening reads the whole file once (with bounded memory), because what a header says about length and contents is
/// often missing or wrong, and because a call should not begin with a file that breaks in the middle. It blocks while
/// it reads.
package struct StoredFile: Sendable {
  package let path: String
  package let format: MediaFile.Format
  /// One or two tracks: video, audio or both.
  package let tracks: [StoredTrack]
  /// What a user may want to know although the file can be played, each as a sentence.
  package let notes: [String]
  /// The time after which the file restarts when it is played in a loop, in units of `MediaTimebase.rate`.
  package let period: Int64
  /// The first frame's time in the container, in units.
  package let origin: Int64
  /// What could not be read and is left out; empty unless the file was opened for reading after damage.
  package let damages: [FileDamage]
  private let file: OpenFile
  private let continuesAfterDamage: Bool

  /// Opens a file and reads it through.
  ///
  /// - Parameters:
  ///   - codecs: the codecs that can be played.
  ///   - kinds: the kinds of tracks that are wanted.
  ///   - maximumGap: the longest time between two frames, in units of `MediaTimebase.rate`. An hour is plausible for a file that is
  ///     played; a recording of a call may have a camera that was off for longer.
  ///   - continuesAfterDamage: whether what follows damaged bytes is read as well, video from the next keyframe on. Otherwise a
  ///     damaged file is refused.
  package init(
    opening path: String, accepting codecs: Set<Codec>, kinds: Set<MediaKind> = Set(MediaKind.allCases),
    maximumGap: Int64 = 3_600 * Int64(MediaTimebase.rate), continuesAfterDamage: Bool = false
  ) throws(MediaFile.ReadError) {
    let file = try OpenFile(path)
    guard file.size > 0 else { throw .empty }
    let format = try FormatDetector.format(file.beginning(FormatDetector.length))
    var survey = StoredFileScan(
      file: file, format: format, codecs: codecs, kinds: kinds, maximumGap: maximumGap,
      continuesAfterDamage: continuesAfterDamage)
    tracks = try survey.run()
    guard let origin = tracks.map(\.start).min() else { throw .noMedia }
    self.path = path
    self.format = format
    self.file = file
    self.origin = origin
    notes = survey.notes
    damages = survey.damages
    self.continuesAfterDamage = continuesAfterDamage
    period = Self.period(of: tracks.map { $0.start..<$0.end })
  }

  /// Refuses a file whose rounds are so short, or whose frame rate is so high, that nothing else could be done.
  package func refuseWhatIsTooShort() throws(MediaFile.ReadError) {
    guard period >= Self.minimumPeriod else {
      throw .unsupported("it lasts \(MediaTimebase.text(period)) s, and 0.01 s is the minimum")
    }
    for track in tracks where Int64(track.frames) > period / (Int64(MediaTimebase.rate) / 1000) {
      throw .unsupported("its \(track.codec.kind) has more than 1000 frames a second")
    }
  }

  /// The minimum period: 10 ms, in units. A shorter file would restart all the time.
  private static let minimumPeriod = Int64(MediaTimebase.rate) / 100

  /// Returns the track of a kind, if there is one.
  package func track(_ kind: MediaKind) -> StoredTrack? {
    tracks.first { $0.codec.kind == kind }
  }

  /// For example `samples/test.webm: 10.00 s, VP8 640x480, 300 frames in 10.00 s; Opus mono, 500 packets in 10.00 s`.
  package var summary: String {
    "\(path): \(MediaTimebase.text(period)) s, \(tracks.map(\.description).joined(separator: "; "))"
  }

  /// Returns a reader of one of the tracks, at its start.
  package func reader(of track: StoredTrack) throws(MediaFile.ReadError) -> TrackReader {
    try TrackReader(
      TrackReader.Source(
        file: file, format: format, codec: track.codec, number: track.number,
        continuesAfterDamage: continuesAfterDamage), origin: origin)
  }

  /// Tracks that begin within this interval are taken to begin together, apart from an encoder's delay: 50 ms, in
  /// units.
  private static let togetherLimit = Int64(MediaTimebase.rate) / 20

  /// Returns the time after which the file restarts: when its longer track ends.
  ///
  /// Tracks that begin together, apart from the few milliseconds of an Opus encoder's delay, each restart at their own
  /// start, so the longer one continues without a gap. Other tracks restart when the last one has ended. The period is
  /// rounded up to a whole number of ticks of both clocks, so no round is off by a fraction of a tick.
  package static func period(of tracks: [Range<Int64>]) -> Int64 {
    let firstStart = tracks.map(\.lowerBound).min() ?? 0
    let lastStart = tracks.map(\.lowerBound).max() ?? 0
    let lastEnd = tracks.map(\.upperBound).max() ?? 0
    let longest = tracks.map { $0.upperBound - $0.lowerBound }.max() ?? 0
    return MediaTimebase.roundedUp(lastStart - firstStart <= togetherLimit ? longest : lastEnd - firstStart)
  }
}

/// Detects a file's format from its first bytes.
package enum FormatDetector {
  /// How many of the first bytes are inspected.
  package static let length = 16

  /// Returns the format to read a file as.
  ///
  /// - Throws: `unsupportedFormat` with the name of the format, if it is known.
  static func format(_ beginning: [UInt8]) throws(MediaFile.ReadError) -> MediaFile.Format {
    if beginning.starts(with: [0x1a, 0x45, 0xdf, 0xa3]) { return .webM }
    if beginning.starts(with: Array("OggS".utf8)) { return .ogg }
    if beginning.starts(with: Array("DKIF".utf8)) { return .ivf }
    if isMP4(beginning) { return .mp4 }
    throw .unsupportedFormat(detected: name(beginning))
  }

  /// Whether a file is MP4 or QuickTime: its first box is one that is at the start of such files.
  package static func isMP4(_ beginning: [UInt8]) -> Bool {
    ["ftyp", "moov", "mdat", "wide", "free", "skip", "pnot"].contains { type in
      beginning.dropFirst(4).starts(with: type.utf8)
    }
  }

  /// Returns the name of a file's format with an article; nil if its first bytes are not known.
  package static func name(_ beginning: [UInt8]) -> String? {
    let known: [(offset: Int, mark: String, name: String)] = [
      (4, "ftyp", "an MP4 or QuickTime file"), (8, "WAVE", "a WAV file"), (8, "AVI ", "an AVI file"),
      (0, "YUV4MPEG2", "a Y4M file"), (0, "fLaC", "a FLAC file"), (0, "ID3", "an MP3 file"),
      (0, "FLV", "a Flash video"), (1, "PNG", "a PNG image"), (0, "GIF8", "a GIF image"), (0, "#!", "a script"),
      (0, "{", "JSON text"), (0, "<", "HTML or XML text"),
    ]
    for (offset, mark, name) in known where beginning.dropFirst(offset).starts(with: mark.utf8) { return name }
    return nil
  }
}

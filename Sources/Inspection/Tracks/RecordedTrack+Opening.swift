import FileSource
package import Media
import Recorder

extension RecordedTrack {
  /// How much shorter the audio of a file may be than its manifest says and still count as complete: 250 ms.
  private static let audioMargin = Int64(MediaTimebase.rate) / 4

  private typealias Opened = (file: RecordedFile, stored: StoredFile)

  /// Opens one track of a recording: reads the files that contain it through once, with bounded memory.
  ///
  /// Audio is that of the files with audio alone, which have all of it; where such a file is missing or cut off, that of the file
  /// with video.
  ///
  /// - Parameter problems: files that cannot be read, a sentence each, are appended.
  package static func opening(
    _ kind: MediaKind, of recording: FoundRecording, problems: inout [String]
  ) -> RecordedTrack {
    var pieces: [Piece] = []
    switch kind {
    case .video:
      let files = recording.files.filter { hasVideo($0) != false }
      pieces = files.compactMap { piece(.video, of: $0, in: recording, problems: &problems) }
    case .audio:
      let segments = Set(recording.files.map { $0.segment ?? 1 }).sorted()
      for segment in segments {
        let files = recording.files.filter { ($0.segment ?? 1) == segment }
        pieces += audio(of: files, in: recording, problems: &problems)
      }
    }
    // What follows the file before it has no time of its own and stays where it is.
    let gaps = recording.manifest?.content.tracks.first { $0.kind == kind.rawValue }?.gaps ?? []
    return RecordedTrack(kind, pieces: pieces, gaps: gaps)
  }

  /// Returns the audio of the files of one segment.
  private static func audio(
    of files: [RecordedFile], in recording: FoundRecording, problems: inout [String]
  ) -> [Piece] {
    func length(_ pieces: [Piece]) -> Int64 { pieces.reduce(0) { $0 + $1.track.end - $1.track.start } }
    func opened(withVideo: Bool) -> [Piece] {
      files.filter { (hasVideo($0) == true) == withVideo }.compactMap {
        piece(.audio, of: $0, in: recording, problems: &problems)
      }
    }
    let isManifestFinal = recording.manifest?.content.finished ?? false
    let alone = opened(withVideo: false)
    let expected = files.filter { hasVideo($0) == false }.reduce(Int64(0)) { sum, file in
      sum + (file.entry.flatMap { RecordedTime.units($0.duration) } ?? 0)
    }
    let isWhole = isManifestFinal && expected > 0 && length(alone) + audioMargin >= expected
    if isWhole { return alone }
    let both = opened(withVideo: true)
    return length(both) > length(alone) + audioMargin ? both : alone
  }

  private static func piece(
    _ kind: MediaKind, of file: RecordedFile, in recording: FoundRecording, problems: inout [String]
  ) -> Piece? {
    let stored: StoredFile
    do throws(MediaFile.ReadError) {
      stored = try StoredFile(
        opening: file.path, accepting: Set(Codec.allCases), kinds: [kind], maximumGap: MediaTimebase.latest)
    } catch {
      switch error {
      case .noTrack, .noMedia, .empty: break
      default: problems.append("“\(RecordedName.shown(file.path))” cannot be read: \(error.refusal).")
      }
      return nil
    }
    guard let track = stored.track(kind) else { return nil }
    // WebM states when audio is heard, which is the decoder's delay before the packet's time.
    let delay =
      stored.format == .webM && kind == .audio ? track.preSkip * MediaTimebase.units(perTickOf: .audio) : 0
    let start =
      recording.manifest == nil ? -stored.origin : file.entry.flatMap { RecordedTime.units($0.start) } ?? 0
    return Piece(file: stored, track: track, zero: start + delay)
  }

  /// Whether a file is one for video and audio, by its name; nil if that does not tell it.
  private static func hasVideo(_ file: RecordedFile) -> Bool? { RecordingFileKind(fileName: file.name)?.hasVideo }
}

import FileSource
package import Media
import Recorder

extension RecordedTrack {
  /// How much shorter the audio of a file may be than its manifest says and still count as complete: 250 ms.
  fileprivate static let audioMargin = Int64(MediaTimebase.rate) / 4

  /// Opens one track of a recording: reads the files that contain it through once, with bounded memory.
  ///
  /// Audio is that of the files with audio alone, which have all of it; where such a file is missing or cut off, that of the file
  /// with video.
  ///
  /// - Parameters:
  ///   - takesWhatIsLeft: whether a file that is damaged has what can be read before and after the damage. Otherwise it has nothing.
  ///   - problems: files that cannot be read, or not whole, a sentence each, are appended.
  package static func opening(
    _ kind: MediaKind, of recording: FoundRecording, takesWhatIsLeft: Bool = false, problems: inout [String]
  ) -> RecordedTrack {
    let opener = Opener(recording: recording, takesWhatIsLeft: takesWhatIsLeft)
    var pieces: [Piece] = []
    switch kind {
    case .video:
      let files = recording.files.filter { hasVideo($0) != false }
      pieces = files.compactMap { opener.piece(.video, of: $0, problems: &problems) }
    case .audio:
      let segments = Set(recording.files.map { $0.segment ?? 1 }).sorted()
      for segment in segments {
        let files = recording.files.filter { ($0.segment ?? 1) == segment }
        pieces += opener.audio(of: files, problems: &problems)
      }
    }
    // What follows the file before it has no time of its own and stays where it is.
    let gaps = recording.manifest?.content.tracks.first { $0.kind == kind.rawValue }?.gaps ?? []
    return RecordedTrack(kind, pieces: pieces, gaps: gaps)
  }

  /// Whether a file is one for video and audio, by its name; nil if that does not tell it.
  fileprivate static func hasVideo(_ file: RecordedFile) -> Bool? {
    RecordingFileKind(fileName: file.name)?.hasVideo
  }
}

/// Opens the files of a recording.
private struct Opener {
  let recording: FoundRecording
  let takesWhatIsLeft: Bool

  /// Returns the audio of the files of one segment.
  func audio(of files: [RecordedFile], problems: inout [String]) -> [RecordedTrack.Piece] {
    func length(_ pieces: [RecordedTrack.Piece]) -> Int64 { pieces.reduce(0) { $0 + $1.track.end - $1.track.start } }
    func isDamaged(_ pieces: [RecordedTrack.Piece]) -> Bool { pieces.contains { !$0.file.damages.isEmpty } }
    func opened(withVideo: Bool) -> [RecordedTrack.Piece] {
      files.filter { (RecordedTrack.hasVideo($0) == true) == withVideo }.compactMap {
        piece(.audio, of: $0, problems: &problems)
      }
    }
    let isManifestFinal = recording.manifest?.content.finished ?? false
    let alone = opened(withVideo: false)
    let expected = files.filter { RecordedTrack.hasVideo($0) == false }.reduce(Int64(0)) { sum, file in
      sum + (file.entry.flatMap { RecordedTime.units($0.duration) } ?? 0)
    }
    let margin = RecordedTrack.audioMargin
    let isWhole = isManifestFinal && expected > 0 && length(alone) + margin >= expected && !isDamaged(alone)
    if isWhole { return alone }
    let both = opened(withVideo: true)
    if isDamaged(alone) != isDamaged(both) {
      let (whole, damaged) = isDamaged(alone) ? (both, alone) : (alone, both)
      if length(whole) + margin >= length(damaged) { return whole }
    }
    return length(both) > length(alone) + margin ? both : alone
  }

  func piece(_ kind: MediaKind, of file: RecordedFile, problems: inout [String]) -> RecordedTrack.Piece? {
    let stored: StoredFile
    do throws(MediaFile.ReadError) {
      stored = try StoredFile(
        opening: file.path, accepting: Set(Codec.allCases), kinds: [kind], maximumGap: MediaTimebase.latest,
        continuesAfterDamage: takesWhatIsLeft)
    } catch {
      switch error {
      case .noTrack, .noMedia, .empty: break
      default: problems.append("“\(RecordedName.shown(file.path))” cannot be read: \(error.refusal).")
      }
      return nil
    }
    problems += Self.sentence(stored.damages, of: file).map { [$0] } ?? []
    guard let track = stored.track(kind) else { return nil }
    // WebM states when audio is heard, which is the decoder's delay before the packet's time.
    let delay =
      stored.format == .webM && kind == .audio ? track.preSkip * MediaTimebase.units(perTickOf: .audio) : 0
    let start =
      recording.manifest == nil ? -stored.origin : file.entry.flatMap { RecordedTime.units($0.start) } ?? 0
    return RecordedTrack.Piece(file: stored, track: track, zero: start + delay)
  }

  /// Returns what is said of a file that is damaged; nil if it is not.
  private static func sentence(_ damages: [FileDamage], of file: RecordedFile) -> String? {
    guard let first = damages.first else { return nil }
    let more = damages.count > 1 ? ", and so are \(damages.count - 1) further parts" : ""
    return "“\(RecordedName.shown(file.path))” is damaged: \(first.description)\(more)."
  }
}

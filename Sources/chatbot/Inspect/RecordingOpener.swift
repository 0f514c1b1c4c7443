import FileSource
import Media
import Recorder

/// Opens the recordings that were found: scans each file once, and chooses the files to read video and audio from.
struct RecordingOpener {
  /// Files that cannot be read, a sentence each.
  private(set) var problems: [String] = []
  /// Further remarks for the user, a sentence each.
  private(set) var remarks: [String] = []
  private var ids: Set<ParticipantID> = []

  /// How much shorter the audio of a WebM file may be than that of the Ogg file beside it and still count as complete:
  /// 250 ms.
  private static let audioMargin = Int64(MediaTimebase.rate) / 4

  private typealias Opened = (file: RecordedFile, stored: StoredFile)

  /// - Returns: Nil if none of its files can be read.
  mutating func open(_ recording: FoundRecording) -> InspectedPeer? {
    let files = recording.files.compactMap { file in open(file, of: recording).map { (file, $0) } }
    let videoTrack = RecordedTrack(
      .video, pieces: files.compactMap { piece(.video, of: $0, in: recording) },
      gaps: gaps(.video, of: recording.manifest))
    let audioTrack = RecordedTrack(
      .audio, pieces: audioPieces(of: files, in: recording), gaps: gaps(.audio, of: recording.manifest))
    let tracks = [videoTrack, audioTrack].filter { !$0.isEmpty }
    if tracks.isEmpty { return nil }
    remarkUnfinished(recording)
    return InspectedPeer(
      id: id(of: recording), recording: recording, tracks: tracks, began: began(recording))
  }

  private mutating func open(_ file: RecordedFile, of recording: FoundRecording) -> StoredFile? {
    let shown = RecordedName.shown(file.path)
    do throws(MediaFile.ReadError) {
      let stored = try StoredFile(opening: file.path, accepting: StoredCodec.callCodecs)
      // Files of an unfinished recording are cut off; one remark about the recording covers them.
      let isKnown = recording.manifest.map { !$0.content.finished } ?? false
      if !isKnown { remarks += stored.notes.map { "“\(shown)”: \($0)" } }
      return stored
    } catch {
      if isBegunOnly(file, error) {
        remarks.append("“\(shown)” holds no frame yet.")
      } else {
        problems.append("“\(shown)” cannot be inspected: \(error).")
      }
      return nil
    }
  }

  /// Whether the file is the last one of a recorder that was killed just after creating it.
  private func isBegunOnly(_ file: RecordedFile, _ rejection: MediaFile.ReadError) -> Bool {
    guard file.entry.map({ !$0.complete }) ?? false else { return false }
    return switch rejection {
    case .empty, .noMedia, .noTrack: true
    default: false
    }
  }

  // MARK: Tracks

  private func piece(
    _ kind: MediaKind, of opened: Opened, in recording: FoundRecording
  ) -> RecordedTrack.Piece? {
    guard let track = opened.stored.track(kind) else { return nil }
    // A file without a manifest begins with its first frame.
    guard recording.manifest != nil else {
      return .init(file: opened.stored, track: track, zero: -opened.stored.origin)
    }
    var zero = opened.file.entry.flatMap { RecordedTime.units($0.start) } ?? 0
    // WebM states when audio is heard, which is the decoder's delay before the packet's time; a call uses the packet's
    // time.
    if opened.stored.format == .webM, kind == .audio { zero += track.preSkip * MediaTimebase.units(perTickOf: .audio) }
    return .init(file: opened.stored, track: track, zero: zero)
  }

  /// Returns the audio of the WebM files, in which gaps stay gaps, unless the Ogg files have more audio: they also
  /// contain what was sent before the first video frame.
  private func audioPieces(of files: [Opened], in recording: FoundRecording) -> [RecordedTrack.Piece] {
    func all(_ format: MediaFile.Format) -> (pieces: [RecordedTrack.Piece], length: Int64) {
      let pieces = files.filter { $0.stored.format == format }.compactMap { piece(.audio, of: $0, in: recording) }
      return (pieces, pieces.reduce(0) { $0 + $1.track.end - $1.track.start })
    }
    let webM = all(.webM)
    let ogg = all(.ogg)
    return webM.length + Self.audioMargin >= ogg.length && !webM.pieces.isEmpty
      ? webM.pieces : ogg.pieces
  }

  private func gaps(_ kind: MediaKind, of manifest: FoundRecording.Manifest?) -> [RecordingManifest.Gap] {
    manifest?.content.tracks.first { $0.kind == kind.rawValue }?.gaps ?? []
  }

  // MARK: Properties

  private mutating func remarkUnfinished(_ recording: FoundRecording) {
    guard let manifest = recording.manifest, !manifest.content.finished else { return }
    let path = RecordedName.shown(manifest.path)
    remarks.append(
      "“\(path)” is not finished: it is still being recorded, or the recorder was killed. It is judged up to its "
        + "current end. If the recorder was killed, `chatbot repair \(path)` completes it.")
  }

  /// The time of its zero, in milliseconds since 1970.
  private mutating func began(_ recording: FoundRecording) -> Int64? {
    guard let manifest = recording.manifest else { return nil }
    if let time = RecordedClock.milliseconds(manifest.content.start) { return time }
    remarks.append(
      "“\(RecordedName.shown(manifest.path))” does not say when it began, so it is not aligned with the others.")
    return nil
  }

  /// Returns the user's id or the file's name, made unique, because each recording is a peer of its own.
  private mutating func id(of recording: FoundRecording) -> ParticipantID {
    let name = RecordedName.stem(recording.fileName)
    var text = recording.manifest?.content.user ?? recording.fileName
    if text.isEmpty { text = recording.fileName }
    if ids.contains(ParticipantID(text)), recording.manifest != nil { text += " (\(name))" }
    var id = ParticipantID(text)
    var number = 2
    while !ids.insert(id).inserted {
      id = ParticipantID("\(text) (\(number))")
      number += 1
    }
    return id
  }
}

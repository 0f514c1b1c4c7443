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
  private var participants: [Participant] = []

  /// A participant of whom a recording was opened.
  private struct Participant {
    let id: ParticipantID
    let room: String
    let user: String
    /// The process that recorded; nil if that is not known.
    let session: String?
    /// The path of the manifest of the first stream, without its extension.
    let base: String
    /// The numbers of the streams of which a recording was opened.
    var streams: Set<Int>
  }

  /// How much shorter the audio of a file with video may be than that of the file with audio alone and still count as complete:
  /// 250 ms.
  private static let audioMargin = Int64(MediaTimebase.rate) / 4

  private typealias Opened = (file: RecordedFile, stored: StoredFile)

  /// - Returns: Nil if none of its files can be read.
  mutating func open(_ recording: FoundRecording) -> InspectedRecording? {
    let files = recording.files.compactMap { file in open(file, of: recording).map { (file, $0) } }
    let videoTrack = RecordedTrack(
      .video, pieces: files.compactMap { piece(.video, of: $0, in: recording) },
      gaps: gaps(.video, of: recording.manifest))
    let audioTrack = RecordedTrack(
      .audio, pieces: audioPieces(of: files, in: recording), gaps: gaps(.audio, of: recording.manifest))
    let tracks = [videoTrack, audioTrack].filter { !$0.isEmpty }
    if tracks.isEmpty { return nil }
    remarkUnfinished(recording)
    let recorded = recording.stream
    let id = id(of: recording, stream: recorded.number)
    let stream = MediaStream(
      owner: id, number: recorded.number, id: recorded.id, content: recorded.content,
      tracks: Dictionary(uniqueKeysWithValues: tracks.map { ($0.kind, "") }))
    return InspectedRecording(
      id: id, recording: recording, stream: stream, tracks: tracks, began: began(recording))
  }

  private mutating func open(_ file: RecordedFile, of recording: FoundRecording) -> StoredFile? {
    let shown = RecordedName.shown(file.path)
    do throws(MediaFile.ReadError) {
      let stored = try StoredFile(opening: file.path, accepting: Set(Codec.allCases))
      // Files of an unfinished recording are cut off; one remark about the recording covers them.
      let isKnown = recording.manifest.map { !$0.content.finished } ?? false
      if !isKnown { remarks += stored.notes.map { "“\(shown)”: \($0)" } }
      return stored
    } catch {
      if isBegunOnly(file, error) {
        remarks.append("“\(shown)” holds no frame yet.")
      } else {
        problems.append("“\(shown)” cannot be inspected: \(error.refusal).")
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

  /// Returns the audio of the files with video, in which gaps stay gaps, unless the files with audio alone have more: they also
  /// contain what was sent before the first video frame.
  private func audioPieces(of files: [Opened], in recording: FoundRecording) -> [RecordedTrack.Piece] {
    func all(withVideo: Bool) -> (pieces: [RecordedTrack.Piece], length: Int64) {
      let pieces = files.filter { hasVideo($0) == withVideo }.compactMap { piece(.audio, of: $0, in: recording) }
      return (pieces, pieces.reduce(0) { $0 + $1.track.end - $1.track.start })
    }
    let both = all(withVideo: true)
    let alone = all(withVideo: false)
    return both.length + Self.audioMargin >= alone.length && !both.pieces.isEmpty ? both.pieces : alone.pieces
  }

  /// Whether a file is one for video and audio; by its content if its name does not tell it.
  private func hasVideo(_ opened: Opened) -> Bool {
    RecordingFileKind(fileName: opened.file.name)?.hasVideo ?? (opened.stored.format == .webM)
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

  /// Returns the id of the peer that a recording is a stream of: a peer that has no such stream yet, or a new one.
  private mutating func id(of recording: FoundRecording, stream: Int) -> ParticipantID {
    guard let manifest = recording.manifest else { return newID(of: recording) }
    let content = manifest.content
    var base = RecordedName.stem(manifest.path)
    if stream > 1, base.hasSuffix(".\(stream)") { base.removeLast("\(stream)".count + 1) }
    let candidates = participants.indices.filter { index in
      let known = participants[index]
      return known.user == content.user && known.room == content.room && known.session == content.session?.id
        && !known.streams.contains(stream)
    }
    // If the names of the files do not say it, a further stream is one of the recording that was begun last before it.
    let byName = candidates.first { participants[$0].base == base }
    if let index = byName ?? (stream > 1 && content.session != nil ? candidates.last : nil) {
      participants[index].streams.insert(stream)
      return participants[index].id
    }
    let id = newID(of: recording)
    participants.append(
      Participant(
        id: id, room: content.room, user: content.user, session: content.session?.id, base: base, streams: [stream]))
    return id
  }

  /// Returns the user's id or the file's name, made unique.
  private mutating func newID(of recording: FoundRecording) -> ParticipantID {
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

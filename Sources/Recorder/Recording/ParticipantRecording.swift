import Codecs
import Media
import NIOCore

/// All files of one participant, from the first frame to the end.
///
/// Frames go through the gate (only what can be decoded), the check (decode it) and the timeline (place it), and then into the
/// files. The `.ogg` holds all sound from the first packet on. The `.webm` begins with the recording when there was video
/// within the hold; when video comes later, it begins with that video's first keyframe and holds the sound from there on.
final class ParticipantRecording {
  /// What all recordings of a recorder share.
  struct Surroundings {
    let folder: Folder
    let room: String
    let hold: Duration
    let verifies: Bool
    /// Told each problem as it arises.
    let report: (Recorder.Problem) -> Void
  }

  let participant: ParticipantID
  private let name: String?
  private let clock: WallClock
  private let surroundings: Surroundings

  private let intake: FrameIntake
  private var hasPlaced = false

  /// The files' common name; nil until the first frame.
  private var base: String?
  private var hasTriedName = false
  private var webM: WebMFile?
  private var ogg: OggFile?
  /// The endings of files that are not to be written any more.
  private var abandoned: Set<String> = []
  private var problems: [String] = []

  init(_ participant: ParticipantID, name: String?, clock: WallClock, surroundings: Surroundings) {
    self.participant = participant
    self.name = name
    self.clock = clock
    self.surroundings = surroundings
    intake = FrameIntake(hold: surroundings.hold, verifies: surroundings.verifies)
  }

  /// Takes what the participant's media brought.
  func receive(_ event: MediaEvent, now: ContinuousClock.Instant) {
    intake.receive(event, now: now)
    if intake.firstArrival != nil, base == nil, !hasTriedName { claimName() }
    advance(now: now)
  }

  /// Writes what has waited for long enough.
  func advance(now: ContinuousClock.Instant, everything: Bool = false) {
    for placed in intake.release(now: now, everything: everything) { write(placed, now: now) }
    attempt(webM) { file throws(Recorder.DiskError) in try file.flush(now: now) }
    attempt(ogg) { file throws(Recorder.DiskError) in try file.flush(now: now) }
  }

  /// Ends the recording and closes its files; nil when there was nothing to record.
  func end(_ reason: LeaveReason, now: ContinuousClock.Instant) -> RecordingSummary? {
    advance(now: now, everything: true)
    attempt(webM) { file throws(Recorder.DiskError) in try file.finish() }
    attempt(ogg) { file throws(Recorder.DiskError) in try file.finish() }
    guard let base else { return nil }
    var manifest = self.manifest
    manifest.finished = true
    manifest.left = reason
    store(manifest, as: base, durably: true)
    manifest.problems = problems
    return RecordingSummary(participant: participant, folder: surroundings.folder.path, base: base, manifest: manifest)
  }

  /// How it stands now.
  var status: RecordingStatus {
    let files = [webM?.output, ogg?.output].compactMap(\.self)
    return RecordingStatus(
      participant: participant, files: files.map(\.path), bytes: files.reduce(0) { $0 + $1.size },
      duration: intake.duration, frames: intake.frames, decodeErrors: intake.decodeErrors, problems: problems)
  }

  // MARK: Frames

  private func write(_ placed: PlacedFrame, now: ContinuousClock.Instant) {
    if !hasPlaced {
      hasPlaced = true
      if intake.firstTracks.contains(.video) { beginWebM(at: .zero) }
    }
    let frame = placed.frame
    switch frame.codec {
    case .vp8:
      if webM == nil { beginWebM(at: placed.position) }
    case .opus:
      guard let shape = try? OpusPacketShape(parsing: frame.payload) else { return }
      if ogg == nil { beginOgg(at: placed.position, channels: shape.channels) }
      attempt(ogg) { file throws(Recorder.DiskError) in try file.add(placed, now: now) }
    }
    if let webM, placed.position >= webM.start {
      attempt(webM) { file throws(Recorder.DiskError) in try file.add(placed, now: now) }
    }
  }

  // MARK: Files

  /// Takes a name that none of the three files has yet, by making the manifest under it.
  private func claimName() {
    hasTriedName = true
    let wanted = SafeName(of: name ?? participant.text).description
    for number in 1...10_000 {
      let base = number == 1 ? wanted : "\(wanted)-\(number)"
      if surroundings.folder.contains("\(base).webm") || surroundings.folder.contains("\(base).ogg") { continue }
      do {
        try surroundings.folder.create("\(base).json").close(durably: false)
      } catch  where error.isNameTaken {
        continue
      } catch {
        note(error.description)
        return
      }
      self.base = base
      storeProgress()
      return
    }
    note("Cannot find a free file name for “\(wanted)”: 10000 are taken.")
  }

  private func beginWebM(at start: Duration) {
    guard let size = intake.firstSize else { return }
    let date = clock.nanosecondsSince2001(at: (intake.origin ?? clock.moment) + start)
    webM = begin { output throws(Recorder.DiskError) in
      try WebMFile(output: output, size: size, start: start, date: date)
    }
    storeProgress()
  }

  private func beginOgg(at start: Duration, channels: Int) {
    guard let writer = try? OggOpusWriter(serial: Int32.random(in: 1...Int32.max), channels: channels) else { return }
    ogg = begin { output throws(Recorder.DiskError) in try OggFile(output: output, writer: writer, start: start) }
    storeProgress()
  }

  private func begin<File: MediaFile>(_ open: (OutputFile) throws(Recorder.DiskError) -> File) -> File? {
    guard let base, !abandoned.contains(File.ending) else { return nil }
    do {
      let file = try open(surroundings.folder.create("\(base).\(File.ending)"))
      return file
    } catch {
      abandoned.insert(File.ending)
      note(error.description)
      return nil
    }
  }

  /// Does something with a file, as long as nothing went wrong with it; the other files go on whatever happens.
  private func attempt<File: MediaFile>(_ file: File?, _ work: (File) throws(Recorder.DiskError) -> Void) {
    guard let file, !abandoned.contains(File.ending) else { return }
    do {
      try work(file)
    } catch {
      abandoned.insert(File.ending)
      note(error.description)
    }
  }

  private func note(_ sentence: String) {
    problems.append(sentence)
    surroundings.report(Recorder.Problem(participant: participant, sentence: sentence))
  }

  // MARK: Manifest

  private var manifest: RecordingManifest {
    let begin = intake.origin ?? intake.firstArrival ?? clock.moment
    var manifest = RecordingManifest(
      room: surroundings.room, user: participant.text, name: name, start: clock.text(at: begin))
    manifest.duration = intake.duration.roundedSeconds
    manifest.alignment = intake.alignment
    manifest.files = [webM?.entry, ogg?.entry].compactMap(\.self)
    manifest.tracks = intake.tracks(clock: clock)
    manifest.problems = problems
    return manifest
  }

  private func storeProgress() {
    if let base { store(manifest, as: base, durably: false) }
  }

  private func store(_ manifest: RecordingManifest, as base: String, durably: Bool) {
    do {
      try surroundings.folder.replace("\(base).json", with: manifest.json, durably: durably)
    } catch {
      note("\(error)")
    }
  }
}

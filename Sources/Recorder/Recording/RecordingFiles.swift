import Codecs
import Media
import NIOCore

/// The media files of one participant: which frame goes into which, and what becomes of frames while the disk takes none.
///
/// The `.ogg` holds all sound from the first packet on. The `.webm` begins with the recording when there was video within
/// the hold; when video comes later, it begins with that video's first keyframe and holds the sound from there on.
///
/// ```
///            a write fails                        every file has written what was in line
///   writing ───────────────► stalled (frames wait in `backlog`) ────────────────────────► writing
///                               └── tried again every second ──┘
/// ```
final class RecordingFiles {
  let participant: ParticipantID
  private let surroundings: ParticipantRecording.Surroundings
  private let intake: FrameIntake
  private let clock: WallClock

  /// The files' common name; nil until there is one.
  var base: String?
  private var isBegun = false

  /// The files that take frames.
  private var webM: WebMFile?
  private var ogg: OggFile?
  /// A WebM of an earlier segment that goes on taking pictures until a keyframe comes, because the segment was ended while
  /// there was no video.
  private var trailing: WebMFile?
  /// Files that are at their end but not yet wholly on the disk.
  private var closing: [any MediaFile] = []
  /// What is left of files that are closed.
  private var closed: [RecordingManifest.File] = []
  private var abandoned: Set<String> = []

  private var segment: SegmentCut?
  private var backlog = CircularBuffer<PlacedFrame>()
  private var backlogBytes = 0
  private var stalledSince: ContinuousClock.Instant?
  private var retryAt: ContinuousClock.Instant?

  /// What went wrong, one sentence each.
  private(set) var problems: [String] = []
  /// How often and for how long the disk took nothing.
  private(set) var disk = RecordingManifest.Disk()
  /// Goes up whenever the list of files changes.
  private(set) var changes = 0

  init(
    of participant: ParticipantID, intake: FrameIntake, clock: WallClock,
    surroundings: ParticipantRecording.Surroundings
  ) {
    self.participant = participant
    self.intake = intake
    self.clock = clock
    self.surroundings = surroundings
    segment = surroundings.segment.map { SegmentCut(limit: $0) }
  }

  private var open: [any MediaFile] {
    let files: [(any MediaFile)?] = [trailing, webM, ogg]
    return closing + files.compactMap(\.self)
  }

  /// All files that are on the disk, in order.
  var entries: [RecordingManifest.File] {
    let all = closed + open.filter(\.file.exists).map(\.entry)
    return all.sorted { ($0.segment ?? 0, $1.kind) < ($1.segment ?? 0, $0.kind) }
  }

  /// Bytes of frames that are not on the disk.
  var heldBytes: Int { open.reduce(backlogBytes) { $0 + $1.heldBytes } }
  var isStalled: Bool { stalledSince != nil }
  /// Whether nothing is open any more.
  var isDone: Bool { open.isEmpty && backlog.isEmpty }

  // MARK: Frames

  func write(_ placed: PlacedFrame, now: ContinuousClock.Instant) {
    if isStalled || base == nil {
      backlog.append(placed)
      backlogBytes += Inbox.cost(of: placed.frame)
    } else {
      dispatch(placed, now: now)
    }
  }

  /// Writes what has waited for long enough, and tries again what failed.
  func advance(now: ContinuousClock.Instant) {
    if let retryAt, now < retryAt { return }
    if isStalled { recover(now: now) }
    drain(now: now)
    if isStalled { return }
    for file in open where !abandoned.contains(file.file.name) {
      file.flush(now: now)
      store(file, now: now)
    }
  }

  /// Ends all files. They are closed as soon as the disk takes the rest; see `isDone`.
  func finish(now: ContinuousClock.Instant) {
    drain(now: now)
    guard backlog.isEmpty else { return }
    for file in [trailing, webM, ogg] as [(any MediaFile)?] { if let file { end(file, now: now) } }
    (trailing, webM, ogg) = (nil, nil, nil)
  }

  /// Leaves the files as they are on the disk.
  func abandon(now: ContinuousClock.Instant) {
    for file in open {
      if file.file.isWaiting { abandon(file) }
      if file.file.exists { closed.append(file.entry) }
      file.file.abandon()
    }
    (trailing, webM, ogg) = (nil, nil, nil)
    closing = []
    for placed in backlog { countDropped(placed.frame.codec.kind, 1) }
    backlog.removeAll()
    backlogBytes = 0
    endStall(now: now)
  }

  /// Counts frames that will be in no file.
  func countDropped(_ kind: MediaKind, _ count: UInt64) {
    switch kind {
    case .video: disk.picturesDropped += count
    case .audio: disk.packetsDropped += count
    }
  }

  private func drain(now: ContinuousClock.Instant) {
    while base != nil, !isStalled, let placed = backlog.popFirst() {
      backlogBytes -= Inbox.cost(of: placed.frame)
      dispatch(placed, now: now)
    }
  }

  private func dispatch(_ placed: PlacedFrame, now: ContinuousClock.Instant) {
    if !isBegun {
      isBegun = true
      segment?.begin(at: placed.position)
      if intake.firstTracks.contains(.video) { beginWebM(at: min(.zero, placed.position)) }
    }
    cut(before: placed, now: now)
    switch placed.frame.codec {
    case .vp8:
      if let trailing {
        if !placed.frame.isKeyframe { return add(placed, to: trailing, now: now) }
        end(trailing, now: now)
        self.trailing = nil
      }
      if webM == nil { beginWebM(at: placed.position) }
    case .opus:
      guard let shape = try? OpusPacketShape(parsing: placed.frame.payload) else { return }
      if ogg == nil { beginOgg(at: placed.position, channels: shape.channels) }
      if let ogg { add(placed, to: ogg, now: now) }
    }
    // What lies before a camera's first picture is in the Ogg alone; what lies before a cut that it came too late for is
    // in no other WebM.
    if let webM, placed.position >= webM.start || (webM.segment ?? 1) > 1 { add(placed, to: webM, now: now) }
  }

  private func add(_ placed: PlacedFrame, to file: some MediaFile, now: ContinuousClock.Instant) {
    guard !abandoned.contains(file.file.name) else { return }
    file.add(placed)
    if file.file.isWaiting { store(file, now: now) }
  }

  // MARK: Segments

  /// Ends the files before a frame with which the next ones can begin, when that is due.
  private func cut(before placed: PlacedFrame, now: ContinuousClock.Instant) {
    guard var segment else { return }
    let bytes = [webM?.file.size, ogg?.file.size].compactMap(\.self).max() ?? 0
    let decision = segment.decide(before: placed, bytes: bytes, hasVideo: webM != nil, now: now)
    switch decision {
    case .goOn: break
    case .askForKeyframe: surroundings.wantKeyframe(participant)
    case .cut:
      let hadVideo = webM != nil
      if let webM {
        if placed.frame.codec.kind == .audio, trailing == nil { trailing = webM } else { end(webM, now: now) }
      }
      if let ogg { end(ogg, now: now) }
      (webM, ogg) = (nil, nil)
      segment.begin(at: placed.position)
      self.segment = segment
      if hadVideo { beginWebM(at: placed.position) }
    }
    self.segment = segment
  }

  private func beginWebM(at start: Duration) {
    let date = clock.nanosecondsSince2001(at: (intake.origin ?? clock.moment) + start)
    webM = WebMFile(file: file(ending: WebMFile.ending), segment: segment?.number, start: start, date: date)
  }

  private func beginOgg(at start: Duration, channels: Int) {
    guard let writer = try? OggOpusWriter(serial: Int32.random(in: 1...Int32.max), channels: channels) else { return }
    ogg = OggFile(file: file(ending: OggFile.ending), writer: writer, segment: segment?.number, start: start)
  }

  private func file(ending: String) -> GrowingFile {
    GrowingFile(
      name: SafeName.file(base ?? "", segment: segment?.number, ending: ending), in: surroundings.folder)
  }

  // MARK: The disk

  private func end(_ file: some MediaFile, now: ContinuousClock.Instant) {
    guard !abandoned.contains(file.file.name) else { return }
    file.finish()
    closing.append(file)
    store(file, now: now)
  }

  /// Has a file write what is in line; the other files go on whatever happens.
  private func store(_ file: some MediaFile, now: ContinuousClock.Instant) {
    if abandoned.contains(file.file.name) { return }
    let existed = file.file.exists
    do {
      try file.file.store()
      surroundings.health.settled(file.file.name, of: participant, now: now)
    } catch {
      if error.isNameTaken {
        note(error.description)
        surroundings.report(Recorder.Problem(kind: .lost, participant: participant, sentence: error.description))
        abandon(file)
        return
      }
      stall(file.file.name, error: error, now: now)
    }
    if existed != file.file.exists { changes += 1 }
    if file.file.isComplete || (!file.file.isWaiting && !file.file.exists && isClosing(file)) {
      closing.removeAll { $0 === file }
      if file.file.exists { closed.append(file.entry) }
      changes += 1
    }
  }

  private func isClosing(_ file: some MediaFile) -> Bool { closing.contains { $0 === file } }

  /// A file that is not to be written any more.
  private func abandon(_ file: some MediaFile) {
    abandoned.insert(file.file.name)
    closing.removeAll { $0 === file }
    file.file.abandon()
    surroundings.health.forget(file.file.name)
  }

  private func stall(_ name: String, error: Recorder.DiskError, now: ContinuousClock.Instant) {
    surroundings.health.failed(name, of: participant, error: error, now: now)
    retryAt = now + DiskHealth.pause
    guard stalledSince == nil else { return }
    stalledSince = now
    disk.stalls += 1
    note(error.description)
  }

  private func recover(now: ContinuousClock.Instant) {
    retryAt = nil
    for file in open where file.file.isWaiting { store(file, now: now) }
    if retryAt == nil { endStall(now: now) }
  }

  private func endStall(now: ContinuousClock.Instant) {
    guard let since = stalledSince else { return }
    disk.duration += (now - since).roundedSeconds
    stalledSince = nil
    retryAt = nil
  }

  /// Takes note of something that went wrong; the newest 100 are enough.
  func note(_ sentence: String) {
    problems.append(sentence)
    if problems.count > 100 { problems.removeFirst() }
  }
}

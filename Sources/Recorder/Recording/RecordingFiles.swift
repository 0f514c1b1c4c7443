import Codecs
import Media
import NIOCore

/// The media files of one stream: it assigns frames to files, and holds frames while the disk accepts none.
///
/// The `.ogg` contains all audio from the first packet on. The `.webm` starts with the recording if there was video
/// within `alignmentDelay`; if video starts later, it begins with that video's first keyframe and contains the audio from
/// there on.
///
/// ```
///            a write fails                        all queued writes are done
///   writing ───────────────► stalled (frames wait in `backlog`) ───────────────► writing
///                               └── retries every second ──┘
/// ```
final class RecordingFiles {
  let participant: ParticipantID
  let stream: Int
  let environment: StreamRecording.Environment
  let pipeline: FramePipeline
  let clock: WallClock

  /// The common name of the files; nil until one is claimed.
  var base: String?
  private var isBegun = false

  /// The files that accept frames.
  var webM: MatroskaFile?
  var ogg: OggFile?
  /// A WebM of an earlier segment that accepts frames until a keyframe arrives, because the segment ended while there
  /// was no video.
  var trailing: MatroskaFile?
  /// Files of earlier segments that still accept audio, because some audio before their end has not arrived yet; the
  /// oldest first.
  var lateAudio: [LateAudio] = []
  /// The end of the audio that arrived last; nil before the first.
  private(set) var audioEnd: Duration?
  /// Files that are ended but not yet completely on the disk.
  var closing: [any OutputContainer] = []
  /// The manifest entries of closed files.
  var closed: [RecordingManifest.File] = []
  var abandoned: Set<String> = []
  /// The frames of each track that are on the disk in files that are no longer open.
  private var stored: [MediaKind: WrittenFrameCounts] = [:]

  var segment: SegmentBoundary?
  /// Frames that wait until the disk accepts writes again.
  var backlog = CircularBuffer<TimestampedFrame>()
  var backlogBytes = 0
  var stalledSince: MonotonicInstant?
  var retryAt: MonotonicInstant?

  /// The problems that occurred, one sentence each.
  var problems: [String] = []
  /// How often the disk accepted nothing, and what was lost.
  var disk = RecordingManifest.DiskStalls()
  /// What the processor had no time for, and what did not fit into the memory.
  var overload = RecordingManifest.DroppedFrames()
  var memory = RecordingManifest.DroppedFrames()
  /// How long the disk accepted nothing.
  var stallTime = StallTime()
  /// Whether files were closed without their queued writes.
  var isGivenUp = false
  /// The disk's last error.
  var lastError: RoomRecorder.StorageError?
  /// A counter that increases whenever the list of files changes.
  var changes = 0

  /// The files of an earlier segment that accept audio until a frame lies after their end.
  struct LateAudio {
    let webM: MatroskaFile
    /// Nil until audio arrives for it.
    var ogg: OggFile?
    /// The start of the next files.
    let end: Duration
  }

  /// How long to wait for audio that lies before a cut: as long as the timeline waits for a retransmission.
  private static let maximumAudioDelay = RecordingTimeline.recoveryTimeout
  /// The maximum number of segments that wait for audio, since their files are open. Many small segments can end in
  /// that time.
  private static let maximumLateSegments = 4

  init(
    of participant: ParticipantID, stream: Int, pipeline: FramePipeline, clock: WallClock,
    environment: StreamRecording.Environment
  ) {
    self.participant = participant
    self.stream = stream
    self.pipeline = pipeline
    self.clock = clock
    self.environment = environment
    segment = environment.segment.map { SegmentBoundary(limit: $0) }
  }

  /// All files that are not closed.
  var open: [any OutputContainer] {
    var files = closing
    if let trailing { files.append(trailing) }
    for late in lateAudio {
      files.append(late.webM)
      if let ogg = late.ogg { files.append(ogg) }
    }
    if let webM { files.append(webM) }
    if let ogg { files.append(ogg) }
    return files
  }

  /// The entries of all files that are on the disk, in order.
  var entries: [RecordingManifest.File] {
    let all = closed + open.filter(\.file.exists).map(\.entry)
    return all.sorted { ($0.segment ?? 0, $1.kind) < ($1.segment ?? 0, $0.kind) }
  }

  /// Bytes of frames that are not on the disk.
  var heldBytes: Int { open.reduce(backlogBytes) { $0 + $1.heldBytes } }
  var isStalled: Bool { stalledSince != nil }
  /// The frames of each track that are on the disk.
  var written: [MediaKind: WrittenFrameCounts] {
    open.reduce(into: stored) { $0[$1.countedKind, default: .init()].add($1.stored) }
  }
  /// Whether no file is open any more.
  var isDone: Bool { open.isEmpty && backlog.isEmpty }

  // MARK: Frames

  /// Adds the next frame, in order of position.
  func write(_ timestamped: TimestampedFrame, now: MonotonicInstant) {
    if isStalled || base == nil || !backlog.isEmpty {
      backlog.append(timestamped)
      backlogBytes += timestamped.frame.waitingCost
    } else {
      dispatch(timestamped, now: now)
    }
  }

  /// Writes what has waited long enough, and retries what failed.
  ///
  /// - Parameter atOnce: whether to write the rest, too.
  func advance(now: MonotonicInstant, atOnce: Bool = false) {
    if let retryAt, now < retryAt { return }
    if isStalled { recover(now: now) }
    drain(now: now)
    if isStalled { return }
    for file in open where !abandoned.contains(file.file.name) {
      file.flush(now: now, atOnce: atOnce)
      store(file, now: now)
    }
  }

  /// Ends all files. They are closed as soon as the rest is on the disk; see `isDone`.
  ///
  /// - Parameter end: the position at which the call ended. The audio is extended to it.
  func finish(at end: Duration, now: MonotonicInstant) {
    drain(now: now)
    guard backlog.isEmpty else { return }
    if ogg == nil, let last = lateAudio.lastIndex(where: { $0.ogg != nil }) {
      // No audio has arrived since.
      ogg = lateAudio[last].ogg
      lateAudio[last].ogg = nil
    }
    while !lateAudio.isEmpty { endLateAudio(now: now) }
    if let ogg, !abandoned.contains(ogg.file.name), end - ogg.start - ogg.duration > TrackCounter.minimumSilence {
      ogg.fill(to: end)
    }
    for file in [trailing, webM, ogg] as [(any OutputContainer)?] { if let file { self.end(file, now: now) } }
    (trailing, webM, ogg) = (nil, nil, nil)
  }

  /// Removes a file from the open ones, and keeps the counts of what is on the disk.
  func keep(_ file: any OutputContainer) {
    stored[file.countedKind, default: .init()].add(file.stored)
    if file.file.exists { closed.append(file.entry) }
  }

  private func drain(now: MonotonicInstant) {
    while base != nil, !isStalled, let timestamped = backlog.popFirst() {
      backlogBytes -= timestamped.frame.waitingCost
      dispatch(timestamped, now: now)
    }
  }

  private func dispatch(_ timestamped: TimestampedFrame, now: MonotonicInstant) {
    if !isBegun {
      isBegun = true
      segment?.begin(at: timestamped.position)
      if pipeline.firstTracks.contains(.video) { beginWebM(at: min(.zero, timestamped.position)) }
    }
    let delay = timestamped.frame.codec.kind == .audio ? .zero : Self.maximumAudioDelay
    while let late = lateAudio.first, timestamped.position - late.end >= delay { endLateAudio(now: now) }
    cut(before: timestamped, now: now)
    while lateAudio.count > Self.maximumLateSegments { endLateAudio(now: now) }
    switch timestamped.frame.codec.kind {
    case .video:
      if let trailing {
        if !timestamped.frame.isKeyframe { return add(timestamped, to: trailing, now: now) }
        end(trailing, now: now)
        self.trailing = nil
      }
      if webM == nil { beginWebM(at: timestamped.position) }
    case .audio:
      guard let audio = timestamped.frame.header.audio else { return }
      audioEnd = timestamped.position + audio.duration
      if let late = lateAudio.first {
        let ogg = late.ogg ?? newOgg(at: timestamped.position, channels: audio.channels, segment: late.webM.segment)
        lateAudio[0].ogg = ogg
        if let ogg { add(timestamped, to: ogg, now: now) }
        return add(timestamped, to: late.webM, now: now)
      }
      ogg = ogg ?? newOgg(at: timestamped.position, channels: audio.channels, segment: segment?.number)
      if let ogg { add(timestamped, to: ogg, now: now) }
    }
    // Audio before a camera's first frame goes into the Ogg only. Audio that arrives too late for the WebM before a cut
    // goes into this one, since no other WebM contains it.
    if let webM, timestamped.position >= webM.start || (webM.segment ?? 1) > 1 { add(timestamped, to: webM, now: now) }
  }

  /// Ends the oldest files that accepted late audio.
  private func endLateAudio(now: MonotonicInstant) {
    let late = lateAudio.removeFirst()
    end(late.webM, now: now)
    if let ogg = late.ogg { end(ogg, now: now) }
  }

  private func add(_ timestamped: TimestampedFrame, to file: some OutputContainer, now: MonotonicInstant) {
    if abandoned.contains(file.file.name) {
      if file.countedKind == timestamped.frame.codec.kind { countDropped(timestamped.frame.codec.kind, 1) }
      return
    }
    file.add(timestamped)
    if file.file.isWaiting { store(file, now: now) }
  }
}

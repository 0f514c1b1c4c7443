import Bitstream
import Codecs
import Media
import NIOCore

/// The media files of one participant: which frame goes into which, and what becomes of frames while the disk takes none.
///
/// The `.ogg` holds all audio from the first packet on. The `.webm` begins with the recording when there was video within
/// the hold; when video comes later, it begins with that video's first keyframe and holds the audio from there on.
///
/// ```
///            a write fails                        every file has written what was in line
///   writing ───────────────► stalled (frames wait in `backlog`) ────────────────────────► writing
///                               └── tried again every second ──┘
/// ```
final class RecordingFiles {
  let participant: ParticipantID
  let environment: ParticipantRecording.Environment
  let intake: FramePipeline
  let clock: WallClock

  /// The files' common name; nil until there is one.
  var base: String?
  private var isBegun = false

  /// The files that take frames.
  var webM: WebMFile?
  var ogg: OggFile?
  /// A WebM of an earlier segment that continues taking frames until a keyframe comes, because the segment was ended while
  /// there was no video.
  var trailing: WebMFile?
  /// Files of segments before that continue taking audio, because some of what lies before their end has not come yet; the oldest
  /// first.
  var lateAudio: [LateAudio] = []
  /// Where the audio that came last ends; nil before the first.
  private(set) var audioEnd: Duration?
  /// Files that are at their end but not yet wholly on the disk.
  var closing: [any MediaFile] = []
  /// What is left of files that are closed.
  var closed: [RecordingManifest.File] = []
  var abandoned: Set<String> = []
  /// What of each track is on the disk in files that are not open any more.
  private var stored: [MediaKind: WrittenFrameCounts] = [:]

  var segment: SegmentBoundary?
  /// Frames that wait until the disk takes something again.
  var backlog = CircularBuffer<TimestampedFrame>()
  var backlogBytes = 0
  var stalledSince: MonotonicInstant?
  var retryAt: MonotonicInstant?

  /// What went wrong, one sentence each.
  var problems: [String] = []
  /// How often the disk took nothing, and what that cost.
  var disk = RecordingManifest.FileSystem()
  /// What this machine had no time for.
  var overload = RecordingManifest.Overload()
  /// For how long the disk took nothing.
  var stallTime = StallTime()
  /// Whether files were left without what was still to be written to them.
  var isGivenUp = false
  /// What the disk said the last time it failed.
  var lastError: RoomRecorder.StorageError?
  /// Goes up whenever the list of files changes.
  var changes = 0

  /// Files that take audio until one frame lies behind their end.
  struct LateAudio {
    let webM: WebMFile
    /// Nil until audio comes for it.
    var ogg: OggFile?
    /// Where the next files begin.
    let end: Duration
  }

  /// How long audio is waited for that lies before a cut: as long as frames wait for it, if it is requested again.
  private static let maximumAudioDelay = RecordingTimeline.recoveryPatience
  /// How many segments wait for audio at most: their files are open. Of small ones there can be many in that time.
  private static let maximumLateSegments = 4

  init(
    of participant: ParticipantID, intake: FramePipeline, clock: WallClock,
    environment: ParticipantRecording.Environment
  ) {
    self.participant = participant
    self.intake = intake
    self.clock = clock
    self.environment = environment
    segment = environment.segment.map { SegmentBoundary(limit: $0) }
  }

  /// All files that are not closed.
  var open: [any MediaFile] {
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

  /// All files that are on the disk, in order.
  var entries: [RecordingManifest.File] {
    let all = closed + open.filter(\.file.exists).map(\.entry)
    return all.sorted { ($0.segment ?? 0, $1.kind) < ($1.segment ?? 0, $0.kind) }
  }

  /// Bytes of frames that are not on the disk.
  var heldBytes: Int { open.reduce(backlogBytes) { $0 + $1.heldBytes } }
  var isStalled: Bool { stalledSince != nil }
  /// What of each track is on the disk.
  var written: [MediaKind: WrittenFrameCounts] {
    open.reduce(into: stored) { $0[$1.countedKind, default: .init()].add($1.stored) }
  }
  /// Whether nothing is open any more.
  var isDone: Bool { open.isEmpty && backlog.isEmpty }

  // MARK: Frames

  /// Takes the next frame, in order of place.
  func write(_ timestamped: TimestampedFrame, now: MonotonicInstant) {
    if isStalled || base == nil || !backlog.isEmpty {
      backlog.append(timestamped)
      backlogBytes += timestamped.frame.waitingCost
    } else {
      dispatch(timestamped, now: now)
    }
  }

  /// Writes what has waited for long enough, and tries again what failed.
  func advance(now: MonotonicInstant) {
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
  ///
  /// - Parameter end: where the call ended. The audio lasts until then.
  func finish(at end: Duration, now: MonotonicInstant) {
    drain(now: now)
    guard backlog.isEmpty else { return }
    if ogg == nil, let last = lateAudio.lastIndex(where: { $0.ogg != nil }) {
      // No audio has come since.
      ogg = lateAudio[last].ogg
      lateAudio[last].ogg = nil
    }
    while !lateAudio.isEmpty { endLateAudio(now: now) }
    if let ogg, !abandoned.contains(ogg.file.name), end - ogg.start - ogg.duration > TrackCounter.shortestSilence {
      ogg.fill(to: end)
    }
    for file in [trailing, webM, ogg] as [(any MediaFile)?] { if let file { self.end(file, now: now) } }
    (trailing, webM, ogg) = (nil, nil, nil)
  }

  /// A file is not open any more; what of it is on the disk stays there.
  func keep(_ file: any MediaFile) {
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
      if intake.firstTracks.contains(.video) { beginWebM(at: min(.zero, timestamped.position)) }
    }
    let delay = timestamped.frame.codec.kind == .audio ? .zero : Self.maximumAudioDelay
    while let late = lateAudio.first, timestamped.position - late.end >= delay { endLateAudio(now: now) }
    cut(before: timestamped, now: now)
    while lateAudio.count > Self.maximumLateSegments { endLateAudio(now: now) }
    switch timestamped.frame.codec {
    case .vp8:
      if let trailing {
        if !timestamped.frame.isKeyframe { return add(timestamped, to: trailing, now: now) }
        end(trailing, now: now)
        self.trailing = nil
      }
      if webM == nil { beginWebM(at: timestamped.position) }
    case .opus:
      guard let opus = timestamped.frame.opus else { return }
      audioEnd = timestamped.position + Duration(opusTicks: Int64(opus.duration))
      if let late = lateAudio.first {
        let ogg = late.ogg ?? newOgg(at: timestamped.position, channels: opus.channels, segment: late.webM.segment)
        lateAudio[0].ogg = ogg
        if let ogg { add(timestamped, to: ogg, now: now) }
        return add(timestamped, to: late.webM, now: now)
      }
      ogg = ogg ?? newOgg(at: timestamped.position, channels: opus.channels, segment: segment?.number)
      if let ogg { add(timestamped, to: ogg, now: now) }
    }
    // What lies before a camera's first frame is in the Ogg alone; what lies before a cut that it came too late for is
    // in no other WebM.
    if let webM, timestamped.position >= webM.start || (webM.segment ?? 1) > 1 { add(timestamped, to: webM, now: now) }
  }

  /// Ends the oldest files that took late audio.
  private func endLateAudio(now: MonotonicInstant) {
    let late = lateAudio.removeFirst()
    end(late.webM, now: now)
    if let ogg = late.ogg { end(ogg, now: now) }
  }

  private func add(_ timestamped: TimestampedFrame, to file: some MediaFile, now: MonotonicInstant) {
    if abandoned.contains(file.file.name) {
      if file.countedKind == timestamped.frame.codec.kind { countDropped(timestamped.frame.codec.kind, 1) }
      return
    }
    file.add(timestamped)
    if file.file.isWaiting { store(file, now: now) }
  }
}

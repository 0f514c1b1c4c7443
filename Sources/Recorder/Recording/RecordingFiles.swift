import Codecs
import Media
import NIOCore

/// The media files of one stream: it assigns frames to files, and holds frames while the disk accepts none.
///
/// The file with audio alone (`.ogg`, `.mka`) contains all audio from the first packet on. The one with video (`.webm`, `.mkv`) starts
/// with the recording if there was video within `alignmentDelay`; if video starts later, it begins with that video's first keyframe
/// and contains the audio from there on. If a file cannot have a codec to which a track changes, the next files begin with that
/// frame, as a segment does; if the orientation of the video changes, with the next keyframe.
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

  /// The files that accept frames: the one with video and audio, and the one with audio alone.
  var videoFile: MatroskaFile?
  var audioFile: (any OutputContainer)?
  /// The codec of the last frame of each kind.
  private(set) var codecs = PerMediaKind<Codec>()
  /// A file with video of an earlier segment that accepts frames until a keyframe arrives, because the segment ended while there
  /// was no video.
  var trailing: MatroskaFile?
  /// Where the last file began because the orientation of the video changed; nil if none did.
  var turned: Duration?
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

  var segment: SegmentBoundary
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
  /// Frames of video that were left out at the beginning of files.
  private(set) var leftOut: UInt64 = 0
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
    let videoFile: MatroskaFile
    /// Nil until audio arrives for it.
    var audioFile: (any OutputContainer)?
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
    segment = SegmentBoundary(limit: environment.segment)
  }

  /// All files that are not closed.
  var open: [any OutputContainer] {
    var files = closing
    if let trailing { files.append(trailing) }
    for late in lateAudio {
      files.append(late.videoFile)
      if let file = late.audioFile { files.append(file) }
    }
    if let videoFile { files.append(videoFile) }
    if let audioFile { files.append(audioFile) }
    return files
  }

  /// The entries of all files that are on the disk, in order.
  var entries: [RecordingManifest.File] {
    let all = closed + open.filter(\.file.exists).map(\.entry)
    return all.sorted { ($0.segment ?? 0, $0.hasVideo ? 0 : 1) < ($1.segment ?? 0, $1.hasVideo ? 0 : 1) }
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
    if audioFile == nil, let last = lateAudio.lastIndex(where: { $0.audioFile != nil }) {
      // No audio has arrived since.
      audioFile = lateAudio[last].audioFile
      lateAudio[last].audioFile = nil
    }
    while !lateAudio.isEmpty { endLateAudio(now: now) }
    if let audioFile, !abandoned.contains(audioFile.file.name),
      end - audioFile.start - audioFile.duration > TrackCounter.minimumSilence
    {
      audioFile.fill(to: end)
    }
    for file in [trailing, videoFile, audioFile] as [(any OutputContainer)?] {
      if let file { self.end(file, now: now) }
    }
    (trailing, videoFile, audioFile) = (nil, nil, nil)
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
    let codec = timestamped.frame.codec
    let hasNewCodec = codecs[codec.kind] != codec
    if hasNewCodec { change(to: codec, now: now) }
    if !isBegun {
      isBegun = true
      segment.begin(at: timestamped.position)
      if pipeline.firstTracks.contains(.video) { beginVideoFile(at: min(.zero, timestamped.position)) }
    }
    let delay = codec.kind == .audio ? .zero : Self.maximumAudioDelay
    while let late = lateAudio.first, timestamped.position - late.end >= delay { endLateAudio(now: now) }
    cut(before: timestamped, hasNewCodec: hasNewCodec, now: now)
    while lateAudio.count > Self.maximumLateSegments { endLateAudio(now: now) }
    switch codec.kind {
    case .video:
      if let trailing {
        if !timestamped.frame.isKeyframe { return add(timestamped, to: trailing, now: now) }
        end(trailing, now: now)
        self.trailing = nil
      }
      if videoFile == nil { beginVideoFile(at: timestamped.position) }
    case .audio:
      guard let audio = timestamped.frame.header.audio else { return }
      audioEnd = timestamped.position + audio.duration
      if let late = lateAudio.first {
        let file = late.audioFile ?? newAudioFile(at: timestamped, segment: late.videoFile.segment)
        lateAudio[0].audioFile = file
        if let file { add(timestamped, to: file, now: now) }
        return add(timestamped, to: late.videoFile, now: now)
      }
      audioFile = audioFile ?? newAudioFile(at: timestamped, segment: segment.nameNumber)
      if let audioFile { add(timestamped, to: audioFile, now: now) }
    }
    // Audio before a camera's first frame goes into the file with audio alone only. Audio that arrives too late for the file with
    // video before a cut goes into this one, since no other such file contains it.
    if let videoFile, timestamped.position >= videoFile.start || (videoFile.segment ?? 1) > 1 {
      add(timestamped, to: videoFile, now: now)
    }
  }

  /// Notes the codec of the next frame. Files of an earlier segment cannot have it.
  private func change(to codec: Codec, now: MonotonicInstant) {
    codecs[codec.kind] = codec
    if codec.kind == .audio { while !lateAudio.isEmpty { endLateAudio(now: now) } }
  }

  /// Ends the oldest files that accepted late audio.
  private func endLateAudio(now: MonotonicInstant) {
    let late = lateAudio.removeFirst()
    end(late.videoFile, now: now)
    if let file = late.audioFile { end(file, now: now) }
  }

  private func add(_ timestamped: TimestampedFrame, to file: some OutputContainer, now: MonotonicInstant) {
    if abandoned.contains(file.file.name) {
      if file.countedKind == timestamped.frame.codec.kind { countDropped(timestamped.frame.codec.kind, 1) }
      return
    }
    let before = file.leftOut
    file.add(timestamped)
    leftOut += file.leftOut - before
    if file.file.isWaiting { store(file, now: now) }
  }
}

import Media

/// The recording of one stream of a participant, from the first frame to the end: the pipeline assigns positions to
/// frames, the files store them, and the manifest describes the result.
final class StreamRecording {
  /// What all recordings of a recorder share.
  struct Environment {
    let folder: RecordingDirectory
    let room: String
    /// How files are called; nil for the user's name or id.
    let fileName: FileNameTemplate?
    let session: RecordingSession
    let alignmentDelay: Duration
    /// The pool that decodes frames to verify them; nil if frames are not verified.
    let verification: VerificationPool?
    let segment: SegmentLimit?
    let health: StorageHealth
    /// Reports a problem when it arises.
    let report: @Sendable (RoomRecorder.Problem) -> Void
    /// Requests a keyframe of a track.
    let wantKeyframe: (TrackID) -> Void
    /// Called with each received frame that is recorded, before it is written; nil if nobody wants to know.
    let frameRecorded: (@Sendable (EncodedFrame) -> Void)?
    /// Called with each finished file of a recording with segments.
    let segmentFinished: (RecordedSegment) -> Void
  }

  /// How often the manifest is updated while the recording grows.
  static let manifestInterval = Duration.seconds(10)
  /// How long events are accepted before frames are written: longer than the recorder's usual interval, so that this
  /// only applies to a burst of late events.
  private static let maximumPause = RoomRecorder.tick * 2
  /// How long an ended recording waits for the verification of its last frames.
  private static let maximumVerification = Duration.seconds(2)

  let participant: ParticipantID
  /// The stream's number, from 1.
  let stream: Int
  let name: String?
  /// The recording of the participant's first stream, whose name this one's follows; nil if this is that recording.
  let first: StreamRecording?
  let clock: WallClock
  let environment: Environment
  let pipeline: FramePipeline
  let files: RecordingFiles

  /// The time from the beginning of `first` to this recording's.
  private var offset = StreamOffset()
  private var lastAdvance: MonotonicInstant?
  var manifestFile: ManifestFile?
  /// When the manifest is updated next.
  var manifestDue: MonotonicInstant?
  var manifestChanges = 0
  /// The number of closed files that were reported as finished.
  var reportedFiles = 0
  /// Whether the last update of the manifest failed.
  var manifestFailed = false
  /// The manifest as it was last stored; nil until the recording is finished.
  var finalManifest: RecordingManifest?
  /// When a name is claimed again, after a failure.
  var claimDue: MonotonicInstant?
  private(set) var hasGivenUp = false
  private var hasReportedOverload = false
  private var hasReportedCodec = false
  /// When a keyframe was requested last because the codec changed, or after a pause.
  private var keyframeRequested: MonotonicInstant?
  private(set) var ending: RecordingEndReason?
  /// Whether a problem was noted that a manifest must say even without media.
  private var hasProblem = false
  private var hasContent: Bool { hasProblem || pipeline.firstArrival != nil }
  private(set) var paths: [RecordingManifest.NetworkPath] = []
  private static let maximumPaths = 100
  /// What the participant's description said last of the stream.
  private(set) var described: MediaStream
  /// The time limit for the verification of the last frames.
  private var verificationEnd: MonotonicInstant?
  /// The position at which the call ended; nil while it continues.
  private var callEnd: Duration?
  /// The result; nil until the recording is closed, and permanently if there was nothing to record.
  private(set) var summary: RecordingSummary?
  /// Whether the recording has ended and nothing remains to be done.
  private(set) var isClosed = false

  /// - Parameters:
  ///   - verification: what the verifiers of the participant's streams share; nil if frames are not verified.
  ///   - clock: the wall clock when the recording begins.
  init(
    _ stream: Int, of participant: ParticipantID, name: String?, after first: StreamRecording?, clock: WallClock,
    verification: VerificationShare?, environment: Environment
  ) {
    self.participant = participant
    self.stream = stream
    self.name = name
    self.first = first
    self.clock = clock
    self.environment = environment
    described = MediaStream(owner: participant, number: stream)
    pipeline = FramePipeline(
      alignmentDelay: environment.alignmentDelay, verifier: verification.map { FrameVerifier($0, stream: stream) },
      frameRecorded: environment.frameRecorded)
    files = RecordingFiles(of: participant, stream: stream, pipeline: pipeline, clock: clock, environment: environment)
  }

  /// Processes a media event of the stream.
  ///
  /// - Parameter dropped: frames of its track that were dropped before it because the memory was full.
  func receive(_ event: MediaEvent, dropped: Int = 0, now: MonotonicInstant) {
    if case .frame(let frame) = event, dropped > 0, !pipeline.isPaused {
      files.countDropped(frame.codec.kind, UInt64(dropped), because: frame.gap?.reason ?? .diskStalled)
    }
    if case .frame(let frame) = event, dropped == 0, !pipeline.isPaused, let gap = frame.gap, gap.reason == .overloaded,
      gap.packetsLost > 0
    {
      reportOverload(gap)
    }
    if case .described(let description) = event { describe(description) }
    pipeline.receive(event, dropped: dropped, now: now)
    if case .frame(let frame) = event {
      let lacksKeyframe = pipeline.lacksKeyframeAfterPause || pipeline.verificationLacksKeyframe
      if frame.codec.kind == .video, lacksKeyframe, mayRequestKeyframe(now: now) { requestKeyframe(now: now) }
      if pipeline.rejectsCodec { reportCodec(of: frame.codec.kind, now: now) }
    }
    if lastAdvance.map({ now - $0 >= Self.maximumPause }) ?? true { advance(now: now) }
  }

  /// Takes over when the participant is paused. When that ends, a keyframe is requested at once.
  func setPauses(_ intervals: PauseIntervals, now: MonotonicInstant) {
    let wasPaused = pipeline.isPaused
    pipeline.setPauses(intervals, now: now)
    files.changes += 1
    if wasPaused, !pipeline.isPaused { requestKeyframe(now: now) }
    advance(now: now)
  }

  private func requestKeyframe(now: MonotonicInstant) {
    keyframeRequested = now
    environment.wantKeyframe(TrackID(of: participant, stream: stream, kind: .video))
  }

  /// Whether the last request for a keyframe is so old that another one may be sent.
  private func mayRequestKeyframe(now: MonotonicInstant) -> Bool {
    keyframeRequested.map { now - $0 >= SegmentBoundary.requestInterval } ?? true
  }

  /// Keeps what a description says. A later one may say less, for example while a screen is not shared.
  private func describe(_ new: MediaStream) {
    described.id = new.id ?? described.id
    described.content = new.content ?? described.content
    described.tracks.merge(new.tracks) { $1 }
  }

  /// Notes the candidate pair over which the media comes, for the next update of the manifest.
  func addPath(_ path: RecordingManifest.NetworkPath) {
    if paths.count < Self.maximumPaths { paths.append(path) }
  }

  /// Notes a problem that others have found.
  ///
  /// - Parameter isContent: whether the manifest says it even if there is no media.
  func addProblem(_ sentence: String, isContent: Bool) {
    files.note(sentence)
    files.changes += 1
    hasProblem = hasProblem || isContent
  }

  /// Writes what has waited long enough, and retries what the disk did not accept.
  ///
  /// - Parameters:
  ///   - everything: whether all frames get their positions, as far as is known now.
  ///   - atOnce: whether to write what has not waited long enough, too.
  func advance(now: MonotonicInstant, everything: Bool = false, atOnce: Bool = false) {
    if isClosed { return }
    lastAdvance = now
    if hasContent, files.base == nil { claimName(now: now) }
    for timestamped in pipeline.release(now: now, everything: everything) where !hasGivenUp {
      files.write(timestamped, now: now)
      // The manifest lists the gap from now on.
      if timestamped.pause != nil { files.changes += 1 }
    }
    if let first { offset.measure(from: first.pipeline.timeline, to: pipeline.timeline) }
    files.advance(now: now, atOnce: atOnce)
    if let ending {
      let end = callEnd ?? pipeline.callEnd(ending, now: now)
      callEnd = end
      close(at: end, now: now)
    } else if manifestChanges != files.changes || manifestDue.map({ now >= $0 }) ?? false {
      storeManifest(now: now)
    }
  }

  /// Ends the wait for sender reports and writes what has a position, since memory is short.
  ///
  /// - Parameter everything: whether to end the wait of audio and video for each other, too.
  func endWaiting(everything: Bool, now: MonotonicInstant) {
    if ending != nil { return }
    pipeline.endAlignment(now: now)
    advance(now: now, everything: everything, atOnce: true)
  }

  /// Ends the recording. It is closed as soon as everything is on the disk; see `isClosed`.
  ///
  /// - Parameter dropped: frames that were dropped because the memory was full, and that no later frame reported.
  func end(_ reason: RecordingEndReason, dropped: [MediaKind: DroppedFrameRun] = [:], now: MonotonicInstant) {
    if ending != nil { return }
    ending = reason
    files.stallTime.end = now
    for (kind, last) in dropped { files.countDropped(kind, UInt64(max(0, last.count)), because: last.reason) }
    pipeline.end(dropped: dropped)
    verificationEnd = now + Self.maximumVerification
    advance(now: now, everything: true)
  }

  /// Stops waiting for the verification of the last frames of an ended recording.
  func finishUnverified(now: MonotonicInstant) {
    if isClosed { return }
    verificationEnd = now
    advance(now: now)
  }

  /// Closes an ended recording with what is on the disk.
  func giveUp(now: MonotonicInstant) {
    if isClosed { return }
    pipeline.endVerification()
    files.abandon(now: now)
    for key in [claimKey, manifestKey] { environment.health.forget(key) }
    let isWhole = !files.entries.isEmpty && files.entries.allSatisfy(\.complete)
    let unwritten = pipeline.tracks(clock: clock, written: files.written, isHeldUp: true).map(\.unwritten).max() ?? 0
    let rest = unwritten > 0 ? "the last \(unwritten) s" : "the rest"
    let sentence =
      "The recording of \(subject) could not be finished: the disk did not accept \(rest) of it. "
      + (isWhole
        ? "Its files are closed and end before that."
        : "Its files can be read as far as they go; a repair completes them.")
    files.note(sentence)
    environment.report(
      RoomRecorder.Problem(kind: .lost, participant: participant, stream: stream, sentence: sentence))
    // A failure of this write is ignored: the problem has been reported.
    let last = manifest(isFinished: isWhole, now: now)
    if let json = try? last.json { try? manifestFile?.replace(json, isLast: true) }
    finalManifest = last
    isClosed = true
    summarise(isFinished: isWhole, now: now)
  }

  /// Records an interval in which the disk did not respond.
  func recordStall(from start: MonotonicInstant, until stop: MonotonicInstant) {
    files.recordStall(from: start, until: stop)
  }

  /// Reports, once, that packets are missing because the processor had no time to read them.
  private func reportOverload(_ gap: MediaGap) {
    if hasReportedOverload { return }
    hasReportedOverload = true
    let sentence =
      "The processor had no time for all that \(subject) sent; the first time \(gap.packetsLost) packets were "
      + "not read. The manifest lists each gap."
    files.note(sentence)
    environment.report(
      RoomRecorder.Problem(kind: .overloaded, participant: participant, stream: stream, sentence: sentence))
  }

  /// Reports, once, that frames are rejected because the codec changes too often, and requests the keyframe that ends that.
  private func reportCodec(of kind: MediaKind, now: MonotonicInstant) {
    guard let rejected = pipeline.rejectedCodec(of: kind), let recorded = pipeline.codec(of: kind) else { return }
    if pipeline.lacksKeyframe(now: now), mayRequestKeyframe(now: now) { requestKeyframe(now: now) }
    if hasReportedCodec { return }
    hasReportedCodec = true
    let sentence =
      "The \(kind.rawValue) of \(subject) changed its codec to \(recorded.properties.name), and less than "
      + "\(CodecChangeLimit.seconds) s later to \(rejected.properties.name), which is recorded only after that time."
    files.note(sentence)
    files.changes += 1
    environment.report(
      RoomRecorder.Problem(kind: .lost, participant: participant, stream: stream, sentence: sentence))
  }

  /// How sentences name the stream.
  private var subject: String { RoomRecorder.Problem.subject(participant, stream: stream) }

  // MARK: Status

  /// The estimated arrival time of position zero, or of the first frame while no frame has a position; nil before the first
  /// frame. A further stream's follows from the first one's as soon as sender reports relate them.
  var start: MonotonicInstant? {
    if let offset = offset.value, let origin = first?.pipeline.origin { return origin + offset }
    return pipeline.origin ?? pipeline.firstArrival
  }

  /// Bytes of frames that are not on the disk.
  var heldBytes: Int { pipeline.heldBytes + files.heldBytes }

  /// Whether the disk accepts nothing, so that frames wait for it.
  var isStalled: Bool { files.isStalled || files.base == nil }

  /// The current status.
  var status: RecordingStatus {
    let entries = files.entries
    return RecordingStatus(
      participant: participant, stream: stream, base: files.base,
      start: start?.instant,
      files: entries.map { "\(environment.folder.path)/\($0.name)" },
      bytes: entries.reduce(0) { $0 + $1.bytes }, duration: pipeline.duration, frames: pipeline.frames,
      decodeErrors: pipeline.decodeErrors, unverified: pipeline.unverified,
      audioLevel: pipeline.isPaused ? nil : pipeline.audioLevel, isStalled: files.isStalled,
      isPaused: pipeline.isPaused, problems: files.problems)
  }

  // MARK: Ending

  private func close(at end: Duration, now: MonotonicInstant) {
    files.finish(at: end, now: now)
    let isDone = files.isDone && (files.base != nil || !hasProblem)
    guard isDone || files.base == nil && !hasContent || hasGivenUp else { return }
    if !pipeline.isVerified {
      if let verificationEnd, now < verificationEnd { return }
      pipeline.endVerification()
    }
    if files.base != nil {
      if let manifestDue, manifestFailed, now < manifestDue { return }
      guard storeManifest(now: now, isLast: true) else { return }
    }
    isClosed = true
    summarise(isFinished: true, now: now)
  }

  private func summarise(isFinished: Bool, now: MonotonicInstant) {
    manifestFile = nil
    guard let base = files.base else { return }
    summary = RecordingSummary(
      participant: participant, folder: environment.folder.path, base: base,
      manifest: finalManifest ?? manifest(isFinished: isFinished, now: now),
      storageError: files.isGivenUp ? files.lastError : nil)
  }

  /// Gives up recording this stream.
  func refuse(_ sentence: String) {
    hasGivenUp = true
    files.note(sentence)
    environment.report(
      RoomRecorder.Problem(kind: .lost, participant: participant, stream: stream, sentence: sentence))
  }
}

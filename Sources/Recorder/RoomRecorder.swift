public import Media
import NIOCore
import NIOPosix
import Synchronization

/// Records participants: frames in, finished files out.
///
/// A recording is one stream of a participant: at most one video and one audio track. For each it writes up to three
/// files into the folder, `<name>.webm` (VP8 or VP9, and Opus) or `<name>.mkv` (video and audio with another codec), `<name>.ogg` (Opus)
/// or `<name>.mka` (other audio), and `<name>.json` (the manifest); with a segment limit, `<name>.0001.webm` and so on. When a track
/// changes its codec, `<name>.0002.mkv` follows `<name>.webm`. The recordings of further streams are `<name>.2.webm` and so on, of up
/// to 16 streams of a participant. It runs on its own thread, because writing can block. Its callers never wait: their
/// events go into a queue of bounded memory.
public actor RoomRecorder: MediaSink {
  /// The interval at which queued frames are written.
  package static let tick = Duration.milliseconds(100)

  /// The interval at which `status()` is updated.
  private static let statusInterval = Duration.milliseconds(500)

  /// Problems while recording, as they occur; the newest 100 are buffered. Ends after `finish`.
  public nonisolated let problems: AsyncStream<Problem>
  /// Video tracks whose next frame should be a keyframe, because a segment is over, because frames were
  /// dropped, or because the codec changed. Repeated
  /// every 500 ms until a keyframe arrives; the newest 100 are buffered. Ends after `finish`.
  public nonisolated let keyframeRequests: AsyncStream<TrackID>
  /// The results of closed recordings; the newest 1,000 are buffered. Ends after `finish`.
  public nonisolated let summaries: AsyncStream<RecordingSummary>
  /// The files that are finished while recordings with segments grow; the newest 1,000 are buffered, and a problem is reported when
  /// the first one is left out. Ends after `finish`.
  public nonisolated let segments: AsyncStream<RecordedSegment>

  private nonisolated let problemInput: AsyncStream<Problem>.Continuation
  private nonisolated let requestInput: AsyncStream<TrackID>.Continuation
  private nonisolated let summaryInput: AsyncStream<RecordingSummary>.Continuation
  private nonisolated let segmentInput: AsyncStream<RecordedSegment>.Continuation
  nonisolated let inbox: RecordingQueue
  nonisolated let pauses: PauseRegistry
  private nonisolated let monitor: DiskMonitor
  private nonisolated let newestStatus = Mutex<[RecordingStatus]>([])
  nonisolated let usesSystemClock: Bool
  /// What the recordings share: an id, and one reading of the wall clock.
  public nonisolated let session: RecordingSession

  private let environment: StreamRecording.Environment
  private var participants: [ParticipantID: ParticipantRecordings] = [:]
  /// Recordings that have ended, but are not completely on the disk.
  private var closing: [StreamRecording] = []
  private var ending: EndReason?
  private var endingSummaries: [RecordingSummary] = []
  private var hasFinished = false
  /// When the status was last updated.
  private var statusTime: MonotonicInstant?

  private nonisolated let threads: MultiThreadedEventLoopGroup
  private nonisolated let loop: any EventLoop
  private nonisolated let executor: any SerialExecutor
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens the folder, so that problems with it are known before a call begins.
  public init(_ configuration: Configuration) throws(StorageError) {
    try self.init(configuration, disk: POSIXFileSystem())
  }

  /// Opens the folder on any file system, for example one that fails at a chosen moment.
  package init(_ configuration: Configuration, disk: any FileSystem) throws(StorageError) {
    try self.init(configuration, disk: disk, pauses: PauseRegistry(configuration.paused))
  }

  /// - Parameters:
  ///   - pauses: who is paused.
  ///   - frameRecorded: called with each received frame that is recorded, on the recorder's thread.
  init(
    _ configuration: Configuration, disk: any FileSystem, pauses: PauseRegistry,
    frameRecorded: (@Sendable (EncodedFrame) -> Void)? = nil
  ) throws(StorageError) {
    let monitor = DiskMonitor()
    let inbox = RecordingQueue(budget: configuration.memoryBudget, disk: monitor, pauses: pauses)
    let folder = try RecordingDirectory(
      path: configuration.folder,
      disk: MonitoredFileSystem(disk: disk, monitor: monitor) { [usesSystemClock = configuration.usesSystemClock] in
        usesSystemClock ? .now : inbox.newest ?? .now
      })
    let (problems, problemInput) = AsyncStream.makeStream(of: Problem.self, bufferingPolicy: .bufferingNewest(100))
    let (requests, requestInput) = AsyncStream.makeStream(
      of: TrackID.self, bufferingPolicy: .bufferingNewest(100))
    (summaries, summaryInput) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1_000))
    let (segments, segmentInput) = AsyncStream.makeStream(
      of: RecordedSegment.self, bufferingPolicy: .bufferingNewest(configuration.bufferedSegments))
    (self.segments, self.segmentInput) = (segments, segmentInput)
    (self.problems, self.problemInput) = (problems, problemInput)
    (keyframeRequests, self.requestInput) = (requests, requestInput)
    self.inbox = inbox
    self.pauses = pauses
    self.monitor = monitor
    usesSystemClock = configuration.usesSystemClock
    let session = configuration.session ?? RecordingSession()
    self.session = session
    let report: @Sendable (Problem) -> Void = { problemInput.yield($0) }
    var isSegmentLeftOut = false
    environment = StreamRecording.Environment(
      folder: folder, room: configuration.room, fileName: configuration.fileName, session: session,
      alignmentDelay: configuration.alignmentDelay,
      verification: configuration.verifies
        ? VerificationPool(
          threads: configuration.verificationThreads, bounds: .init(share: configuration.recorders)) : nil,
      segment: configuration.segment,
      health: StorageHealth(
        folder: configuration.folder, memoryLimit: { inbox.limit }, monitor: monitor, report: report),
      report: report, wantKeyframe: { requestInput.yield($0) },
      frameRecorded: frameRecorded,
      segmentFinished: { segment in
        guard case .dropped(let oldest) = segmentInput.yield(segment), !isSegmentLeftOut else { return }
        isSegmentLeftOut = true
        report(.segmentsLeftOut(oldest, limit: configuration.bufferedSegments))
      })
    threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = threads.next()
    self.loop = loop
    executor = loop.executor
    if configuration.usesSystemClock {
      let tick = TimeAmount(Self.tick)
      loop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { [weak self] task in
        guard let self else { return task.cancel() }
        self.assumeIsolated { $0.advance(now: .now) }
      }
    }
  }

  deinit {
    problemInput.finish()
    requestInput.finish()
    summaryInput.finish()
    segmentInput.finish()
    threads.shutdownGracefully { _ in }
  }

  // MARK: Input

  /// Begins to record a participant; see ``begin(_:name:now:wallClock:)``. The wall clock is that of the session.
  public nonisolated func begin(
    _ participant: ParticipantID, name: String? = nil, now: ContinuousClock.Instant = .now
  ) {
    begin(participant, name: name, now: now, wallClock: session.secondsSince1970(at: now))
  }

  /// Begins to record a participant. No file is created before the first frame or problem. Returns immediately.
  ///
  /// - Parameters:
  ///   - participant: any id that is not being recorded; otherwise nothing happens.
  ///   - name: the user's name, for the manifest, and instead of the id for the names of the files.
  ///   - now: the moment that `wallClock` belongs to.
  ///   - wallClock: seconds since 1970-01-01 00:00 UTC.
  public nonisolated func begin(
    _ participant: ParticipantID, name: String? = nil, now: ContinuousClock.Instant, wallClock: Double
  ) {
    let now = MonotonicInstant(now)
    let clock = WallClock(moment: now, secondsSince1970: wallClock)
    carryOut(inbox.begin(participant, name: name, clock: clock, now: now))
  }

  /// Records a media event of a participant; events must be in order. The first event of a further stream begins a further
  /// recording, up to 16 recordings of a participant; a number below 1 counts as 1. Ignored for a participant who is not
  /// being recorded. Returns immediately, even if the disk blocks.
  public nonisolated func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    carryOut(inbox.receive(event, of: participant, now: MonotonicInstant(now)))
  }

  /// Notes in the manifests over which candidate pair the media of a participant comes from now on, also in those of
  /// streams that begin later. Ignored for a participant who is not being recorded. Returns immediately.
  public nonisolated func setPath(
    _ path: RecordingManifest.NetworkPath, of participant: ParticipantID, now: ContinuousClock.Instant = .now
  ) {
    carryOut(inbox.setPath(path, of: participant, now: MonotonicInstant(now)))
  }

  /// Notes in the manifests something that keeps media of a participant out of the recordings, for example a codec that is not
  /// supported. Streams that begin later do not note it. The manifest of the first stream is then written even if no media
  /// ever arrives. Ignored for a participant who is not being recorded. Returns immediately.
  ///
  /// - Parameter sentence: one sentence, printable and of bounded length.
  public nonisolated func addProblem(
    _ sentence: String, of participant: ParticipantID, now: ContinuousClock.Instant = .now
  ) {
    carryOut(inbox.addProblem(sentence, of: participant, now: MonotonicInstant(now)))
  }

  /// Ends the recordings of a participant. Returns immediately; when the files are closed, `summaries` emits the result of
  /// each, unless there was nothing to record.
  public nonisolated func end(
    _ participant: ParticipantID, reason: RecordingEndReason, now: ContinuousClock.Instant = .now
  ) {
    carryOut(inbox.end(participant, reason: reason, now: MonotonicInstant(now)))
  }

  /// Ends all recordings and the recorder: later events are ignored.
  ///
  /// - Parameters:
  ///   - reason: why the recordings end, as stored in their manifests.
  ///   - now: the time of the call.
  ///   - limit: how long to wait for a disk that does not work. Frames that are not on the disk by then are missing,
  ///     and the files stay unfinished but readable.
  /// - Returns: the results of the recordings that were not closed before, in the order of the participants' ids and of
  ///   their streams. `summaries` emits them as well.
  @discardableResult
  public nonisolated func finish(
    reason: RecordingEndReason = .stopped, now: ContinuousClock.Instant = .now, within limit: Duration = .seconds(10)
  ) async -> [RecordingSummary] {
    let now = MonotonicInstant(now)
    let (result, input) = AsyncStream.makeStream(of: [RecordingSummary].self)
    // The last fifth of the time is for updating the manifests.
    _ = inbox.finish(EndReason(reason: reason, deadline: now + limit * 0.8, result: input), now: now)
    wake()
    let timer = Task {
      try await MultiThreadedEventLoopGroup.singleton.any().sleep(for: limit)
      input.finish()
    }
    for await summaries in result {
      timer.cancel()
      return summaries
    }
    let isOfDisk = monitor.isCause(at: inbox.newest ?? now)
    let delay = (inbox.delay.roundedSeconds * 10).rounded() / 10
    let missing = delay > 0 ? " Media received in the last \(delay) s of the call is not written." : ""
    for status in status() {
      problemInput.yield(.notFinished(status, within: limit, isOfDisk: isOfDisk, missing: missing))
    }
    endStreams()
    return []
  }

  // MARK: Status

  /// Returns the status of each recording, in the order of the participants' ids and of their streams. It is up to date
  /// unless the disk blocks.
  public nonisolated func status() -> [RecordingStatus] {
    newestStatus.withLock { $0 }
  }

  /// The maximum number of bytes that ever waited for the disk.
  package nonisolated var peakMemory: Int { inbox.peak }

  // MARK: On the recorder's thread

  /// Processes the queue and writes what has waited long enough. The recorder calls this itself if `usesSystemClock` is
  /// set.
  package func advance(now: MonotonicInstant) {
    drain()
    for recordings in participants.values { recordings.advance(now: now) }
    for recording in closing { recording.advance(now: now) }
    relieveMemory(now: now)
    if let ending, now >= ending.deadline {
      for recording in closing {
        recording.finishUnverified(now: now)
        recording.giveUp(now: now)
      }
    }
    settle()
    let isDue = statusTime.map { now - $0 >= Self.statusInterval } ?? true
    guard isDue || !usesSystemClock || ending != nil else { return }
    statusTime = now
    let status = (participants.values.flatMap(\.all) + closing).map(\.status).sorted(by: RecordingStatus.isInOrder)
    newestStatus.withLock { $0 = status }
  }

  /// Processes the queue, and writes nothing that can wait. The recorder calls this itself if `usesSystemClock` is set.
  package func drain() {
    let entries = inbox.takeAll()
    for (entry, _) in entries { handle(entry) }
    if let newest = entries.last?.element.now { relieveMemory(now: newest) }
    if !entries.isEmpty { inbox.reuse(entries) }
    settle()
  }

  /// Ends what frames wait for if memory is short, so that none is dropped while there is a wait that can be ended:
  /// first the wait for sender reports, and for a cluster to be complete; if that is not enough, the wait for the other
  /// track.
  ///
  /// The participants who use the most memory come first. One who sends much must not end the waits of the others.
  private func relieveMemory(now: MonotonicInstant) {
    guard inbox.isMemoryShort else { return }
    let limit = inbox.limit
    var held = closing.reduce(0) { $0 + $1.heldBytes }
    // While the disk accepts nothing, ending a wait frees nothing.
    var waiting: [(recordings: ParticipantRecordings, bytes: Int)] = []
    for recordings in participants.values {
      held += recordings.heldBytes
      let bytes = recordings.releasableBytes
      if bytes > 0 { waiting.append((recordings, bytes)) }
    }
    guard held > RecordingQueue.shortage(of: limit) else { return }
    waiting.sort { $0.bytes > $1.bytes }
    for everything in [false, true] {
      for index in waiting.indices where waiting[index].bytes > 0 {
        if held <= limit / 4 { return }
        let recordings = waiting[index].recordings
        let before = recordings.heldBytes
        recordings.endWaiting(everything: everything, now: now)
        held += recordings.heldBytes - before
        waiting[index].bytes = recordings.releasableBytes
      }
    }
  }

  private func handle(_ entry: RecordingQueue.Entry) {
    if hasFinished {
      if case .finish(let ending, _) = entry.step { ending.result.yield([]) }
      return
    }
    switch entry.step {
    case .begin(let name, let clock, let isPaused):
      guard participants[entry.participant] == nil, ending == nil else { return }
      let recordings = ParticipantRecordings(entry.participant, name: name, clock: clock, environment: environment)
      if isPaused { recordings.setPaused(true, now: entry.now) }
      participants[entry.participant] = recordings
    case .receive(let event, let dropped):
      participants[entry.participant]?.receive(event, dropped: dropped, now: entry.now)
    case .path(let path):
      participants[entry.participant]?.setPath(path, now: entry.now)
    case .problem(let sentence):
      participants[entry.participant]?.addProblem(sentence)
    case .pause(let isPaused):
      participants[entry.participant]?.setPaused(isPaused, now: entry.now)
    case .end(let reason, let dropped):
      guard let recordings = participants.removeValue(forKey: entry.participant) else { return }
      recordings.end(reason, dropped: dropped, now: entry.now)
      closing += recordings.all
    case .finish(let ending, let dropped):
      self.ending = ending
      for recordings in participants.values.sorted(by: { $0.participant.text < $1.participant.text }) {
        recordings.end(ending.reason, dropped: dropped, now: entry.now)
        closing += recordings.all
      }
      participants = [:]
    }
  }

  /// Releases closed recordings, and reports the waiting bytes to the queue.
  private func settle() {
    for recording in closing where recording.isClosed {
      guard let summary = recording.summary else { continue }
      summaryInput.yield(summary)
      if ending != nil { endingSummaries.append(summary) }
    }
    closing.removeAll(where: \.isClosed)
    var held: [ParticipantID: Int] = [:]
    for recordings in participants.values { held[recordings.participant] = recordings.heldBytes }
    for recording in closing { held[recording.participant, default: 0] += recording.heldBytes }
    if let stall = inbox.finishBatch(downstream: held) { resume(after: stall) }
    guard let ending, closing.isEmpty else { return }
    hasFinished = true
    self.ending = nil
    newestStatus.withLock { $0 = [] }
    ending.result.yield(endingSummaries.sorted(by: RecordingSummary.isInOrder))
    endStreams()
  }

  /// Records and reports the end of an interval in which nothing was processed and of which the user was notified.
  private func resume(after stall: RecordingQueue.Stall) {
    let all = participants.values.flatMap(\.all) + closing
    if stall.isOfDisk { for recording in all { recording.recordStall(from: stall.start, until: stall.end) } }
    guard let first = all.map(\.participant).min(by: { $0.text < $1.text }) else { return }
    let seconds = max(1, (stall.end - stall.start).milliseconds / 1_000)
    let sentence =
      (stall.isOfDisk ? "The disk responds again" : "The processor has time to record again")
      + " after \(seconds) s; recording continues."
    problemInput.yield(Problem(kind: .resumed, participant: first, sentence: sentence))
  }

  nonisolated func carryOut(_ outcome: RecordingQueue.Outcome) {
    if let problem = outcome.problem { problemInput.yield(problem) }
    if let track = outcome.keyframeRequest { requestInput.yield(track) }
    if outcome.wakes, usesSystemClock { wake() }
  }

  private nonisolated func wake() {
    loop.execute { [weak self] in self?.assumeIsolated { $0.drain() } }
  }

  private nonisolated func endStreams() {
    problemInput.finish()
    requestInput.finish()
    summaryInput.finish()
    segmentInput.finish()
  }
}

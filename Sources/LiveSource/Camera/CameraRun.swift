import FileSource
import Logging
import Media
import Synchronization

/// One playing of a camera: a thread for the frames and one for the audio, so that neither waits for the other's
/// encoder, and no other thread waits for any.
///
///     input ─► line (rounds, rate) ─► track (what is due) ─► encoder ─► stream
///
/// The threads end when the inputs do, when the stream's consumer goes, or when an input cannot be read on.
final class CameraRun: Sendable {
  let clock: CameraClock
  private let plan: CameraPlan
  private let logger: Logger
  private let requests: Mutex<CameraRequests>
  private let videoWakeup = WakeupSignal()
  private let audioWakeup = WakeupSignal()
  private let continuation: AsyncStream<EncodedFrame>.Continuation
  /// Told why playing ended before its time.
  private let failed: @Sendable (String) -> Void

  init(
    _ plan: CameraPlan, logger: Logger, into continuation: AsyncStream<EncodedFrame>.Continuation,
    failed: @escaping @Sendable (String) -> Void
  ) {
    self.plan = plan
    self.logger = logger
    self.continuation = continuation
    self.failed = failed
    clock = CameraClock(wallClock: .read())
    requests = Mutex(CameraRequests(tracks: plan.tracks))
  }

  func start() {
    if let videoFrames = plan.videoFrames {
      spawn(.video) { run throws(InputError) in
        var thread = try VideoThread(run: run, plan: run.plan, videoFrames: videoFrames)
        try thread.play()
      }
    }
    if let audio = plan.audio {
      spawn(.audio) { run throws(InputError) in
        var thread = try AudioThread(run: run, plan: run.plan, audio: audio)
        try thread.play()
      }
    }
  }

  // MARK: From others

  func requestKeyframe() {
    requests.withLock { $0.requestKeyframe() }
    videoWakeup.ring()
  }

  func follow(_ line: CameraRequests.Line) {
    requests.withLock { $0.follow(line) }
  }

  func reset() {
    requests.withLock { $0.reset() }
  }

  func stop() {
    requests.withLock { $0.end() }
    videoWakeup.ring()
    audioWakeup.ring()
  }

  // MARK: For the threads

  var isOver: Bool { requests.withLock(\.isOver) }

  func takeKeyframeRequest() -> Bool { requests.withLock { $0.takeKeyframeRequest() } }

  func takeTimeline(for kind: MediaKind) -> CameraRequests.Change? {
    requests.withLock { kind == .video ? $0.takeTimelineForVideo() : $0.takeTimelineForAudio() }
  }

  func sleep(_ kind: MediaKind, until deadline: ContinuousClock.Instant) {
    (kind == .video ? videoWakeup : audioWakeup).sleep(until: deadline)
  }

  func notice(_ kind: MediaKind) -> UndecodableReport {
    UndecodableReport(kind, of: plan.files[kind] ?? plan.name, logger: logger)
  }

  func frameWriter() -> FrameStreamWriter { FrameStreamWriter(continuation) }

  /// The camera's time now, and what the machine's clock reads.
  func look(awaited: Int64) -> (time: Int64, now: ContinuousClock.Instant) {
    let now = ContinuousClock.now
    return (clock.look(now: now, awaited: awaited), now)
  }

  /// The same as of the thread that sends.
  private static let niceness: Int32 = -10

  private func spawn(_ kind: MediaKind, _ body: @escaping @Sendable (CameraRun) throws(InputError) -> Void) {
    let name = kind == .video ? "camera frames" : "camera audio"
    // In time before everything else of the process, if the system lets: late media cannot be made good.
    let isStarted = DedicatedThread.start(name, niceness: Self.niceness) {
      do throws(InputError) {
        try body(self)
        self.ended(kind)
      } catch {
        self.fail(error)
      }
    }
    if !isStarted { fail(InputError("the system gives no thread")) }
  }

  private func ended(_ kind: MediaKind) {
    let isLast = requests.withLock { $0.trackEnded() }
    // A pipe's end is the camera's end, whatever audio there would be.
    if isLast || (kind == .video && plan.endsWithVideoFrames) { stop() }
    if isLast { continuation.finish() }
  }

  private func fail(_ rejection: InputError) {
    let sentence = "\(plan.name) cannot be played on: \(rejection)."
    let isFirst = requests.withLock { requests in
      defer { requests.end(failure: sentence) }
      return !requests.isOver
    }
    if isFirst {
      logger.error("\(sentence)")
      failed(sentence)
    }
    stop()
    if requests.withLock({ $0.trackEnded() }) { continuation.finish() }
  }
}

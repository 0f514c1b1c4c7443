import FileSource
import Logging
import Media
import Synchronization

/// One playing of a camera: a thread for the pictures and one for the sound, so that neither waits for the other's
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
  private let pictureBell = Doorbell()
  private let soundBell = Doorbell()
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
    if let pictures = plan.pictures {
      spawn(.video) { run throws(InputRefusal) in
        var thread = try PictureThread(run: run, plan: run.plan, pictures: pictures)
        try thread.play()
      }
    }
    if let sound = plan.sound {
      spawn(.audio) { run throws(InputRefusal) in
        var thread = try SoundThread(run: run, plan: run.plan, sound: sound)
        try thread.play()
      }
    }
  }

  // MARK: From others

  func requestKeyframe() {
    requests.withLock { $0.requestKeyframe() }
    pictureBell.ring()
  }

  func follow(_ line: CameraRequests.Line) {
    requests.withLock { $0.follow(line) }
  }

  func startOver() {
    requests.withLock { $0.startOver() }
  }

  func stop() {
    requests.withLock { $0.end() }
    pictureBell.ring()
    soundBell.ring()
  }

  // MARK: For the threads

  var isOver: Bool { requests.withLock(\.isOver) }

  func takeKeyframeRequest() -> Bool { requests.withLock { $0.takeKeyframeRequest() } }

  func takeLine(for kind: MediaKind) -> CameraRequests.Change? {
    requests.withLock { kind == .video ? $0.takeLineForPictures() : $0.takeLineForSound() }
  }

  func sleep(_ kind: MediaKind, until deadline: ContinuousClock.Instant) {
    (kind == .video ? pictureBell : soundBell).sleep(until: deadline)
  }

  func notice(_ kind: MediaKind) -> LeftOutNotice {
    LeftOutNotice(kind, of: plan.files[kind] ?? plan.name, logger: logger)
  }

  func outlet() -> FrameOutlet { FrameOutlet(continuation) }

  /// The camera's time now, and what the machine's clock reads.
  func look(awaited: Int64) -> (time: Int64, now: ContinuousClock.Instant) {
    let now = ContinuousClock.now
    return (clock.look(now: now, awaited: awaited), now)
  }

  /// The same as of the thread that sends.
  private static let niceness: Int32 = -10

  private func spawn(_ kind: MediaKind, _ body: @escaping @Sendable (CameraRun) throws(InputRefusal) -> Void) {
    let name = kind == .video ? "camera pictures" : "camera sound"
    // In time before everything else of the process, if the system lets: late media cannot be made good.
    let isStarted = DedicatedThread.start(name, niceness: Self.niceness) {
      do throws(InputRefusal) {
        try body(self)
        self.ended(kind)
      } catch {
        self.fail(error)
      }
    }
    if !isStarted { fail(InputRefusal("the system gives no thread")) }
  }

  private func ended(_ kind: MediaKind) {
    let isLast = requests.withLock { $0.trackEnded() }
    // A pipe's end is the camera's end, whatever sound there would be.
    if isLast || (kind == .video && plan.endsWithPictures) { stop() }
    if isLast { continuation.finish() }
  }

  private func fail(_ refusal: InputRefusal) {
    let sentence = "\(plan.name) cannot be played on: \(refusal)."
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

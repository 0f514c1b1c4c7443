import FileSource
package import Logging
package import Media
import Synchronization

/// One playback of a camera: a thread for video and one for audio, so that neither waits for the other's encoder, and
/// no other thread waits for either.
///
///     input ─► timeline (rounds, rate) ─► track (what is due) ─► encoder ─► stream
///
/// The threads end when the inputs end, when the stream's consumer cancels, or when an input cannot be read any
/// further.
final class CameraRun: Sendable {
  let clock: CameraClock
  private let plan: CameraPlan
  private let logger: Logger
  private let requests: Mutex<CameraRequests>
  private let steps: Monitor<StartSteps>
  private let videoWakeup = WakeupSignal()
  private let audioWakeup = WakeupSignal()
  private let continuation: AsyncStream<EncodedFrame>.Continuation
  /// Called with the reason when playback ends early.
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
    steps = Monitor(StartSteps(tracks: plan.tracks))
  }

  func start() {
    if let video = plan.storedVideo {
      spawn(.video) { run throws(InputError) in
        var thread = try StoredVideoThread(run: run, plan: run.plan, video: video)
        try thread.play()
      }
    } else if let video = plan.video {
      spawn(.video) { run throws(InputError) in
        var thread = try VideoThread(run: run, plan: run.plan, video: video)
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

  // MARK: Called by other threads

  func requestKeyframe() {
    requests.withLock { $0.requestKeyframe() }
    videoWakeup.signal()
  }

  func adapt(to estimate: CameraRequests.PathEstimate) {
    requests.withLock { $0.adapt(to: estimate) }
  }

  func reset() {
    requests.withLock { $0.reset() }
  }

  func stop() {
    requests.withLock { $0.end() }
    steps.withLock { $0.isOver = true }
    videoWakeup.signal()
    audioWakeup.signal()
  }

  // MARK: Called by the camera's threads

  var isOver: Bool { requests.withLock(\.isOver) }

  func takeKeyframeRequest() -> Bool { requests.withLock { $0.takeKeyframeRequest() } }

  func takeChange(for kind: MediaKind) -> CameraRequests.Change? {
    requests.withLock { kind == .video ? $0.takeVideoChange() : $0.takeAudioChange() }
  }

  func sleep(_ kind: MediaKind, until deadline: ContinuousClock.Instant) {
    (kind == .video ? videoWakeup : audioWakeup).sleep(until: deadline)
  }

  func notice(_ kind: MediaKind) -> UndecodableReport {
    UndecodableReport(kind, of: plan.files[kind] ?? plan.name, logger: logger)
  }

  func frameWriter() -> FrameStreamWriter { FrameStreamWriter(continuation) }

  /// Ends a step of a thread's preparation, and waits until every other thread has ended it too, or playback is over.
  /// Without this the fastest would start the clock, and frames of the others would be late from the start.
  func waitForOtherTracks() {
    let target = steps.withLock { $0.end() }
    _ = steps.wait { $0.isOver || $0.ended >= target ? true : nil }
  }

  /// Returns the camera's time and the current instant.
  func update(expectedWakeup: Int64) -> (time: Int64, now: ContinuousClock.Instant) {
    let now = ContinuousClock.now
    return (clock.update(now: now, expectedWakeup: expectedWakeup), now)
  }

  /// The same as for the media thread, which sends the frames.
  private static let niceness: Int32 = -10

  private func spawn(_ kind: MediaKind, _ body: @escaping @Sendable (CameraRun) throws(InputError) -> Void) {
    let name = kind == .video ? "camera frames" : "camera audio"
    // The highest priority in the process, if the system permits it: late media cannot be corrected later.
    let isStarted = DedicatedThread.start(name, niceness: Self.niceness) {
      do throws(InputError) {
        try body(self)
        self.ended(kind)
      } catch {
        self.fail(error)
      }
    }
    if !isStarted { fail(InputError("the system cannot create a thread")) }
  }

  private func ended(_ kind: MediaKind) {
    let isLast = requests.withLock { $0.trackEnded() }
    // The end of a pipe ends the camera, even if there is more audio.
    if isLast || (kind == .video && plan.endsWithVideo) { stop() }
    if isLast { continuation.finish() }
  }

  private func fail(_ rejection: InputError) {
    let sentence = "\(plan.name) cannot be played any further: \(rejection)."
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

/// The steps of preparation that the threads have ended.
private struct StartSteps: Sendable {
  let tracks: Int
  var ended = 0
  var isOver = false

  /// - Returns: the number of ended steps with which every thread has ended this one.
  mutating func end() -> Int {
    ended += 1
    return (ended + tracks - 1) / max(1, tracks) * tracks
  }
}

/// Logs what could not be decoded: the first failure at once, the total at the end, so that a damaged file does not
/// fill the log.
package struct UndecodableReport {
  private let kind: MediaKind
  private let file: String
  private let logger: Logger
  private var hasReported = false

  /// - Parameter file: the name for the log.
  package init(_ kind: MediaKind, of file: String, logger: Logger) {
    self.kind = kind
    self.file = file
    self.logger = logger
  }

  private var noun: String { kind == .video ? "frame" : "audio packet" }

  /// Logs the first failure.
  package mutating func report(_ undecodable: Undecodable) {
    guard !hasReported, let first = undecodable.first else { return }
    hasReported = true
    let instead = kind == .video ? "the previous frame is repeated" : "it is replaced by silence"
    logger.warning(
      "A \(noun) cannot be decoded and is skipped; \(instead).",
      metadata: [
        "file": "\(file)", "time": "\(Self.seconds(first.time)) s", "reason": "\(first.reason)",
      ])
  }

  /// Logs the total.
  package func end(with undecodable: Undecodable) {
    guard undecodable.count > 1 else { return }
    let nouns = kind == .video ? "frames" : "audio packets"
    logger.warning(
      "\(undecodable.count) \(nouns) could not be decoded and were skipped.", metadata: ["file": "\(file)"])
  }

  /// Formats seconds with three decimals.
  private static func seconds(_ time: Int64) -> String {
    let milliseconds = time / (Int64(MediaTimebase.rate) / 1_000)
    let rest = "\(milliseconds % 1_000)"
    return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
  }
}

import Logging
public import Media
import Synchronization

/// A camera that is not there: plays any input by encoding it while it plays, as the frames of a real one are.
///
///     let camera = try LiveCamera(opening: .init(input: .pattern, owner: ParticipantID("me")))
///     for await frame in await camera.frames() { … }
///
/// It makes keyframes when they are requested and follows a bitrate. Video and audio come from one clock, each when it
/// is due, round after round in sync. Encoding happens on threads of its own.
public final class LiveCamera: FrameSource {
  private let plan: CameraPlan
  private let logger: Logger
  private let state = Mutex(State())

  public let summary: String
  public let remarks: [String]

  private struct State {
    var failure: String?
    var runs: [Int: CameraRun] = [:]
    var number = 0
  }

  init(_ plan: CameraPlan, summary: String, remarks: [String], logger: Logger) {
    self.plan = plan
    self.summary = summary
    self.remarks = remarks
    self.logger = logger
  }

  public var kinds: Set<MediaKind> {
    var kinds: Set<MediaKind> = []
    if plan.videoFrames != nil { kinds.insert(.video) }
    if plan.audio != nil { kinds.insert(.audio) }
    return kinds
  }

  /// Always: each frame is made when it is due.
  public var isLive: Bool { true }

  /// Why playing ended before its time: an input changed, the disk failed, or an encoder did. Set before the stream ends.
  public var failure: String? {
    get async { state.withLock(\.failure) }
  }

  /// Plays from the start, now.
  ///
  /// Frames come in order within each track, each when it is due; `time` counts from the start of playing, on one clock
  /// for both tracks, and keeps growing through every round. The stream holds 128 frames; who takes them slower than
  /// they come loses frames, and gets a keyframe then. It ends with the input (unless in a loop), when an input cannot be
  /// read on (then `failure` says why), and when its consumer is cancelled. Each call plays again, by itself, but for
  /// standard input, whose frames can be had only once.
  public func frames() async -> AsyncStream<EncodedFrame> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: EncodedFrame.self, bufferingPolicy: .bufferingOldest(Self.capacity))
    let run = CameraRun(plan, logger: logger, into: continuation) { [weak self] failure in
      self?.state.withLock { $0.failure = failure }
    }
    let number = state.withLock { state in
      state.number += 1
      state.runs[state.number] = run
      return state.number
    }
    continuation.onTermination = { [weak self] _ in
      run.stop()
      self?.state.withLock { $0.runs[number] = nil }
    }
    run.start()
    return stream
  }

  /// Requests a keyframe, which comes within 100 ms; requests are joined to one in half a second.
  public func requestKeyframe() {
    for run in runs { run.requestKeyframe() }
  }

  public func adapt(toBitrate bitrate: Int, fractionLost: Double) {
    let line = CameraRequests.Line(bitrate: max(0, bitrate), fractionLost: min(1, max(0, fractionLost)))
    for run in runs { run.follow(line) }
  }

  public func reset() {
    for run in runs { run.reset() }
  }

  /// Whether anybody takes frames.
  var isPlaying: Bool { !runs.isEmpty }

  private var runs: [CameraRun] { state.withLock { Array($0.runs.values) } }

  /// Frames that wait in the stream at most: more than a second of video and audio.
  private static let capacity = 128
}

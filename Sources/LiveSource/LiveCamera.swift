import FileSource
public import Logging
public import Media
import Synchronization

/// A virtual camera: plays any input by encoding it in real time.
///
///     let camera = try LiveCamera(opening: .init(input: .pattern, owner: ParticipantID("me")))
///     for await frame in await camera.frames() { … }
///
/// It makes keyframes on request and adapts its bitrate. Video and audio share one clock: each frame is sent when it is
/// due, and the tracks stay in sync when the input loops. Encoding runs on dedicated threads.
public final class LiveCamera: FrameSource {
  private let plan: CameraPlan
  private let logger: Logger
  private let state = Mutex(State())

  public let summary: String
  public let notes: [String]

  private struct State {
    var failure: String?
    var runs: [Int: CameraRun] = [:]
    var number = 0
  }

  init(_ plan: CameraPlan, summary: String, notes: [String], logger: Logger) {
    self.plan = plan
    self.summary = summary
    self.notes = notes
    self.logger = logger
  }

  public var kinds: Set<MediaKind> {
    var kinds: Set<MediaKind> = []
    if plan.hasVideo { kinds.insert(.video) }
    if plan.audio != nil { kinds.insert(.audio) }
    return kinds
  }

  public var codecs: [MediaKind: Codec] {
    var codecs: [MediaKind: Codec] = [:]
    if plan.hasVideo { codecs[.video] = plan.storedVideo?.codec ?? plan.videoCodec }
    if plan.audio != nil { codecs[.audio] = .preferred(for: .audio) }
    return codecs
  }

  /// Whether video is encoded when it is due. It is not if a file's video is sent as stored, beside audio that is encoded.
  public var isLive: Bool { plan.storedVideo == nil }

  /// Why playback ended early: an input changed, the disk failed, or an encoder did. Set before the stream ends.
  public var failure: String? {
    get async { state.withLock(\.failure) }
  }

  /// Plays from the start.
  ///
  /// Frames are sent in order within each track, each when it is due; `time` counts from the start of playback, on one
  /// clock for both tracks, and keeps growing when the input loops. The stream buffers 128 frames; a consumer that is
  /// too slow loses frames and gets a keyframe after that. The stream ends with the input (unless it loops), when an
  /// input cannot be read any further (then `failure` says why), and when its consumer is cancelled. Each call starts
  /// an independent playback, except that the frames of standard input can be read only once.
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

  /// Requests a keyframe, which is sent within 100 ms; requests within half a second are combined to one.
  public func requestKeyframe() {
    for run in runs { run.requestKeyframe() }
  }

  public func adapt(toBitrate bitrate: Int, fractionLost: Double) {
    let estimate = CameraRequests.PathEstimate(bitrate: max(0, bitrate), fractionLost: min(1, max(0, fractionLost)))
    for run in runs { run.adapt(to: estimate) }
  }

  public func reset() {
    for run in runs { run.reset() }
  }

  /// Whether a stream of frames has a consumer.
  package var isPlaying: Bool { !runs.isEmpty }

  private var runs: [CameraRun] { state.withLock { Array($0.runs.values) } }

  /// The number of frames that the stream buffers: more than a second of video and audio.
  private static let capacity = 128
}

extension LiveCamera {
  /// Opens an input in the cheapest way: a file that a call can carry is played as stored, which costs nearly nothing;
  /// everything else is encoded while it plays, and the summary gives the reason. Blocks while it reads files through.
  ///
  /// - Throws: why the input cannot be played, as a sentence; nothing has been started then.
  public static func open(
    _ options: Options, logger: Logger = Logger(label: "camera")
  ) throws(OpeningError) -> any FrameSource {
    var options = options
    if case .file(let path) = options.input, options.permitsStoredVideo {
      switch try stored(path, options) {
      case .file(let file):
        return MediaFileSource(file, loops: options.loops, owner: options.owner, logger: logger)
      case .encoded(let reason):
        options.encodingReason = reason
      }
    }
    return try LiveCamera(opening: options, logger: logger)
  }

  private enum StoredOrEncoded {
    case file(MediaFile)
    /// The file must be encoded, for a reason that is a clause; nil if its format is never sent as stored.
    case encoded(reason: String?)
  }

  /// Returns the file if it can be played as stored.
  private static func stored(_ path: String, _ options: Options) throws(OpeningError) -> StoredOrEncoded {
    do throws(MediaFile.OpeningError) {
      let file = try MediaFile(opening: path, accepting: options.codecsSentAsStored + Codec.all(of: .audio))
      if let reason = file.encodingReason { return .encoded(reason: reason) }
      return .file(file)
    } catch {
      switch error.reason {
      case .unsupportedFormat: return .encoded(reason: nil)
      case .unsupportedCodec(let kind, let name): return .encoded(reason: "its \(kind.rawValue) is \(name)")
      default: throw OpeningError(error.description)
      }
    }
  }

  /// Opens an input to be encoded while it plays. Blocks while it reads files through.
  ///
  /// - Throws: why the input cannot be played, as a sentence; nothing has been started then.
  public convenience init(
    opening options: Options, logger: Logger = Logger(label: "camera")
  ) throws(OpeningError) {
    try self.init(opening: options, standardInput: 0, logger: logger)
  }

  /// Opens an input to be encoded while it plays.
  ///
  /// - Parameter standardInput: the descriptor to read frames from if the input is standard input. It stays open.
  package convenience init(
    opening options: Options, standardInput: Int32, logger: Logger = Logger(label: "camera")
  ) throws(OpeningError) {
    let checked = try CameraInputs(options, standardInput: standardInput, logger: logger)
    self.init(checked.plan, summary: checked.summary, notes: checked.notes, logger: logger)
  }
}

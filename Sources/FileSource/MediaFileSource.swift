public import Logging
public import Media

/// Plays a file as a live source: its video and audio in real time, like a camera.
///
///     let source = try MediaFileSource(opening: "samples/test.webm", owner: ParticipantID("me"))
///     for await frame in await source.frames() { … }
///
/// The bitstream is sent as stored in the file, so it cannot contain keyframes made on request: a sender that needs one
/// repeats the last keyframe, or waits for the next.
public actor MediaFileSource: FrameSource {
  /// The opened and checked file.
  public nonisolated let file: MediaFile
  /// Whether the file restarts when it has ended.
  public nonisolated let loops: Bool
  /// The participant that the frames belong to.
  public nonisolated let owner: ParticipantID

  /// Why playback ended early: the file changed, or the disk failed. Set before the stream ends.
  public private(set) var failure: String?

  private let logger: Logger

  /// Creates a source from an opened file.
  public init(_ file: MediaFile, loops: Bool = true, owner: ParticipantID, logger: Logger = Logger(label: "file")) {
    self.file = file
    self.loops = loops
    self.owner = owner
    self.logger = logger
  }

  public nonisolated var kinds: Set<MediaKind> { Set(file.tracks.map(\.codec.kind)) }

  public nonisolated var codecs: [MediaKind: Codec] {
    Dictionary(file.tracks.map { ($0.codec.kind, $0.codec) }, uniquingKeysWith: { first, _ in first })
  }

  /// Always false: the frames are already encoded.
  public nonisolated var isLive: Bool { false }

  public nonisolated var summary: String { file.summary }

  public nonisolated var notes: [String] { file.notes }

  /// Opens a file and reads it through; see ``MediaFile``. Blocks while it reads.
  ///
  /// - Throws: why the file cannot be played, as a sentence.
  public init(
    opening path: String, loops: Bool = true, owner: ParticipantID, logger: Logger = Logger(label: "file")
  ) throws(MediaFile.OpeningError) {
    self.init(try MediaFile(opening: path), loops: loops, owner: owner, logger: logger)
  }

  /// Plays the file from its start.
  ///
  /// Frames are sent in order, each when it is due; `time` counts from the start of playback, on one clock for both
  /// tracks, and keeps growing when the file loops. The stream buffers 128 frames; a consumer that is too slow loses
  /// whole groups of frames. The stream ends with the file (unless it loops), when the file cannot be read any further
  /// (then `failure` says why), and when its consumer is cancelled. Each call starts an independent playback.
  public func frames() -> AsyncStream<EncodedFrame> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: EncodedFrame.self, bufferingPolicy: .bufferingOldest(FrameStreamWriter.capacity))
    let playing = PlaybackSession(file, loops: loops, owner: owner, logger: logger, into: continuation)
    let task = Task {
      await playing.run { rejection in await self.failed(rejection) }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// Does nothing: the keyframes of the file are fixed.
  public nonisolated func requestKeyframe() {}

  /// Does nothing: the bitrate of the file is fixed.
  public nonisolated func adapt(toBitrate bitrate: Int, fractionLost: Double) {}

  private func failed(_ reason: MediaFile.ReadError) {
    let failure = MediaFile.OpeningError(path: file.path, reason: reason).description
    self.failure = failure
    logger.error("\(failure)")
  }
}

public import Logging
public import Media

/// A file as a live source: its video and audio, in real time, as if they came from a camera.
///
///     let source = try MediaFileSource(opening: "samples/test.webm", owner: ParticipantID("me"))
///     for await frame in await source.frames() { … }
///
/// The bitstream is given as stored in the file. Frames can therefore not be made on request: who is requested a
/// keyframe goes back to the last one, or waits for the next.
public actor MediaFileSource: FrameSource {
  /// The file, read through and found good.
  public nonisolated let file: MediaFile
  /// Whether the file starts again when it has ended.
  public nonisolated let loops: Bool
  /// Whose frames these are.
  public nonisolated let owner: ParticipantID

  /// Why playing ended before its time: the file changed, or the disk failed. Set before the stream ends.
  public private(set) var failure: String?

  private let logger: Logger

  /// Takes a file that has been opened already.
  public init(_ file: MediaFile, loops: Bool = true, owner: ParticipantID, logger: Logger = Logger(label: "file")) {
    self.file = file
    self.loops = loops
    self.owner = owner
    self.logger = logger
  }

  public nonisolated var kinds: Set<MediaKind> { Set(file.tracks.map(\.codec.kind)) }

  /// Never: the frames are made already.
  public nonisolated var isLive: Bool { false }

  public nonisolated var summary: String { file.summary }

  public nonisolated var remarks: [String] { file.remarks }

  /// Opens a file and reads it through; see ``MediaFile``. Blocks while it reads.
  ///
  /// - Throws: why it cannot be played, as a sentence.
  public init(
    opening path: String, loops: Bool = true, owner: ParticipantID, logger: Logger = Logger(label: "file")
  ) throws(MediaFile.OpeningError) {
    self.init(try MediaFile(opening: path), loops: loops, owner: owner, logger: logger)
  }

  /// Plays the file from its start, now.
  ///
  /// Frames come in order, each when it is due; `time` counts from the start of playing, on one clock for both tracks, and
  /// keeps growing through every round. The stream holds 128 frames; who takes them slower than they come loses whole
  /// groups of frames. It ends with the file (unless in a loop), when the file cannot be read on (then `failure` says
  /// why), and when its consumer is cancelled. Each call plays again, by itself.
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

  /// Does nothing: the file's keyframes are where they are.
  public nonisolated func requestKeyframe() {}

  /// Does nothing: the file's bitrate is what it is.
  public nonisolated func adapt(toBitrate bitrate: Int, fractionLost: Double) {}

  private func failed(_ reason: MediaFile.ReadError) {
    let failure = MediaFile.OpeningError(path: file.path, reason: reason).description
    self.failure = failure
    logger.error("\(failure)")
  }
}

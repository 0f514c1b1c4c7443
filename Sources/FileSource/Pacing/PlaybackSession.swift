import Logging
import Media

/// One playback of a file: reads ahead, and sends each frame at its time, until the file ends or the consumer cancels.
actor PlaybackSession {
  private let file: MediaFile
  private let readAhead: ReadAhead
  private let logger: Logger
  private let clock = ContinuousClock()
  private var player: PacedPlayer
  private var frameWriter: FrameStreamWriter
  private var rejection: MediaFile.ReadError?

  /// How often the reader checks whether a track needs more frames: far less than what is read ahead.
  private static let refillInterval: Duration = .milliseconds(250)
  /// How soon the player checks again when a track's next frames are late from the disk.
  private static let starvedInterval: Duration = .milliseconds(10)

  init(
    _ file: MediaFile, loops: Bool, owner: ParticipantID, logger: Logger,
    into continuation: AsyncStream<EncodedFrame>.Continuation
  ) {
    self.file = file
    self.logger = logger
    readAhead = ReadAhead(file)
    player = PacedPlayer(codecs: file.tracks.map(\.codec), period: file.period, loops: loops, owner: owner)
    frameWriter = FrameStreamWriter(continuation)
  }

  /// Plays until the end.
  ///
  /// - Parameter failed: called with the reason when playback ends early, before the stream ends.
  func run(failed: @Sendable (MediaFile.ReadError) async -> Void) async {
    await fill()
    player.begin(now: clock.now)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.keepFilled() }
      group.addTask { await self.pace() }
      await group.next()
      group.cancelAll()
    }
    if let rejection { await failed(rejection) }
    frameWriter.finish()
    if frameWriter.lostFrames > 0 {
      logger.warning(
        "\(frameWriter.lostFrames) frames of \(file.path) were lost, because they were consumed too slowly.")
    }
  }

  /// Reads until each track is as far ahead as needed.
  private func fill() async {
    for kind in file.tracks.map(\.codec.kind) {
      while rejection == nil, !Task.isCancelled, player.wants(kind) {
        do {
          let batch = try await readAhead.read(kind)
          player.append(batch.frames, of: kind)
          if batch.endsRound { player.roundEnded(kind) }
        } catch {
          rejection = error
        }
      }
    }
  }

  /// Returns when reading fails; otherwise runs until cancelled.
  private func keepFilled() async {
    while rejection == nil, (try? await clock.sleep(for: Self.refillInterval)) != nil { await fill() }
  }

  private func pace() async {
    while !player.isFinished, !frameWriter.isClosed, !Task.isCancelled {
      for frame in player.poll(now: clock.now) { frameWriter.give(frame) }
      if player.isFinished || frameWriter.isClosed { return }
      let deadline = player.deadline ?? clock.now + Self.starvedInterval
      if (try? await clock.sleep(until: deadline, tolerance: .zero)) == nil { return }
    }
  }
}

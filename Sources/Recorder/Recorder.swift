public import Media
import NIOCore
import NIOPosix

/// Records participants: frames in, finished files out.
///
/// For each participant there are up to three files in the folder, `<name>.webm` (VP8 and Opus), `<name>.ogg` (Opus) and
/// `<name>.json` (the manifest). It runs on a thread of its own, because writing can block; nothing that it does makes a
/// caller wait who does not ask for a result.
public actor Recorder {
  /// How often it looks at the clock.
  static let tick = Duration.milliseconds(100)

  /// What goes wrong while recording, as it happens; the newest 100 are kept for a reader who is late.
  public nonisolated let problems: AsyncStream<Problem>

  private let surroundings: ParticipantRecording.Surroundings
  private var recordings: [ParticipantID: ParticipantRecording] = [:]
  private let problemInput: AsyncStream<Problem>.Continuation

  private nonisolated let threads: MultiThreadedEventLoopGroup
  private nonisolated let executor: any SerialExecutor
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens the folder, so that what is wrong with it is known before a call begins.
  public init(_ configuration: Configuration) throws(DiskError) {
    let folder = try Folder(path: configuration.folder)
    let (problems, problemInput) = AsyncStream.makeStream(of: Problem.self, bufferingPolicy: .bufferingNewest(100))
    self.problems = problems
    self.problemInput = problemInput
    surroundings = ParticipantRecording.Surroundings(
      folder: folder, room: configuration.room, hold: configuration.hold, verifies: configuration.verifies,
      report: { problemInput.yield($0) })
    threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = threads.next()
    executor = loop.executor
    if configuration.looksAtClock {
      let tick = TimeAmount(Self.tick)
      loop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { [weak self] task in
        guard let self else { return task.cancel() }
        self.assumeIsolated { $0.advance(now: .now) }
      }
    }
  }

  deinit {
    problemInput.finish()
    threads.shutdownGracefully { _ in }
  }

  /// Begins to record a participant. No file is made before the first frame.
  ///
  /// - Parameters:
  ///   - participant: any id that is not being recorded; otherwise nothing happens.
  ///   - name: what the files are to be named by instead of the id.
  ///   - now: the moment that `wallClock` belongs to.
  ///   - wallClock: seconds since 1970-01-01 00:00 UTC.
  public func begin(
    _ participant: ParticipantID, name: String? = nil, now: ContinuousClock.Instant, wallClock: Double
  ) {
    guard recordings[participant] == nil else { return }
    recordings[participant] = ParticipantRecording(
      participant, name: name, clock: WallClock(moment: now, secondsSince1970: wallClock), surroundings: surroundings)
  }

  /// Takes what a participant's media brought, in its order. Ignored for one who is not being recorded.
  public func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    recordings[participant]?.receive(event, now: now)
  }

  /// Ends the recording of a participant and closes the files.
  ///
  /// - Returns: nil when there was nothing to record.
  @discardableResult
  public func end(
    _ participant: ParticipantID, reason: LeaveReason, now: ContinuousClock.Instant
  ) -> RecordingSummary? {
    recordings.removeValue(forKey: participant)?.end(reason, now: now)
  }

  /// Ends all recordings, in the order of the participants' ids.
  @discardableResult
  public func finish(reason: LeaveReason = .stopped, now: ContinuousClock.Instant) -> [RecordingSummary] {
    let participants = recordings.keys.sorted { $0.text < $1.text }
    return participants.compactMap { end($0, reason: reason, now: now) }
  }

  /// How each recording stands, in the order of the participants' ids.
  public func status() -> [RecordingStatus] {
    recordings.values.map(\.status).sorted { $0.participant.text < $1.participant.text }
  }

  /// Writes what has waited for long enough. The recorder calls it by itself unless it was told not to.
  package func advance(now: ContinuousClock.Instant) {
    for recording in recordings.values { recording.advance(now: now) }
  }
}

public import Media
internal import Synchronization

/// One or more recorders that write into the same folder, each on its own thread, combined into one `MediaSink`.
///
/// The recorder with the fewest participants records a new participant, until that recording ends. Memory and
/// verification threads are shared equally, but each recorder has at least 8 MiB.
public final class RecorderGroup: MediaSink {
  /// The recorders, for access to their ``RoomRecorder/problems``, ``RoomRecorder/keyframeRequests`` and
  /// ``RoomRecorder/summaries``.
  public let recorders: [RoomRecorder]
  /// What all recordings share: an id, and one reading of the wall clock.
  public let session: RecordingSession

  private struct Assignments {
    var recorders: [ParticipantID: Int] = [:]
    /// The number of participants of each recorder.
    var counts: [Int]
  }

  private let assignments: Mutex<Assignments>
  /// Who is paused.
  let pauses: PauseRegistry

  /// Opens the folder.
  ///
  /// - Parameters:
  ///   - configuration: the folder and the settings of the recorders, which share its memory limit.
  ///   - threads: the number of recorders; at least 1.
  ///   - frameRecorded: called with each received frame that is recorded, on the thread of a recorder: never with one of a pause. It
  ///     must return at once.
  public init(
    _ configuration: RoomRecorder.Configuration, threads: Int = 1,
    frameRecorded: (@Sendable (EncodedFrame) -> Void)? = nil
  ) throws(RoomRecorder.StorageError) {
    let threads = max(1, threads)
    var share = configuration
    share.recorders = threads
    let session = configuration.session ?? RecordingSession()
    share.session = session
    self.session = session
    let pauses = PauseRegistry(configuration.paused)
    self.pauses = pauses
    var recorders: [RoomRecorder] = []
    for _ in 0..<threads {
      recorders.append(try RoomRecorder(share, disk: POSIXFileSystem(), pauses: pauses, frameRecorded: frameRecorded))
    }
    self.recorders = recorders
    assignments = Mutex(Assignments(counts: Array(repeating: 0, count: threads)))
  }

  /// Begins to record a participant; see ``RoomRecorder/begin(_:name:now:)``.
  public func begin(_ participant: ParticipantID, name: String? = nil, now: ContinuousClock.Instant = .now) {
    recorders[assign(participant)].begin(participant, name: name, now: now)
  }

  /// Begins to record a participant; see ``RoomRecorder/begin(_:name:now:wallClock:)``.
  public func begin(
    _ participant: ParticipantID, name: String? = nil, now: ContinuousClock.Instant, wallClock: Double
  ) {
    recorders[assign(participant)].begin(participant, name: name, now: now, wallClock: wallClock)
  }

  /// Passes a media event to the participant's recorder; see ``RoomRecorder/receive(_:of:now:)``.
  public func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    recorder(of: participant)?.receive(event, of: participant, now: now)
  }

  public func receive(_ events: [MediaEvent], of participant: ParticipantID, now: ContinuousClock.Instant) {
    let recorder = recorder(of: participant)
    for event in events { recorder?.receive(event, of: participant, now: now) }
  }

  /// Notes the candidate pair of a participant; see ``RoomRecorder/setPath(_:of:now:)``.
  public func setPath(
    _ path: RecordingManifest.NetworkPath, of participant: ParticipantID, now: ContinuousClock.Instant = .now
  ) {
    recorder(of: participant)?.setPath(path, of: participant, now: now)
  }

  /// Notes what keeps media of a participant out of the recording; see ``RoomRecorder/addProblem(_:of:now:)``.
  public func addProblem(_ sentence: String, of participant: ParticipantID, now: ContinuousClock.Instant = .now) {
    recorder(of: participant)?.addProblem(sentence, of: participant, now: now)
  }

  /// Ends the recording of a participant; see ``RoomRecorder/end(_:reason:now:)``.
  public func end(_ participant: ParticipantID, reason: RecordingEndReason, now: ContinuousClock.Instant = .now) {
    recorder(of: participant)?.end(participant, reason: reason, now: now)
    release(participant)
  }

  /// Ends all recordings and the recorders; see ``RoomRecorder/finish(reason:now:within:)``.
  public func finish(
    reason: RecordingEndReason = .stopped, now: ContinuousClock.Instant = .now, within limit: Duration = .seconds(10)
  ) async {
    await withTaskGroup(of: Void.self) { group in
      for recorder in recorders {
        group.addTask { _ = await recorder.finish(reason: reason, now: now, within: limit) }
      }
    }
  }

  /// Returns the status of each recording, in the order of the participants' ids and of their streams.
  public func status() -> [RecordingStatus] {
    recorders.flatMap { $0.status() }.sorted(by: RecordingStatus.isInOrder)
  }

  // MARK: Assignment

  private func assign(_ participant: ParticipantID) -> Int {
    if recorders.count == 1 { return 0 }
    return assignments.withLock { assignments in
      if let known = assignments.recorders[participant] { return known }
      let fewest = assignments.counts.indices.min { assignments.counts[$0] < assignments.counts[$1] } ?? 0
      assignments.recorders[participant] = fewest
      assignments.counts[fewest] += 1
      return fewest
    }
  }

  private func recorder(of participant: ParticipantID) -> RoomRecorder? {
    if recorders.count == 1 { return recorders[0] }
    return assignments.withLock { $0.recorders[participant] }.map { recorders[$0] }
  }

  private func release(_ participant: ParticipantID) {
    if recorders.count == 1 { return }
    assignments.withLock { assignments in
      if let index = assignments.recorders.removeValue(forKey: participant) { assignments.counts[index] -= 1 }
    }
  }
}

import Media

/// The recordings of one participant: one for each of their streams, which begins with the stream's first event. The
/// first stream's begins with the participant.
final class ParticipantRecordings {
  /// The maximum number of them. The queue passes on no event of a further stream.
  static let maximum = 16

  let participant: ParticipantID
  private let name: String?
  private let clock: WallClock
  private let environment: StreamRecording.Environment
  private let verification: VerificationShare?
  private let first: StreamRecording
  /// In the order of the streams' numbers.
  private(set) var all: [StreamRecording]
  /// The candidate pair over which the media comes now.
  private var path: RecordingManifest.NetworkPath?
  /// When nothing of the participant is recorded.
  private var pauses = PauseIntervals()

  init(_ participant: ParticipantID, name: String?, clock: WallClock, environment: StreamRecording.Environment) {
    self.participant = participant
    self.name = name
    self.clock = clock
    self.environment = environment
    verification = environment.verification.map { pool in
      VerificationShare(pool) { [report = environment.report] notice in report(.verification(notice, of: participant)) }
    }
    first = StreamRecording(
      1, of: participant, name: name, after: nil, clock: clock, verification: verification, environment: environment)
    all = [first]
  }

  /// Passes a media event to the recording of its stream.
  ///
  /// - Parameter dropped: frames of its track that were dropped before it because the memory was full.
  func receive(_ event: MediaEvent, dropped: Int, now: MonotonicInstant) {
    recording(of: event.streamNumber, now: now).receive(event, dropped: dropped, now: now)
  }

  private func recording(of stream: Int, now: MonotonicInstant) -> StreamRecording {
    if stream == 1 { return first }
    if let known = all.first(where: { $0.stream == stream }) { return known }
    let recording = StreamRecording(
      stream, of: participant, name: name, after: first,
      clock: WallClock(moment: now, secondsSince1970: clock.seconds(at: now)), verification: verification,
      environment: environment)
    if let path { recording.addPath(path) }
    if !pauses.all.isEmpty { recording.setPauses(pauses, now: now) }
    all.insert(recording, at: all.firstIndex { $0.stream > stream } ?? all.endIndex)
    return recording
  }

  /// Notes the candidate pair over which all media comes from now on, also that of streams which begin later.
  func setPath(_ path: RecordingManifest.NetworkPath, now: MonotonicInstant) {
    var path = path
    path.since = clock.text(at: now)
    self.path = path
    for recording in all { recording.addPath(path) }
  }

  /// Pauses or resumes all recordings, also those of streams that begin later.
  func setPaused(_ isPaused: Bool, now: MonotonicInstant) {
    if isPaused { pauses.pause(at: now) } else { pauses.resume(at: now) }
    for recording in all { recording.setPauses(pauses, now: now) }
  }

  /// Notes a problem of the connection in all recordings that there are. The first one is written for it, even if there
  /// is no media.
  func addProblem(_ sentence: String) {
    for recording in all { recording.addProblem(sentence, isContent: recording === first) }
  }

  /// Writes what has waited long enough; see ``StreamRecording/advance(now:everything:atOnce:)``.
  func advance(now: MonotonicInstant) {
    for recording in all { recording.advance(now: now) }
  }

  /// Ends the recordings.
  ///
  /// - Parameter dropped: frames that were dropped because the memory was full, and that no later frame reported.
  func end(_ reason: RecordingEndReason, dropped: [TrackID: DroppedFrameRun], now: MonotonicInstant) {
    for recording in all {
      var own: [MediaKind: DroppedFrameRun] = [:]
      for kind in MediaKind.allCases {
        own[kind] = dropped[TrackID(of: participant, stream: recording.stream, kind: kind)]
      }
      recording.end(reason, dropped: own, now: now)
    }
  }

  /// Ends what frames wait for, since memory is short; see ``StreamRecording/endWaiting(everything:now:)``.
  func endWaiting(everything: Bool, now: MonotonicInstant) {
    for recording in all where !recording.isStalled { recording.endWaiting(everything: everything, now: now) }
  }

  /// Bytes of frames that are not on the disk.
  var heldBytes: Int { all.reduce(0) { $0 + $1.heldBytes } }
  /// Those of them that do not wait for the disk.
  var releasableBytes: Int { all.reduce(0) { $0 + ($1.isStalled ? 0 : $1.heldBytes) } }
}

extension MediaEvent {
  /// The number of the stream that it belongs to, at least 1.
  var streamNumber: Int {
    let number =
      switch self {
      case .frame(let frame): frame.stream
      case .clock(let report): report.stream
      case .recovering(let track), .statistics(let track, _): track.stream
      case .described(let stream): stream.number
      }
    return max(1, number)
  }

  /// Whether it says what a stream is.
  var isDescription: Bool { if case .described = self { true } else { false } }
}

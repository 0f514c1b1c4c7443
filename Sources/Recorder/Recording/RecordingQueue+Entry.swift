import Media

/// What the queue holds, and what it tells those who add to it.
extension RecordingQueue {
  enum Step: Sendable {
    case begin(name: String?, WallClock, isPaused: Bool)
    /// With the number of frames that were dropped before it; its gap reports them, too.
    case receive(MediaEvent, dropped: Int)
    case path(RecordingManifest.NetworkPath)
    case problem(String)
    /// Whether the participant is paused from now on.
    case pause(Bool)
    /// With the dropped frames that no later frame reports.
    case end(RecordingEndReason, dropped: [TrackID: DroppedFrameRun])
    case finish(EndReason, dropped: [TrackID: DroppedFrameRun])
  }

  struct Entry: Sendable {
    let participant: ParticipantID
    let step: Step
    let now: MonotonicInstant
  }

  /// An interval in which the recorder's thread processed nothing of the queue.
  struct Stall: Sendable {
    let start: MonotonicInstant
    let end: MonotonicInstant
    /// Whether the disk was the cause, rather than this machine.
    let isOfDisk: Bool
  }

  /// The actions for the caller that added an entry.
  struct Outcome: Sendable {
    /// Whether to wake the recorder's thread.
    var wakes = false
    /// The track whose next frame should be a keyframe.
    var keyframeRequest: TrackID?
    var problem: RoomRecorder.Problem?
  }
}

/// A request to end all recordings: the reason, the deadline, and the receiver of the result.
struct EndReason: Sendable {
  let reason: RecordingEndReason
  /// The time at which frames that are not on the disk are given up.
  let deadline: MonotonicInstant
  let result: AsyncStream<[RecordingSummary]>.Continuation
}

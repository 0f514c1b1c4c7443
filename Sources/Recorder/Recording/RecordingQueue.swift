import Media
import NIOCore
import Synchronization

/// The queue of a recorder's pending work, in order. Its producers never wait.
///
/// It counts the memory of all waiting frames, here and in later stages. If that approaches the limit because the disk
/// or this machine does not keep up, the queue rejects video frames of a participant until a keyframe arrives while
/// there is space again. A quarter of the memory is reserved for audio, which is rejected only when that is full, too.
/// The next admitted frame reports how many are missing before it.
final class RecordingQueue: Sendable {
  enum Step: Sendable {
    case begin(name: String?, WallClock)
    /// With the number of frames that were dropped before it; its gap reports them, too.
    case receive(MediaEvent, leftOut: Int)
    /// With the dropped frames that no later frame reports.
    case end(RecordingEndReason, leftOut: [MediaKind: DroppedFrameRun])
    case finish(EndReason, leftOut: [ParticipantID: [MediaKind: DroppedFrameRun]])
  }

  struct Entry: Sendable {
    let participant: ParticipantID
    let step: Step
    let now: MonotonicInstant
  }

  /// An interval in which the recorder's thread processed nothing of the queue.
  struct Hang: Sendable {
    let start: MonotonicInstant
    let end: MonotonicInstant
    /// Whether the disk was the cause, rather than this machine.
    let isOfDisk: Bool
  }

  /// The actions for the caller that added an entry.
  struct Outcome: Sendable {
    /// Whether to wake the recorder's thread.
    var wakes = false
    var wantsKeyframe = false
    var problem: RoomRecorder.Problem?
  }

  /// How long the recorder's thread may be busy before the user is notified.
  static let patience = Duration.seconds(2)
  static let requestInterval = Duration.milliseconds(500)

  private struct State {
    var queue = BoundedFrameQueue<Entry>()
    /// Whether the recorder's thread was woken for the queue's content.
    var isWoken = false
    /// Bytes that were removed from the queue but are not on the disk.
    var elsewhere = 0
    /// When the last keyframe was requested from a participant whose video is dropped.
    var lastRequests: [ParticipantID: MonotonicInstant] = [:]
    /// When the thread became busy, as the time of the newest entry at that moment; nil while it is idle.
    var busySince: MonotonicInstant?
    /// The time of the newest entry.
    var newest: MonotonicInstant?
    /// Whether the user was notified that the thread is stuck.
    var isStuck = false
    /// Whether the disk is the cause.
    var isStuckByDisk = false
    var isFull = false
    /// Whether the disk was reported as the cause.
    var isFullByDisk = false
    var peak = 0
  }

  private let limit: Int
  /// Bytes that may wait until the recorder's thread next runs on its own; beyond this it is woken. Waking it for each
  /// frame would cost more than writing the frame.
  private let batch: Int
  private let disk: DiskMonitor
  private let state = Mutex(State())

  /// - Parameters:
  ///   - limit: bytes of frames that may wait for the disk, here and in later stages.
  ///   - disk: determines whether the disk is the cause of the wait.
  init(limit: Int, disk: DiskMonitor) {
    self.limit = limit
    self.disk = disk
    batch = min(limit / 16, 2 << 20)
  }

  /// The maximum number of bytes that ever waited.
  var peak: Int { state.withLock { $0.peak } }

  /// The time of the newest entry; nil before the first.
  var newest: MonotonicInstant? { state.withLock { $0.newest } }

  /// How long nothing has been processed; zero when the queue is empty.
  var delay: Duration {
    state.withLock { state in
      guard let since = state.busySince, let newest = state.newest else { return .zero }
      return newest - since
    }
  }

  func begin(
    _ participant: ParticipantID, name: String?, clock: WallClock, now: MonotonicInstant
  ) -> Outcome {
    state.withLock { append(Entry(participant: participant, step: .begin(name: name, clock), now: now), to: &$0) }
  }

  func receive(_ event: MediaEvent, of participant: ParticipantID, now: MonotonicInstant) -> Outcome {
    state.withLock { state in
      guard case .frame(let frame) = event else {
        if state.queue.bytes + state.elsewhere > limit { return Outcome() }
        return append(Entry(participant: participant, step: .receive(event, leftOut: 0), now: now), to: &state)
      }
      return receive(frame, of: participant, now: now, state: &state)
    }
  }

  func end(_ participant: ParticipantID, reason: RecordingEndReason, now: MonotonicInstant) -> Outcome {
    state.withLock { state in
      var leftOut: [MediaKind: DroppedFrameRun] = [:]
      for kind in MediaKind.allCases { leftOut[kind] = state.queue.dropper.takeDropped(of: .init(participant, kind)) }
      state.lastRequests[participant] = nil
      let step = Step.end(reason, leftOut: leftOut)
      return append(Entry(participant: participant, step: step, now: now), to: &state)
    }
  }

  func finish(_ ending: EndReason, now: MonotonicInstant) -> Outcome {
    state.withLock { state in
      var leftOut: [ParticipantID: [MediaKind: DroppedFrameRun]] = [:]
      for (track, dropped) in state.queue.dropper.takeAll() { leftOut[track.owner, default: [:]][track.kind] = dropped }
      state.lastRequests = [:]
      return append(
        Entry(participant: ParticipantID(""), step: .finish(ending, leftOut: leftOut), now: now), to: &state)
    }
  }

  /// Removes all entries. Afterwards the caller must call `settle`, and may call `reuse`.
  func takeAll() -> CircularBuffer<(element: Entry, bytes: Int)> {
    state.withLock { state in
      state.elsewhere += state.queue.bytes
      let entries = state.queue.takeAll()
      state.isWoken = false
      // If the user was notified that the thread is stuck, the start of that time is still needed.
      if !state.isStuck { state.busySince = entries.isEmpty ? nil : state.newest }
      return entries
    }
  }

  /// Reuses the memory of the buffer that `takeAll` returned.
  func reuse(_ entries: consuming CircularBuffer<(element: Entry, bytes: Int)>) {
    // The entries are released before the lock is taken.
    entries.removeAll(keepingCapacity: true)
    state.withLock { [entries] in $0.queue.reuse(entries) }
  }

  /// Records how much waits in later stages, after all removed entries have been processed.
  ///
  /// - Returns: the interval in which the thread was stuck, if the user was notified of it.
  func settle(elsewhere: Int) -> Hang? {
    state.withLock { state in
      var hang: Hang?
      if state.isStuck, let since = state.busySince, let newest = state.newest {
        hang = Hang(start: since, end: newest, isOfDisk: state.isStuckByDisk)
      }
      state.isStuck = false
      state.elsewhere = elsewhere
      state.peak = max(state.peak, state.queue.bytes + elsewhere)
      state.busySince = state.queue.isEmpty ? nil : state.newest
      if state.isFull, state.queue.bytes + elsewhere <= limit / 2 { state.isFull = false }
      return hang
    }
  }

  // MARK: Admission

  private func receive(
    _ frame: EncodedFrame, of participant: ParticipantID, now: MonotonicInstant, state: inout State
  ) -> Outcome {
    state.newest = now
    let used = state.queue.bytes + state.elsewhere
    let needed = used + frame.waitingCost
    let isVideo = frame.codec.kind == .video
    let room: FrameDropper.Room =
      if needed <= limit / 2 {
        .ample
      } else {
        needed <= (isVideo ? limit / 4 * 3 : limit) ? .some : .none
      }
    let admission = state.queue.dropper.admit(frame, of: .init(participant, frame.codec.kind)) {
      room
    } reason: {
      disk.isCause(at: now) ? .diskStalled : .overloaded
    }
    switch admission {
    case .admitted(let dropped):
      var frame = frame
      if let dropped { frame.gap = dropped.gap(before: frame.gap) }
      let step = Step.receive(.frame(frame), leftOut: dropped?.count ?? 0)
      return append(Entry(participant: participant, step: step, now: now), to: &state)
    case .dropped(let dropped):
      var outcome = Outcome()
      // Later frames of the track only wait for a keyframe, or for the same memory.
      if dropped.count == 1 {
        outcome.problem = full(participant, isOfDisk: dropped.reason == .diskStalled, state: &state)
        if isVideo { state.lastRequests[participant] = nil }
      }
      let isDue = state.lastRequests[participant].map { now - $0 >= Self.requestInterval } ?? true
      if isVideo, used <= limit / 2, isDue {
        state.lastRequests[participant] = now
        outcome.wantsKeyframe = true
      }
      outcome.problem = outcome.problem ?? stuck(participant, now: now, state: &state)
      return outcome
    }
  }

  private func append(_ entry: Entry, to state: inout State) -> Outcome {
    var outcome = Outcome()
    state.newest = entry.now
    var cost = EncodedFrame.overhead
    var isUrgent = true
    if case .receive(let event, _) = entry.step {
      if case .frame(let frame) = event { cost = frame.waitingCost }
      isUrgent = state.queue.bytes + cost > batch
    }
    state.queue.append(entry, bytes: cost)
    outcome.wakes = isUrgent && !state.isWoken
    if isUrgent { state.isWoken = true }
    state.peak = max(state.peak, state.queue.bytes + state.elsewhere)
    outcome.problem = stuck(entry.participant, now: entry.now, state: &state)
    if state.busySince == nil { state.busySince = entry.now }
    return outcome
  }

  // MARK: Messages to the user

  private func full(_ participant: ParticipantID, isOfDisk: Bool, state: inout State) -> RoomRecorder.Problem? {
    if state.isFull, state.isFullByDisk || !isOfDisk { return nil }
    state.isFull = true
    state.isFullByDisk = isOfDisk
    return RoomRecorder.Problem(
      kind: isOfDisk ? .lost : .overloaded, participant: participant,
      sentence:
        "\(isOfDisk ? "The disk" : "This machine") does not keep up, and the \(limit >> 20) MiB of memory for queued frames "
        + "are full: video, and then audio, is dropped until there is space again.")
  }

  private func stuck(
    _ participant: ParticipantID, now: MonotonicInstant, state: inout State
  ) -> RoomRecorder.Problem? {
    guard !state.isStuck, let since = state.busySince, now - since >= Self.patience else { return nil }
    state.isStuck = true
    state.isStuckByDisk = disk.isCause(at: now)
    let seconds = (now - since).milliseconds / 1_000
    return RoomRecorder.Problem(
      kind: .stalled, participant: participant,
      sentence: (state.isStuckByDisk
        ? "The disk has not responded for \(seconds) s;" : "This machine has had no time to record for \(seconds) s;")
        + " received media waits in memory, up to \(limit >> 20) MiB.")
  }
}

/// A request to end all recordings: the reason, the deadline, and the receiver of the result.
struct EndReason: Sendable {
  let reason: RecordingEndReason
  /// The time at which frames that are not on the disk are given up.
  let deadline: MonotonicInstant
  let result: AsyncStream<[RecordingSummary]>.Continuation
}

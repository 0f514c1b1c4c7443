import Media
import NIOCore
import Synchronization

/// What a recorder is still to do, in order, and the door through which it comes: nobody who brings something ever waits.
///
/// It keeps count of all memory that waiting frames take, here and further on towards the disk. When that nears the limit
/// because the disk or this machine does not keep up, frames are refused, each participant's up to a keyframe that comes
/// when there is room again; a quarter of the memory is left for audio, which is refused only when that is full, too.
/// The next frame that goes through says how many are missing before it.
final class RecordingQueue: Sendable {
  enum Step: Sendable {
    case begin(name: String?, WallClock)
    /// With the number of frames that were turned away before it; its gap reports them, too.
    case receive(MediaEvent, leftOut: Int)
    /// With what was turned away and no later frame reports.
    case end(RecordingEndReason, leftOut: [MediaKind: DroppedFrameRun])
    case finish(EndReason, leftOut: [ParticipantID: [MediaKind: DroppedFrameRun]])
  }

  struct Entry: Sendable {
    let participant: ParticipantID
    let step: Step
    let now: MonotonicInstant
  }

  /// A time in which the recorder's thread did nothing of what had come.
  struct Hang: Sendable {
    let start: MonotonicInstant
    let end: MonotonicInstant
    /// Whether the disk was why, and not this machine.
    let isOfDisk: Bool
  }

  /// What is to be done by who put something in.
  struct Outcome: Sendable {
    /// Whether the recorder's thread has to be woken.
    var wakes = false
    var wantsKeyframe = false
    var problem: RoomRecorder.Problem?
  }

  /// How long the recorder's thread may take for what it is doing before the user is told.
  static let patience = Duration.seconds(2)
  static let requestInterval = Duration.milliseconds(500)

  private struct State {
    var queue = BoundedFrameQueue<Entry>()
    /// Whether the recorder's thread was woken for what is in the queue.
    var isWoken = false
    /// Bytes that were taken out, but are not on the disk.
    var elsewhere = 0
    /// When a keyframe of a participant whose video is dropped was requested last.
    var lastRequests: [ParticipantID: MonotonicInstant] = [:]
    /// Since when the thread has had something to do, by the newest thing that had come then; nil while it has nothing to do.
    var busySince: MonotonicInstant?
    /// When the newest thing came.
    var newest: MonotonicInstant?
    /// Whether the user was told that the thread is stuck, and that memory is full.
    var isStuck = false
    /// Whether the disk is why it is stuck.
    var isStuckByDisk = false
    var isFull = false
    /// Whether the disk was named as the reason.
    var isFullByDisk = false
    var peak = 0
  }

  private let limit: Int
  /// Bytes that are left until the recorder's thread looks at the clock the next time: to be woken for each frame would cost
  /// more than to write it. With more it is woken.
  private let batch: Int
  private let disk: DiskMonitor
  private let state = Mutex(State())

  /// - Parameters:
  ///   - limit: bytes of frames that may wait for the disk, here and elsewhere.
  ///   - disk: knows whether it is the disk that they wait for.
  init(limit: Int, disk: DiskMonitor) {
    self.limit = limit
    self.disk = disk
    batch = min(limit / 16, 2 << 20)
  }

  /// The most bytes that ever waited.
  var peak: Int { state.withLock { $0.peak } }

  /// When the newest thing came; nil before.
  var newest: MonotonicInstant? { state.withLock { $0.newest } }

  /// For how long nothing has been done of what came; zero when everything has.
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

  /// Takes everything out; `settle` has to follow when it is done, and `reuse` may.
  func takeAll() -> CircularBuffer<(element: Entry, bytes: Int)> {
    state.withLock { state in
      state.elsewhere += state.queue.bytes
      let entries = state.queue.takeAll()
      state.isWoken = false
      // After the user was told that the thread is stuck, it must still be known since when.
      if !state.isStuck { state.busySince = entries.isEmpty ? nil : state.newest }
      return entries
    }
  }

  /// Uses the memory of what `takeAll` gave again.
  func reuse(_ entries: consuming CircularBuffer<(element: Entry, bytes: Int)>) {
    // What is in it is let go of before the lock is taken.
    entries.removeAll(keepingCapacity: true)
    state.withLock { [entries] in $0.queue.reuse(entries) }
  }

  /// Notes what now waits elsewhere, when all that was taken out has been done.
  ///
  /// - Returns: how the thread was stuck, if the user was told that it is.
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

  // MARK: The door

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
      // Later ones of the track only wait for a keyframe, or for the same memory.
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

  // MARK: What the user is told

  private func full(_ participant: ParticipantID, isOfDisk: Bool, state: inout State) -> RoomRecorder.Problem? {
    if state.isFull, state.isFullByDisk || !isOfDisk { return nil }
    state.isFull = true
    state.isFullByDisk = isOfDisk
    return RoomRecorder.Problem(
      kind: isOfDisk ? .lost : .overloaded, participant: participant,
      sentence:
        "\(isOfDisk ? "The disk" : "This machine") does not keep up, and the \(limit >> 20) MiB of memory for what waits "
        + "are full: frames, and then audio, are skipped until there is room again.")
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
        ? "The disk has not answered for \(seconds) s;" : "This machine has had no time to record for \(seconds) s;")
        + " what is recorded meanwhile waits in memory, up to \(limit >> 20) MiB.")
  }
}

/// The end of all recordings: why, until when, and who waits for it.
struct EndReason: Sendable {
  let reason: RecordingEndReason
  /// When what the disk has not taken by then is left as it is.
  let deadline: MonotonicInstant
  let result: AsyncStream<[RecordingSummary]>.Continuation
}

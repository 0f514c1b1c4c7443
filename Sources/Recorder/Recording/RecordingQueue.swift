import Media
import NIOCore
import Synchronization

/// The queue of a recorder's pending work, in order. Its producers never wait.
///
/// It counts the memory of all waiting frames, here and in later stages. When memory is short, the recorder ends what
/// later stages wait for (`isMemoryShort`). If more waits nevertheless, because the disk or the processor does not keep
/// up, or because more arrives at once than the memory holds, the queue rejects video frames of a participant until a
/// keyframe arrives while there is space again. A quarter of the memory is reserved for audio, which is rejected only
/// when that is full, too. The next admitted frame reports how many are missing before it, and why.
///
/// The memory follows the number of participants (``MemoryBudget``). Half of it is for everyone. Beyond it, each
/// participant has an equal share, so that one who sends much cannot take the space of the others.
///
/// The order of overload: docs/architecture.md.
final class RecordingQueue: Sendable {
  /// How long the recorder's thread may be busy before the user is notified.
  static let stallThreshold = Duration.seconds(2)
  static let requestInterval = Duration.milliseconds(500)
  /// How long the recorder's thread may take for what it was given: if it takes longer while the memory is full, and
  /// not because of the disk, it has too little time. It looks at the queue every `RoomRecorder.tick`.
  static let maximumDelay = RoomRecorder.tick * 3

  /// The streams of a participant that are recorded, besides the first one.
  private struct Streams {
    var numbers: Set<Int> = []
    /// Whether there was one more than the limit.
    var isExceeded = false
  }

  private struct State {
    let budget: MemoryBudget
    var queue = BoundedFrameQueue<Entry>()
    /// Whether the recorder's thread was woken for the queue's content.
    var isWoken = false
    /// Bytes that were removed from the queue but are not on the disk.
    var downstreamBytes = 0
    /// The participants who are recorded, with their streams.
    var participants: [ParticipantID: Streams] = [:]
    /// The bytes of each participant in the queue, and after it.
    var queuedBytes: [ParticipantID: Int] = [:]
    var downstream: [ParticipantID: Int] = [:]
    /// When the last keyframe of a video track was requested whose frames are dropped.
    var lastRequests: [TrackID: MonotonicInstant] = [:]
    /// When the thread became busy (the time of the newest entry then); nil while it is idle.
    var busySince: MonotonicInstant?
    /// The time of the newest entry.
    var newest: MonotonicInstant?
    /// Whether the user was notified that the thread processes nothing.
    var isStallReported = false
    /// Whether the disk is the cause.
    var isStalledByDisk = false
    /// The causes that the user was notified of since the memory became full; empty while it is not.
    var reportedCauses: Set<MediaGap.Reason> = []
    var peak = 0

    /// Bytes of all frames that wait.
    var bytes: Int { queue.bytes + downstreamBytes }
    /// The participants who are recorded, or whose ended recordings are not on the disk.
    var participantCount: Int { max(1, participants.count, downstream.count) }
    /// Bytes that may wait now.
    var limit: Int { budget.limit(participants: participantCount) }
    /// Bytes that may wait until the recorder's thread next runs on its own; beyond this it is woken. Waking it for each
    /// frame would cost more than writing the frame.
    var batch: Int { min(limit / 16, 2 << 20) }

    func bytes(of participant: ParticipantID) -> Int {
      queuedBytes[participant, default: 0] + downstream[participant, default: 0]
    }
  }

  private let disk: DiskMonitor
  private let pauses: PauseRegistry
  private let state: Mutex<State>

  /// - Parameters:
  ///   - budget: the bytes of frames that may wait, here and in later stages.
  ///   - disk: determines whether the disk is the cause of the wait.
  ///   - pauses: who is paused.
  init(budget: MemoryBudget, disk: DiskMonitor, pauses: PauseRegistry = PauseRegistry(.nobody)) {
    self.disk = disk
    self.pauses = pauses
    state = Mutex(State(budget: budget))
  }

  /// Bytes that may wait now.
  var limit: Int { state.withLock { $0.limit } }

  /// The bytes beyond which the recorder ends what frames wait for: below the half from which frames may be rejected,
  /// and above what participants of 1 Mb/s hold in the three seconds that they wait for sender reports.
  static func shortage(of limit: Int) -> Int { limit / 8 * 3 }

  /// Whether more waits than that.
  var isMemoryShort: Bool { state.withLock { $0.bytes > Self.shortage(of: $0.limit) } }

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
    state.withLock { state in
      if state.participants[participant] == nil { state.participants[participant] = Streams() }
      let isPaused = pauses.begin(participant, name: name)
      return append(
        Entry(participant: participant, step: .begin(name: name, clock, isPaused: isPaused), now: now), to: &state)
    }
  }

  func receive(_ event: MediaEvent, of participant: ParticipantID, now: MonotonicInstant) -> Outcome {
    let stream = event.streamNumber
    return state.withLock { state in
      if stream > 1, let rejected = reject(stream, of: participant, now: now, state: &state) { return rejected }
      if case .frame(let frame) = event { return receive(frame, stream, of: participant, now: now, state: &state) }
      // A description is small, and is not repeated, so it has some more room.
      let limit = event.isDescription ? state.limit / 8 * 9 : state.limit
      if state.bytes > limit { return Outcome() }
      return append(Entry(participant: participant, step: .receive(event, dropped: 0), now: now), to: &state)
    }
  }

  func setPath(_ path: RecordingManifest.NetworkPath, of participant: ParticipantID, now: MonotonicInstant) -> Outcome {
    state.withLock { state in
      guard state.participants[participant] != nil else { return Outcome() }
      return append(Entry(participant: participant, step: .path(path), now: now), to: &state)
    }
  }

  func addProblem(_ sentence: String, of participant: ParticipantID, now: MonotonicInstant) -> Outcome {
    state.withLock { state in
      guard state.participants[participant] != nil else { return Outcome() }
      return append(Entry(participant: participant, step: .problem(sentence), now: now), to: &state)
    }
  }

  func end(_ participant: ParticipantID, reason: RecordingEndReason, now: MonotonicInstant) -> Outcome {
    state.withLock { state in
      let dropped = state.queue.dropper.takeDropped(of: participant)
      if !state.lastRequests.isEmpty {
        state.lastRequests = state.lastRequests.filter { $0.key.participant != participant }
      }
      state.participants[participant] = nil
      pauses.end(participant)
      let step = Step.end(reason, dropped: dropped)
      return append(Entry(participant: participant, step: step, now: now), to: &state)
    }
  }

  func finish(_ ending: EndReason, now: MonotonicInstant) -> Outcome {
    state.withLock { state in
      let dropped = state.queue.dropper.takeAll()
      state.lastRequests = [:]
      let ended = state.participants.keys
      state.participants = [:]
      for participant in ended { pauses.end(participant) }
      return append(
        Entry(participant: ParticipantID(""), step: .finish(ending, dropped: dropped), now: now), to: &state)
    }
  }

  /// Pauses or resumes those of some participants who are recorded here.
  ///
  /// - Parameters:
  ///   - isPaused: whether they are paused from now on.
  ///   - clock: reads the clock. What is in the queue by then arrived before.
  /// - Returns: from when on that holds.
  func setPaused(
    _ isPaused: Bool, _ participants: [ParticipantID], clock: () -> MonotonicInstant
  ) -> (now: MonotonicInstant, outcome: Outcome) {
    state.withLock { state in
      let now = clock()
      var outcome = Outcome()
      for participant in participants where state.participants[participant] != nil {
        let next = append(Entry(participant: participant, step: .pause(isPaused), now: now), to: &state)
        outcome.wakes = outcome.wakes || next.wakes
        outcome.problem = outcome.problem ?? next.problem
      }
      return (now, outcome)
    }
  }

  /// Removes all entries. Afterwards the caller must call `finishBatch`, and may call `reuse`.
  func takeAll() -> CircularBuffer<(element: Entry, bytes: Int)> {
    state.withLock { state in
      state.downstreamBytes += state.queue.bytes
      state.downstream.merge(state.queuedBytes, uniquingKeysWith: +)
      state.queuedBytes.removeAll(keepingCapacity: true)
      let entries = state.queue.takeAll()
      state.isWoken = false
      // If the user was notified of a stall, its start is still needed.
      if !state.isStallReported { state.busySince = entries.isEmpty ? nil : state.newest }
      return entries
    }
  }

  /// Reuses the memory of the buffer that `takeAll` returned.
  func reuse(_ entries: consuming CircularBuffer<(element: Entry, bytes: Int)>) {
    // The entries are released before the lock is taken.
    entries.removeAll(keepingCapacity: true)
    state.withLock { [entries] in $0.queue.reuse(entries) }
  }

  /// Records how many bytes of each participant wait in later stages, after all removed entries have been processed.
  ///
  /// - Returns: the interval in which the thread processed nothing, if the user was notified of it.
  func finishBatch(downstream: [ParticipantID: Int]) -> Stall? {
    let downstreamBytes = downstream.values.reduce(0, +)
    return state.withLock { state in
      var stall: Stall?
      if state.isStallReported, let since = state.busySince, let newest = state.newest {
        stall = Stall(start: since, end: newest, isOfDisk: state.isStalledByDisk)
      }
      state.isStallReported = false
      state.downstreamBytes = downstreamBytes
      state.downstream = downstream
      state.peak = max(state.peak, state.bytes)
      state.busySince = state.queue.isEmpty ? nil : state.newest
      if !state.reportedCauses.isEmpty, state.bytes <= state.limit / 2 { state.reportedCauses = [] }
      return stall
    }
  }

  // MARK: Admission

  /// Returns what to do with an event of a stream that is not recorded, because its participant has too many; nil for an
  /// event that is.
  private func reject(
    _ stream: Int, of participant: ParticipantID, now: MonotonicInstant, state: inout State
  ) -> Outcome? {
    guard let streams = state.participants[participant], !streams.numbers.contains(stream) else { return nil }
    if streams.numbers.count < ParticipantRecordings.maximum - 1 {
      state.participants[participant]?.numbers.insert(stream)
      return nil
    }
    if streams.isExceeded { return Outcome() }
    state.participants[participant]?.isExceeded = true
    let problem = RoomRecorder.Problem.tooManyStreams(participant)
    var outcome = append(Entry(participant: participant, step: .problem(problem.sentence), now: now), to: &state)
    outcome.problem = problem
    return outcome
  }

  private func receive(
    _ frame: EncodedFrame, _ stream: Int, of participant: ParticipantID, now: MonotonicInstant, state: inout State
  ) -> Outcome {
    state.newest = now
    let track = TrackID(of: participant, stream: stream, kind: frame.codec.kind)
    let (limit, busySince) = (state.limit, state.busySince)
    let used = state.bytes
    let needed = used + frame.waitingCost
    let isVideo = frame.codec.kind == .video
    let available = isVideo ? limit / 4 * 3 : limit
    let capacity: FrameDropper.Capacity =
      if needed <= limit / 2 {
        .ample
      } else if needed <= available,
        state.bytes(of: participant) + frame.waitingCost <= available / state.participantCount
      {
        .low
      } else {
        .full
      }
    let admission = state.queue.dropper.admit(frame, of: track) {
      capacity
    } reason: {
      cause(at: now, busySince: busySince)
    }
    switch admission {
    case .admitted(let dropped):
      var frame = frame
      if let dropped { frame.gap = dropped.gap(before: frame.gap) }
      let step = Step.receive(.frame(frame), dropped: dropped?.count ?? 0)
      return append(Entry(participant: participant, step: step, now: now), to: &state)
    case .dropped(let dropped):
      var outcome = Outcome()
      // Later frames of the track only wait for a keyframe, or for the same memory.
      if dropped.count == 1 {
        outcome.problem = overflowProblem(participant, cause: dropped.reason, state: &state)
        if isVideo { state.lastRequests[track] = nil }
      }
      let isDue = state.lastRequests[track].map { now - $0 >= Self.requestInterval } ?? true
      if isVideo, used <= limit / 2, isDue {
        state.lastRequests[track] = now
        outcome.keyframeRequest = track
      }
      outcome.problem = outcome.problem ?? stallProblem(participant, now: now, state: &state)
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
      isUrgent = state.queue.bytes + cost > state.batch
    }
    state.queue.append(entry, bytes: cost)
    state.queuedBytes[entry.participant, default: 0] += cost
    outcome.wakes = isUrgent && !state.isWoken
    if isUrgent { state.isWoken = true }
    state.peak = max(state.peak, state.bytes)
    outcome.problem = stallProblem(entry.participant, now: entry.now, state: &state)
    if state.busySince == nil { state.busySince = entry.now }
    return outcome
  }

  /// Returns why the memory is full.
  private func cause(at now: MonotonicInstant, busySince: MonotonicInstant?) -> MediaGap.Reason {
    if disk.isCause(at: now) { return .diskStalled }
    let isBehind = busySince.map { now - $0 > Self.maximumDelay } ?? false
    return isBehind ? .overloaded : .memoryFull
  }

  // MARK: Messages to the user

  /// Returns the message for the first frame that is rejected for a cause, until there is space again. The disk's
  /// problem explains all that follow.
  private func overflowProblem(
    _ participant: ParticipantID, cause: MediaGap.Reason, state: inout State
  ) -> RoomRecorder.Problem? {
    if state.reportedCauses.contains(.diskStalled) || !state.reportedCauses.insert(cause).inserted { return nil }
    return .memoryIsFull(cause, limit: state.limit, participant: participant)
  }

  private func stallProblem(
    _ participant: ParticipantID, now: MonotonicInstant, state: inout State
  ) -> RoomRecorder.Problem? {
    guard !state.isStallReported, let since = state.busySince, now - since >= Self.stallThreshold else { return nil }
    state.isStallReported = true
    state.isStalledByDisk = disk.isCause(at: now)
    return .nothingIsProcessed(
      for: now - since, isOfDisk: state.isStalledByDisk, limit: state.limit, participant: participant)
  }
}

internal import Media

/// When the next engine must be polled, and how promptly, without a look at each engine.
///
/// It holds what each engine had after its last poll (``PollState/due``, ``PollState/isUrgent``), so
/// ``update(_:now:)`` must follow each change of these. An engine to which something happens in between is queued for a
/// poll.
struct PollSchedule {
  private var deadlines = DeadlineHeap<PeerConnection>()
  private var urgentCount = 0
  /// The engines that were in the first seconds of connecting after their last poll; those seconds may be over.
  private var connecting: [PeerConnection] = []

  /// The number of engines.
  var count: Int { deadlines.count }

  mutating func add(_ engine: PeerConnection) {
    guard engine.pollState.entry == nil else { return }
    engine.pollState.entry = PollState.Entry(slot: deadlines.add(engine))
  }

  mutating func remove(_ engine: PeerConnection) {
    guard let entry = engine.pollState.entry else { return }
    engine.pollState.entry = nil
    deadlines.remove(entry.slot)
    if entry.isUrgent { urgentCount -= 1 }
    if entry.isConnecting { connecting.removeAll { $0 === engine } }
  }

  /// Follows an engine that was polled, or whose next poll is due sooner; ignores one that was removed.
  mutating func update(_ engine: PeerConnection, now: MonotonicInstant) {
    let state = engine.pollState
    guard var entry = state.entry else { return }
    deadlines.set(state.due, of: entry.slot)
    let isUrgent = state.isUrgent
    let begins = !entry.isConnecting && state.isPrompt(now: now)
    guard isUrgent != entry.isUrgent || begins else { return }
    if isUrgent != entry.isUrgent { urgentCount += isUrgent ? 1 : -1 }
    if begins { connecting.append(engine) }
    entry.isUrgent = isUrgent
    if begins { entry.isConnecting = true }
    engine.pollState.entry = entry
  }

  /// Returns an engine whose poll is due; its deadline counts again after ``update(_:now:)``.
  mutating func takeDue(now: MonotonicInstant) -> PeerConnection? { deadlines.takeDue(now: now) }

  /// Returns when an engine must be polled next, and how promptly.
  mutating func timing(now: MonotonicInstant) -> PollTiming {
    PollTiming(deadline: deadlines.earliest, isUrgent: urgentCount > 0, isConnecting: isConnecting(now: now))
  }

  private mutating func isConnecting(now: MonotonicInstant) -> Bool {
    while let engine = connecting.last {
      if engine.pollState.isPrompt(now: now) { return true }
      engine.pollState.entry?.isConnecting = false
      connecting.removeLast()
    }
    return false
  }
}

/// When the next poll is due.
struct PollTiming: Sendable, Hashable {
  /// Nil while nothing is scheduled.
  var deadline: MonotonicInstant?
  /// Whether the deadline must be met to the millisecond.
  var isUrgent = false
  /// Whether any engine is in the first seconds of connecting.
  var isConnecting = false

  mutating func consider(_ due: MonotonicInstant?) {
    guard let due else { return }
    deadline = deadline.map { min($0, due) } ?? due
  }
}

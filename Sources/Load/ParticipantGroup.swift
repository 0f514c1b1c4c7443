internal import Media
internal import Room
internal import Synchronization

/// The publishers and viewers of a load, and their records.
final class ParticipantGroup: Sendable {
  /// The source that all publishers send; nil if there are none.
  let source: (any FrameSource)?

  private struct State {
    var participants: [LoadParticipant] = []
    var records: [ParticipantRecord]
    /// The bandwidth of each publisher's viewers; only for a source that adapts.
    var bandwidths: [Int: ViewerBandwidth] = [:]
    var connected = 0
    /// Those who wait until all are connected; each has a stream of its own, which ends then.
    var waiters: [AsyncStream<Never>.Continuation] = []
    var isOver = false

    mutating func takeWaiters() -> [AsyncStream<Never>.Continuation] {
      defer { waiters = [] }
      return waiters
    }
  }

  private let size: Int
  private let state: Mutex<State>

  init(source: (any FrameSource)?, size: Int) {
    self.source = source
    self.size = size
    state = Mutex(State(records: Array(repeating: ParticipantRecord(), count: size)))
  }

  /// Adds a participant, unless the load is over: then its task is cancelled.
  func add(_ participant: LoadParticipant) {
    state.withLock { state in
      if !state.isOver { state.participants.append(participant) }
    }
  }

  /// Changes the record of a participant.
  func note<Answer: Sendable>(_ index: Int, _ change: (inout ParticipantRecord) -> Answer) -> Answer {
    state.withLock { change(&$0.records[index]) }
  }

  func connected(_ index: Int, _ participant: ParticipantID) {
    let waiters = state.withLock { state in
      let isFirst = !state.records[index].hasConnected
      state.records[index].connected(participant, now: .now)
      if isFirst, state.records[index].hasConnected { state.connected += 1 }
      return state.connected == size ? state.takeWaiters() : []
    }
    for waiter in waiters { waiter.finish() }
  }

  /// Waits until each participant has been connected to someone.
  ///
  /// - Returns: False if the load ended, or the task was cancelled, before that.
  func allConnected() async -> Bool {
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    let isSettled = state.withLock { state in
      if state.connected == size || state.isOver { return true }
      state.waiters.append(continuation)
      return false
    }
    if !isSettled { for await _ in stream {} }
    return state.withLock { $0.connected == size }
  }

  /// Adapts the encoder to the viewers' bandwidth. One encoder serves all publishers.
  func adapt(to estimate: ViewerBandwidth.PathEstimate?, of participant: ParticipantID, _ index: Int) {
    guard let source, source.isLive else { return }
    let estimate = state.withLock { state in
      if let estimate {
        state.bandwidths[index, default: ViewerBandwidth()].set(estimate, of: participant)
      } else {
        state.bandwidths[index]?.remove(participant)
      }
      return ViewerBandwidth.common(of: state.bandwidths.values.flatMap(\.all))
    }
    if let estimate {
      source.adapt(toBitrate: estimate.bitrate, fractionLost: estimate.fractionLost)
    } else {
      source.reset()
    }
  }

  /// Updates the counters of all participants.
  func count() async { await Self.each(of: state.withLock { $0.participants }) { await $0.count() } }

  /// The records of all participants, with the newest counters.
  func records() async -> [ParticipantRecord] {
    await count()
    return state.withLock { $0.records }
  }

  /// Closes all connections, and ends every wait for them. The records stay as they were last counted.
  func leave() async {
    let (participants, waiters) = state.withLock { state in
      // The participants refer to this group.
      defer { state.participants = [] }
      state.isOver = true
      return (state.participants, state.takeWaiters())
    }
    for waiter in waiters { waiter.finish() }
    await Self.each(of: participants) { await $0.leave() }
  }

  private static func each(
    of participants: [LoadParticipant], _ work: @escaping @Sendable (LoadParticipant) async -> Void
  ) async {
    await withTaskGroup(of: Void.self) { group in
      for participant in participants { group.addTask { await work(participant) } }
    }
  }
}

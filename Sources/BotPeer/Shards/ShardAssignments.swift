internal import Media
internal import Synchronization

/// Which shard serves each participant: when a call begins the one that serves the fewest.
///
/// A participant stays with a shard for a minute beyond the end of the connection. Until then calls for them may be on their way to
/// that shard, and a new connection under the same name begins there.
final class ShardAssignments: Sendable {
  /// How long an assignment outlives the connection.
  static let retention = Duration.seconds(60)
  /// Assignments that are looked through for those that are to be forgotten.
  private static let fewest = 64

  private struct Entry {
    var shard: Int
    /// When the connection ended; nil while there is one, or one may begin.
    var ended: ContinuousClock.Instant?
  }

  private struct State {
    var entries: [ParticipantID: Entry] = [:]
    /// How many participants each shard serves.
    var counts: [Int]
    /// Entries from which on it is worth to look for old ones.
    var limit = ShardAssignments.fewest

    mutating func begin(_ participant: ParticipantID) {
      guard let entry = entries[participant], entry.ended != nil else { return }
      entries[participant]?.ended = nil
      counts[entry.shard] += 1
    }

    mutating func forgetOld(now: ContinuousClock.Instant) {
      if entries.count < limit { return }
      entries = entries.filter { _, entry in entry.ended.map { now - $0 < ShardAssignments.retention } ?? true }
      limit = max(ShardAssignments.fewest, entries.count * 2)
    }
  }

  private let state: Mutex<State>

  /// - Parameter count: of shards, at least 1.
  init(count: Int) {
    state = Mutex(State(counts: Array(repeating: 0, count: max(1, count))))
  }

  /// The shard that serves a participant; nil if none does.
  func shard(of participant: ParticipantID) -> Int? {
    state.withLock { $0.counts.count == 1 ? 0 : $0.entries[participant]?.shard }
  }

  /// The shard that serves a participant, from now on if none did.
  func assign(_ participant: ParticipantID, now: ContinuousClock.Instant = .now) -> Int {
    state.withLock { state in
      if state.counts.count == 1 { return 0 }
      if let known = state.entries[participant] {
        state.begin(participant)
        return known.shard
      }
      state.forgetOld(now: now)
      let fewest = state.counts.indices.min { state.counts[$0] < state.counts[$1] } ?? 0
      state.entries[participant] = Entry(shard: fewest)
      state.counts[fewest] += 1
      return fewest
    }
  }

  /// A shard has a connection to the participant.
  func connectionBegan(_ participant: ParticipantID) { state.withLock { $0.begin(participant) } }

  /// A shard has no connection to the participant any more, or none was established.
  func connectionEnded(_ participant: ParticipantID, now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      guard let entry = state.entries[participant], entry.ended == nil else { return }
      state.entries[participant]?.ended = now
      state.counts[entry.shard] -= 1
    }
  }
}

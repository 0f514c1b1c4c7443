package import Media
internal import Synchronization

/// The assignment of participants to shards: a new call goes to the shard with the fewest participants.
///
/// A participant stays with a shard for a minute after the end of the connection. Until then calls for the participant
/// may be queued on that shard, and a new connection under the same id begins there.
package final class ShardAssignments: Sendable {
  /// How long an assignment stays after the end of the connection.
  static let retention = Duration.seconds(60)
  /// The number of assignments from which expired ones are removed.
  private static let fewest = 64

  private struct Entry {
    var shard: Int
    /// The time at which the connection ended; nil while there is one or one may begin.
    var ended: MonotonicInstant?
  }

  private struct State {
    var entries: [ParticipantID: Entry] = [:]
    /// The number of participants of each shard.
    var counts: [Int]
    /// The number of entries from which expired ones are searched.
    var limit = ShardAssignments.fewest

    mutating func begin(_ participant: ParticipantID) {
      guard let entry = entries[participant], entry.ended != nil else { return }
      entries[participant]?.ended = nil
      counts[entry.shard] += 1
    }

    mutating func forgetOld(now: MonotonicInstant) {
      if entries.count < limit { return }
      entries = entries.filter { _, entry in entry.ended.map { now - $0 < ShardAssignments.retention } ?? true }
      limit = max(ShardAssignments.fewest, entries.count * 2)
    }
  }

  private let state: Mutex<State>

  /// - Parameter count: the number of shards, at least 1.
  package init(count: Int) {
    state = Mutex(State(counts: Array(repeating: 0, count: max(1, count))))
  }

  /// Returns the shard of a participant, or nil if there is none.
  package func shard(of participant: ParticipantID) -> Int? {
    state.withLock { $0.counts.count == 1 ? 0 : $0.entries[participant]?.shard }
  }

  /// Returns some participants by their shard, in the given order; those who have none are left out.
  package func byShard(_ participants: [ParticipantID]) -> [Int: [ParticipantID]] {
    state.withLock { state in
      var found: [Int: [ParticipantID]] = [:]
      for participant in participants {
        if let shard = state.entries[participant]?.shard { found[shard, default: []].append(participant) }
      }
      return found
    }
  }

  /// Returns the shard of a participant, and assigns one if there is none.
  package func assign(_ participant: ParticipantID, now: MonotonicInstant = .now) -> Int {
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

  /// Records that a shard has a connection to the participant.
  package func connectionBegan(_ participant: ParticipantID) { state.withLock { $0.begin(participant) } }

  /// Records that a shard has no connection to the participant any more, or that none was established.
  package func connectionEnded(_ participant: ParticipantID, now: MonotonicInstant = .now) {
    state.withLock { state in
      guard let entry = state.entries[participant], entry.ended == nil else { return }
      state.entries[participant]?.ended = now
      state.counts[entry.shard] -= 1
    }
  }
}

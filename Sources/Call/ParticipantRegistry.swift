package import Media
package import Recorder
internal import Signalling
internal import Synchronization

/// The participants of a call, and what becomes of it: the state that signalling, peer and player share.
///
/// It uses a lock because the peer's event loop queries it synchronously, which an actor does not allow.
package final class ParticipantRegistry: Sendable {
  private struct State {
    var ownID: ParticipantID?
    /// The announcements with a name or a restricted direction.
    var announcements: [ParticipantID: SignalledParticipant] = [:]
    /// The participants who may not be there yet. One who leaves without a connection stays here, because their call ends
    /// later than that.
    var expected: Set<ParticipantID> = []
    var hasConnected = false
    var recordings: [RecordingSummary] = []
    var recordingsForgotten = 0
    /// Bytes of the media files of all recordings that have ended.
    var recordedBytes: Int64 = 0
    var recordingProblem: RoomRecorder.Problem?
    /// The kinds of what we publish that a media server rejects.
    var rejectedKinds: [ParticipantID: Set<MediaKind>] = [:]
    var endReason: RoomCall.EndReason?
    /// Who waits until we are admitted or the call ends.
    var waiting: [CheckedContinuation<RoomCall.EndReason?, Never>] = []
  }

  private let state = Mutex(State())
  private let connections: AsyncStream<Void>
  private let connection: AsyncStream<Void>.Continuation
  private let ends: AsyncStream<RoomCall.EndReason>
  private let endContinuation: AsyncStream<RoomCall.EndReason>.Continuation

  package init() {
    (ends, endContinuation) = AsyncStream.makeStream(of: RoomCall.EndReason.self, bufferingPolicy: .bufferingOldest(1))
    (connections, connection) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Stores our id.
  func joined(as id: ParticipantID) {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.ownID = id
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: nil) }
  }

  /// Waits until the server has admitted us.
  ///
  /// - Returns: why the call ended before; nil if we were admitted.
  func admission() async -> RoomCall.EndReason? {
    await withCheckedContinuation { continuation in
      let decided = state.withLock { state -> RoomCall.EndReason?? in
        if state.ownID != nil { return .some(nil) }
        if let reason = state.endReason { return reason }
        state.waiting.append(continuation)
        return nil
      }
      if let decided { continuation.resume(returning: decided) }
    }
  }

  /// Our id; nil before the server has assigned one.
  var ownID: ParticipantID? { state.withLock { $0.ownID } }

  /// Asks for the end of the call; only the first reason counts.
  package func end(_ reason: RoomCall.EndReason) { endContinuation.yield(reason) }

  /// Waits until the end of the call is asked for, and returns why; nil if the task is cancelled before. For one caller.
  package func firstEnd() async -> RoomCall.EndReason? {
    for await reason in ends { return reason }
    return nil
  }

  /// Stores why the call ends.
  func ends(because reason: RoomCall.EndReason) {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.endReason = reason
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: reason) }
  }

  /// Why the call ends; nil while it lasts.
  var endReason: RoomCall.EndReason? { state.withLock { $0.endReason } }

  /// Stores what the signalling says of a participant.
  func announced(_ participant: SignalledParticipant) {
    state.withLock { state in
      if !participant.isExpected {
        state.expected.remove(participant.id)
      } else if state.expected.count < Self.maximumAnnouncements {
        state.expected.insert(participant.id)
      }
      guard participant.name != nil || participant.direction != .sendReceive,
        state.announcements.count < Self.maximumAnnouncements
      else { return }
      state.announcements[participant.id] = participant
    }
  }

  /// What the signalling said of a participant, if that was more than an id.
  func announcement(of participant: ParticipantID) -> SignalledParticipant? {
    state.withLock { $0.announcements[participant] }
  }

  /// Stores that a media server rejects a kind of what we publish, and returns all kinds that it rejects.
  package func rejected(_ kind: MediaKind, by participant: ParticipantID) -> Set<MediaKind> {
    state.withLock { state in
      // We publish to one server at a time.
      if state.rejectedKinds[participant] == nil { state.rejectedKinds = [:] }
      state.rejectedKinds[participant, default: []].insert(kind)
      return state.rejectedKinds[participant, default: []]
    }
  }

  /// Forgets what the signalling said of a participant who has left the room.
  func left(_ participant: ParticipantID) { state.withLock { $0.announcements[participant] = nil } }

  /// Whether a participant may not be there yet.
  func isExpected(_ participant: ParticipantID) -> Bool { state.withLock { $0.expected.contains(participant) } }

  func connected(_ participant: ParticipantID) {
    state.withLock { state in
      state.hasConnected = true
      state.expected.remove(participant)
    }
    connection.yield()
  }

  /// Whether any participant was ever connected.
  var hasConnected: Bool { state.withLock { $0.hasConnected } }

  /// Waits until the first participant is connected.
  func firstConnection() async {
    for await _ in connections { return }
  }

  package func recorded(_ summary: RecordingSummary) {
    state.withLock { state in
      state.recordings.append(summary)
      state.recordedBytes = summary.manifest.files.reduce(state.recordedBytes) { $0 &+ $1.bytes }
      guard state.recordings.count > Self.maximumRecordings + Self.maximumRecordings / 10 else { return }
      let surplus = state.recordings.count - Self.maximumRecordings
      state.recordings.removeFirst(surplus)
      state.recordingsForgotten += surplus
    }
  }

  /// The bytes of the media files of all recordings that have ended.
  package var recordedBytes: Int64 { state.withLock { $0.recordedBytes } }

  func recordingFailed(_ problem: RoomRecorder.Problem) {
    state.withLock { state in
      // A disk failure needs the user's attention, so it replaces any other problem.
      if let known = state.recordingProblem, known.kind == .lost || problem.kind != .lost { return }
      state.recordingProblem = problem
    }
  }

  /// The first problem with a recording; a disk failure takes precedence over any other.
  var recordingProblem: RoomRecorder.Problem? { state.withLock { $0.recordingProblem } }

  /// The summaries of the newest recordings, in the order in which they ended, for the report at the end.
  package var recordings: [RecordingSummary] { state.withLock { $0.recordings } }

  /// The number of recordings that ended before the first of `recordings`.
  package var recordingsForgotten: Int { state.withLock { $0.recordingsForgotten } }

  static let maximumAnnouncements = 4_096
  /// Bounds the memory when participants join and leave for days.
  package static let maximumRecordings = 1_000
}

import BotPeer
import Media
import Recorder
import Synchronization

/// Who takes part: the little that signalling, peer and player have to know of each other.
///
/// Guarded by a lock because the peer's event loop asks it, and an actor cannot answer at once.
final class ParticipantRegistry: Sendable {
  private struct State {
    var ownID = ""
    var participants: Set<ParticipantID> = []
    /// Those who have a call with us under the id that we had before.
    var toBeCalledAgain: Set<ParticipantID> = []
    var recordings: [RecordingSummary] = []
    var recordingsForgotten = 0
    var recordingProblem: CallFailure?
  }

  private let state = Mutex(State())
  private let connections: AsyncStream<Void>
  private let connection: AsyncStream<Void>.Continuation

  init() {
    (connections, connection) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Notes our id; whether it is another than before.
  func joined(as id: String) -> Bool {
    state.withLock { state in
      defer { state.ownID = id }
      return !state.ownID.isEmpty && state.ownID != id
    }
  }

  /// Whether we give way when both sides offer at once: the one with the smaller id does, so that exactly one side will.
  func isPolite(towards participant: ParticipantID) -> Bool {
    state.withLock { $0.ownID < participant.text }
  }

  /// Notes a participant; false if there is a call with them already.
  func begin(_ participant: ParticipantID) -> Bool {
    state.withLock { $0.participants.insert(participant).inserted }
  }

  /// Notes that a call has ended.
  ///
  /// - Returns: whether the participant is to be called again.
  func end(_ participant: ParticipantID) -> Bool {
    state.withLock { state in
      state.participants.remove(participant)
      return state.toBeCalledAgain.remove(participant) != nil
    }
  }

  /// Notes that a participant waits for a call from us once the present one has ended.
  func callAgainAfterEnd(_ participant: ParticipantID) {
    state.withLock { _ = $0.toBeCalledAgain.insert(participant) }
  }

  func forgetCallingAgain(_ participant: ParticipantID) {
    state.withLock { _ = $0.toBeCalledAgain.remove(participant) }
  }

  func connected() {
    connection.yield()
  }

  /// Waits until somebody has been connected.
  func firstConnection() async {
    for await _ in connections { return }
  }

  func recorded(_ summary: RecordingSummary) {
    state.withLock { state in
      state.recordings.append(summary)
      guard state.recordings.count > Self.maximumRecordings + Self.maximumRecordings / 10 else { return }
      let surplus = state.recordings.count - Self.maximumRecordings
      state.recordings.removeFirst(surplus)
      state.recordingsForgotten += surplus
    }
  }

  func recordingFailed(_ failure: CallFailure) {
    state.withLock { state in
      // A disk needs somebody to look after it, whatever else there was.
      if let known = state.recordingProblem, known.code == .disk || failure.code != .disk { return }
      state.recordingProblem = failure
    }
  }

  /// The first thing that went wrong with a recording; a failure of the disk comes before any other.
  var recordingProblem: CallFailure? { state.withLock { $0.recordingProblem } }

  /// What was recorded, in the order in which it ended: the newest of what is too much to be kept for a report at the end.
  var recordings: [RecordingSummary] { state.withLock { $0.recordings } }

  /// How many recordings ended before the first of `recordings`.
  var recordingsForgotten: Int { state.withLock { $0.recordingsForgotten } }

  /// Somebody who joins and leaves for days must not fill the memory.
  static let maximumRecordings = 1_000
}

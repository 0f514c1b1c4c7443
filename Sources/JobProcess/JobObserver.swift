internal import BotPeer
internal import Call
internal import JobProtocol
internal import Media
internal import Recorder
internal import Signalling
internal import Synchronization

/// Notes in the journal what happens in a call, and passes everything to another observer, if there is one.
final class JobObserver: RoomCallObserver {
  private struct State: Sendable {
    /// The users who are there, with their names.
    var present: [ParticipantID: String?] = [:]
    /// Those who are there by their connection alone, because the signalling did not say that they are.
    var byConnection: Set<ParticipantID> = []
    /// The users who are no media servers and may not be there yet.
    var expected: [ParticipantID: String?] = [:]
    var streams = AnnouncedStreams()
    var hasJoined = false
    /// Limit what somebody who joins again and again writes into the journal.
    var arrivals = TokenBucket(burst: 10_000, interval: .seconds(1))
    var problems = TokenBucket(burst: 1_000, interval: .seconds(10))
    /// The users whose arrival was left out of the journal, so that their leaving is, too.
    var unnoted: Set<ParticipantID> = []
  }

  /// The maximum number of users that are kept.
  private static let maximumUsers = 100_000
  /// The maximum length of an id in the journal, in bytes.
  static let maximumID = 1_024

  private let inner: (any RoomCallObserver)?
  private let journal: JobJournal
  private let files: ClosedFiles
  private let hasJoined: @Sendable () -> Void
  private let leaves: @Sendable (RoomCall.EndReason) -> Void
  private let finished: @Sendable (RecordingSummary) -> Void
  private let isLost: @Sendable (RoomRecorder.Problem) -> Void
  private let isPaused: @Sendable (ParticipantID) -> Bool
  private let keyframes: LastKeyframes
  private let state = Mutex(State())

  /// - Parameters:
  ///   - inner: gets all that this one gets.
  ///   - hasJoined: called when the server admits us.
  ///   - leaves: called with the reason when the call ends.
  ///   - finished: called with each finished recording.
  ///   - isPaused: whether a user is paused.
  ///   - isLost: called when the disk does not accept a part of a recording.
  init(
    _ inner: (any RoomCallObserver)?, journal: JobJournal, files: ClosedFiles, keyframes: LastKeyframes,
    isPaused: @escaping @Sendable (ParticipantID) -> Bool, hasJoined: @escaping @Sendable () -> Void,
    leaves: @escaping @Sendable (RoomCall.EndReason) -> Void,
    finished: @escaping @Sendable (RecordingSummary) -> Void, isLost: @escaping @Sendable (RoomRecorder.Problem) -> Void
  ) {
    self.inner = inner
    self.journal = journal
    self.files = files
    self.keyframes = keyframes
    self.hasJoined = hasJoined
    self.leaves = leaves
    self.finished = finished
    self.isLost = isLost
    self.isPaused = isPaused
  }

  /// The users who are there, with their names.
  var users: [ParticipantID: String?] { state.withLock { $0.present } }

  /// The name of a user who is there; nil if they have none, or are not there.
  func name(of user: ParticipantID) -> String? { state.withLock { $0.present[user] ?? nil } }

  /// Whether a user has stopped all streams.
  func hasStopped(_ user: ParticipantID) -> Bool { state.withLock { $0.streams.hasStopped(user) } }

  // MARK: The room

  func received(_ event: SignallingEvent, at now: ContinuousClock.Instant) {
    inner?.received(event, at: now)
    switch event {
    case .joined(let you, let others):
      let isFirst = state.withLock { state in
        defer { state.hasJoined = true }
        return !state.hasJoined
      }
      if isFirst { hasJoined() }
      journal.append(.joined(user: you.text.prefix(utf8Bytes: Self.maximumID)))
      let here = Set(others.map(\.id))
      // Those who left while the server was lost.
      for user in state.withLock({ state in
        state.present.keys.filter { !here.contains($0) && !state.byConnection.contains($0) }
      }) {
        left(user)
      }
      for other in others { announced(other) }
    case .participantJoined(let participant): announced(participant)
    case .participantLeft(let user, _): left(user)
    case .message, .iceServers, .connectionLost, .rejected, .closed: break
    }
  }

  private func announced(_ participant: SignalledParticipant) {
    // A media server that only receives what we publish is nobody.
    if participant.direction == .sendOnly { return }
    if participant.isExpected {
      state.withLock { state in
        if state.expected.count < Self.maximumUsers { state.expected[participant.id] = participant.name }
      }
      return
    }
    joined(participant.id, name: participant.name)
  }

  private func joined(_ user: ParticipantID, name: String?, byConnection: Bool = false) {
    let name = name.flatMap { DisplayName($0)?.description }
    let isNew = state.withLock { state in
      if !byConnection { state.byConnection.remove(user) }
      guard state.present[user] == nil, state.present.count < Self.maximumUsers else { return false }
      state.present[user] = .some(name)
      if byConnection { state.byConnection.insert(user) }
      if state.arrivals.consume(now: .now) { return true }
      state.unnoted.insert(user)
      journal.leaveOut()
      return false
    }
    if isNew { journal.append(.participantJoined(Self.participant(user, name))) }
  }

  private func left(_ user: ParticipantID) {
    let name = state.withLock { state -> String?? in
      state.streams.forget(user)
      state.expected[user] = nil
      state.byConnection.remove(user)
      let name = state.present.removeValue(forKey: user)
      return state.unnoted.remove(user) == nil ? name : nil
    }
    keyframes.forget(user)
    if let name { journal.append(.participantLeft(Self.participant(user, name))) }
  }

  private static func participant(_ user: ParticipantID, _ name: String?) -> JournalEvent.Participant {
    JournalEvent.Participant(user: user.text.prefix(utf8Bytes: maximumID), name: name)
  }

  func received(_ event: PeerEvent, of participant: ParticipantID, at now: ContinuousClock.Instant) {
    inner?.received(event, of: participant, at: now)
    switch event {
    case .stateChanged(.connected):
      let expected = state.withLock { $0.expected[participant] }
      if let expected { joined(participant, name: expected, byConnection: true) }
    case .ended:
      let wasByConnection = state.withLock { $0.byConnection.contains(participant) }
      if wasByConnection { left(participant) }
    default: break
    }
  }

  // MARK: Media

  func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    inner?.receive(event, of: participant, now: now)
    note(event, of: participant)
  }

  func receive(_ events: [MediaEvent], of participant: ParticipantID, now: ContinuousClock.Instant) {
    inner?.receive(events, of: participant, now: now)
    for event in events { note(event, of: participant) }
  }

  private func note(_ event: MediaEvent, of participant: ParticipantID) {
    switch event {
    case .frame(let frame):
      if frame.isKeyframe, frame.codec.kind == .video, !isPaused(participant) { keyframes.note(frame, of: participant) }
    case .described(let stream):
      state.withLock { $0.streams.note(stream, of: participant) }
    case .clock, .recovering, .statistics: break
    }
  }

  func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant) { inner?.sent(frame, at: now) }
  func exchanged(_ message: RoomCall.ChatMessage, at now: ContinuousClock.Instant) {
    inner?.exchanged(message, at: now)
  }

  // MARK: Recordings

  func recorded(_ recording: RecordingSummary) {
    inner?.recorded(recording)
    finished(recording)
    files.add(recording)
  }

  func finished(_ segment: RecordedSegment) {
    inner?.finished(segment)
    files.add(segment)
  }

  func received(_ problem: RoomRecorder.Problem) {
    inner?.received(problem)
    if state.withLock({ $0.problems.consume(now: .now) }) {
      journal.append(
        .problem(user: problem.participant.text.prefix(utf8Bytes: Self.maximumID), sentence: problem.sentence))
    } else {
      journal.leaveOut()
    }
    if problem.kind == .lost { isLost(problem) }
  }

  // MARK: The end

  func leaving(at now: ContinuousClock.Instant, because reason: RoomCall.EndReason) {
    inner?.leaving(at: now, because: reason)
    leaves(reason)
  }

  func watch(_ peer: Peer) async -> String? { await inner?.watch(peer) }
}

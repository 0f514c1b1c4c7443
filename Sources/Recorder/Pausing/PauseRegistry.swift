import Media
import Synchronization

/// Which participants of a recorder are paused: those who are there, and those who may come.
///
/// A participant who is paused by id stays paused when they come back under another id with the same name. One who is resumed by id
/// is resumed only under that id, since others may take the name. The recorders of a group share one.
final class PauseRegistry: Sendable {
  private let state: Mutex<PauseState>
  /// One pause or resume at a time, so that the queues of all recorders get them in the same order.
  private let changing = Mutex(())

  init(_ paused: PausedUsers) {
    state = Mutex(PauseState(paused: paused))
  }

  /// Who is paused, and who will be when they come.
  var paused: PausedUsers { state.withLock { $0.paused } }

  /// The participants who are recorded and paused.
  var pausedParticipants: Set<ParticipantID> { state.withLock { $0.pausedParticipants } }

  /// Whether a participant is paused; one who is not recorded, if their id is.
  func isPaused(_ participant: ParticipantID) -> Bool { state.withLock { $0.isPaused(participant) } }

  /// Notes that a participant is recorded from now on.
  ///
  /// - Returns: whether they are paused.
  func begin(_ participant: ParticipantID, name: String?) -> Bool {
    state.withLock { $0.begin(participant, name: name) }
  }

  /// Notes that a participant is not recorded any more.
  func end(_ participant: ParticipantID) { state.withLock { $0.end(participant) } }

  /// Pauses or resumes users, by ids or names; nil for everybody.
  ///
  /// - Parameter carryOut: called with the participants for whom that changes something.
  func setPaused<Result>(
    _ isPaused: Bool, users: Set<String>?, _ carryOut: ([ParticipantID]) -> Result
  ) -> Result {
    changing.withLock { _ in
      carryOut(state.withLock { isPaused ? $0.pause(users) : $0.resume(users) })
    }
  }
}

/// The state of a ``PauseRegistry``.
private struct PauseState: Sendable {
  private struct Present: Sendable {
    var name: String?
    var isPaused: Bool
  }

  /// Who is paused.
  private(set) var paused: PausedUsers
  private var present: [ParticipantID: Present] = [:]
  /// The participants who were paused by id before they came, and whose names are paused, too.
  private var named: Set<ParticipantID> = []

  init(paused: PausedUsers) {
    self.paused = paused
  }

  /// Notes that a participant is recorded from now on.
  ///
  /// - Returns: whether they are paused.
  mutating func begin(_ participant: ParticipantID, name: String?) -> Bool {
    if let known = present[participant] { return known.isPaused }
    let isPaused = paused.contains(participant.text, name: name)
    // They may come back under another id. One name only: somebody who takes many of them pauses nobody else.
    if let name, !paused.all, paused.users.contains(participant.text), named.insert(participant).inserted {
      paused.pause(name)
    }
    present[participant] = Present(name: name, isPaused: isPaused)
    return isPaused
  }

  /// Notes that a participant is not recorded any more.
  mutating func end(_ participant: ParticipantID) { present[participant] = nil }

  /// Whether a participant who is recorded is paused.
  func isPaused(_ participant: ParticipantID) -> Bool {
    present[participant]?.isPaused ?? paused.contains(participant.text)
  }

  /// The participants who are recorded and paused.
  var pausedParticipants: Set<ParticipantID> { Set(present.filter(\.value.isPaused).keys) }

  /// Pauses users.
  ///
  /// - Parameter users: their ids or names; nil for everybody, also those who come later.
  /// - Returns: the participants who were recorded until now.
  mutating func pause(_ users: Set<String>?) -> [ParticipantID] {
    guard let users else {
      paused = .everybody
      return change(Array(present.keys), to: true)
    }
    let matching = participants(users)
    let pausedEverybody = paused.all
    for user in users { paused.pause(user) }
    for participant in matching {
      paused.pause(participant.text)
      if let name = present[participant]?.name { paused.pause(name) }
    }
    // There were too many to list.
    return change(paused.all == pausedEverybody ? matching : Array(present.keys), to: true)
  }

  /// Resumes users.
  ///
  /// - Parameter users: their ids or names; nil for everybody.
  /// - Returns: the participants who were paused until now.
  mutating func resume(_ users: Set<String>?) -> [ParticipantID] {
    guard let users else {
      paused = .nobody
      return change(Array(present.keys), to: false)
    }
    let matching = participants(users)
    for user in users { paused.resume(user) }
    if !paused.all {
      for participant in matching {
        paused.resume(participant.text)
        if let name = present[participant]?.name { paused.resume(name) }
      }
    }
    let changed = change(matching, to: false)
    // Another participant of the same name stays paused, also when they come back.
    if !paused.all {
      for (participant, state) in present where state.isPaused {
        paused.pause(participant.text)
        if let name = state.name { paused.pause(name) }
      }
    }
    return changed
  }

  /// The participants who are there with these ids, and those with these names where nobody has the id.
  private func participants(_ users: Set<String>) -> [ParticipantID] {
    present.filter { id, state in
      if users.contains(id.text) { return true }
      guard let name = state.name, users.contains(name) else { return false }
      return present[ParticipantID(name)] == nil
    }.map(\.key)
  }

  private mutating func change(_ participants: [ParticipantID], to isPaused: Bool) -> [ParticipantID] {
    let changed = participants.filter { present[$0]?.isPaused == !isPaused }
    for participant in changed { present[participant]?.isPaused = isPaused }
    return changed.sorted { $0.text < $1.text }
  }
}

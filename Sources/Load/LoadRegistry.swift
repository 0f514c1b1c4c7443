internal import Media
package import Signalling
internal import Synchronization

/// The ids of this process's participants: publishers do not call each other unless they receive, viewers never call each other.
///
/// The server announces a new participant to the whole room, possibly before another participant of ours has learnt their
/// own id. So a participant that sees an unknown id waits for all of ours that were joining at that moment; the server's
/// answers to them are already being sent.
package final class LoadRegistry: Sendable {
  private struct State {
    /// The roles of the ids.
    var ids: [String: LoadRole] = [:]
    var joining: Set<Int> = []
    var waiting: [(for: Set<Int>, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())
  private let callEachOther: Bool
  private let publishers: Int

  /// - Parameters:
  ///   - callEachOther: Whether publishers call each other.
  ///   - publishers: The number of publishers; participants with an index from this on are viewers.
  package init(callEachOther: Bool, publishers: Int = .max) {
    self.callEachOther = callEachOther
    self.publishers = publishers
  }

  private func role(of index: Int) -> LoadRole { index < publishers ? .publisher : .viewer }

  /// The number of participants that wait for the ids of others.
  package var waiting: Int { state.withLock { $0.waiting.count } }

  /// Registers that a participant starts to join.
  package func begins(_ index: Int) {
    state.withLock { _ = $0.joining.insert(index) }
  }

  /// Registers that a participant has joined with the given id.
  package func joined(_ index: Int, as id: String) {
    let role = role(of: index)
    settle(index) { state in
      // The id of a lost connection to the server stays registered, because others may still use it.
      state.ids[id] = role
    }
  }

  /// Registers that a participant will not join.
  package func gaveUp(_ index: Int) {
    settle(index) { _ in }
  }

  /// Returns an event of a participant's signalling without those whom it must not call; nil if it concerns only one of these.
  package func filter(_ event: SignallingEvent, of index: Int) async -> SignallingEvent? {
    switch event {
    case .joined(let id, let others):
      joined(index, as: id.text)
      let callees = Set(await callees(among: others.map(\.id.text), of: index))
      return .joined(id: id, others: others.filter { callees.contains($0.id.text) })
    case .participantJoined(let participant):
      return mustNotCall(participant.id.text, of: index) ? nil : event
    case .message(let message, let id):
      // They answer what we offered before we knew them.
      if case .answer = message { return event }
      return mustNotCall(id.text, of: index) ? nil : event
    case .participantLeft, .iceServers, .connectionLost, .rejected, .closed:
      return event
    }
  }

  /// Whether the id belongs to one of our participants, whom the one with the index must not call.
  package func mustNotCall(_ id: String, of index: Int = 0) -> Bool {
    let role = role(of: index)
    guard let other = state.withLock({ $0.ids[id] }) else { return false }
    return mustNotCall(other, role)
  }

  private func mustNotCall(_ other: LoadRole, _ role: LoadRole) -> Bool {
    switch (role, other) {
    case (.publisher, .publisher): !callEachOther
    case (.viewer, .viewer): true
    case (.publisher, .viewer), (.viewer, .publisher): false
    }
  }

  /// Returns the participants of a room that the one with the index calls.
  package func callees(among others: [String], of index: Int = 0) async -> [String] {
    let role = role(of: index)
    if !mustNotCall(role, role) { return others }
    await withCheckedContinuation { continuation in
      let isSettled = state.withLock { state in
        if state.joining.isEmpty || others.allSatisfy({ state.ids[$0] != nil }) { return true }
        state.waiting.append((for: state.joining, continuation))
        return false
      }
      if isSettled { continuation.resume() }
    }
    return state.withLock { state in
      others.filter { id in !(state.ids[id].map { mustNotCall($0, role) } ?? false) }
    }
  }

  private func settle(_ index: Int, _ change: (inout State) -> Void) {
    let ready = state.withLock { state in
      change(&state)
      state.joining.remove(index)
      let ready = state.waiting.filter { $0.for.isDisjoint(with: state.joining) }
      state.waiting.removeAll { $0.for.isDisjoint(with: state.joining) }
      return ready
    }
    for waiter in ready { waiter.continuation.resume() }
  }
}

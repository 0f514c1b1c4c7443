internal import Media
package import Signalling
internal import Synchronization

/// The ids of this process's publishers, which do not call each other unless they receive.
///
/// The server announces a new participant to the whole room, possibly before another publisher of ours has learnt its own
/// id. So a publisher that sees an unknown id waits for all publishers that were joining at that moment; the server's
/// answers to them are already being sent.
package final class PublisherRegistry: Sendable {
  private struct State {
    var ids: Set<String> = []
    var joining: Set<Int> = []
    var waiting: [(for: Set<Int>, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())
  private let callEachOther: Bool

  package init(callEachOther: Bool) {
    self.callEachOther = callEachOther
  }

  /// Registers that a publisher starts to join.
  package func begins(_ publisher: Int) {
    state.withLock { _ = $0.joining.insert(publisher) }
  }

  /// Registers that a publisher has joined with the given id.
  package func joined(_ publisher: Int, as id: String) {
    settle(publisher) { state in
      // The id of a lost connection to the server stays registered, because others may still use it.
      state.ids.insert(id)
    }
  }

  /// Registers that a publisher will not join.
  package func gaveUp(_ publisher: Int) {
    settle(publisher) { _ in }
  }

  /// Returns an event of a publisher's signalling without participants that it leaves alone; nil if it concerns only one of
  /// these.
  package func filter(_ event: SignallingEvent, of publisher: Int) async -> SignallingEvent? {
    switch event {
    case .joined(let id, let others):
      joined(publisher, as: id.text)
      let callees = Set(await callees(among: others.map(\.id.text)))
      return .joined(id: id, others: others.filter { callees.contains($0.id.text) })
    case .participantJoined(let participant):
      return leavesAlone(participant.id.text) ? nil : event
    case .message(let message, let id):
      // They answer what we offered before we knew them.
      if case .answer = message { return event }
      return leavesAlone(id.text) ? nil : event
    case .participantLeft, .iceServers, .connectionLost, .rejected, .closed:
      return event
    }
  }

  /// Whether the id belongs to one of our publishers, which others must not call.
  package func leavesAlone(_ id: String) -> Bool {
    !callEachOther && state.withLock { $0.ids.contains(id) }
  }

  /// Returns the participants of a room that a publisher calls.
  package func callees(among others: [String]) async -> [String] {
    if callEachOther { return others }
    await withCheckedContinuation { continuation in
      let isSettled = state.withLock { state in
        if state.joining.isEmpty || state.ids.isSuperset(of: others) { return true }
        state.waiting.append((for: state.joining, continuation))
        return false
      }
      if isSettled { continuation.resume() }
    }
    return state.withLock { state in others.filter { !state.ids.contains($0) } }
  }

  private func settle(_ publisher: Int, _ change: (inout State) -> Void) {
    let ready = state.withLock { state in
      change(&state)
      state.joining.remove(publisher)
      let ready = state.waiting.filter { $0.for.isDisjoint(with: state.joining) }
      state.waiting.removeAll { $0.for.isDisjoint(with: state.joining) }
      return ready
    }
    for waiter in ready { waiter.continuation.resume() }
  }
}

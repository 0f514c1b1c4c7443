import Synchronization

/// The ids of the publishers of this process, who do not call each other unless they are to receive.
///
/// Who joins is told of everybody in the room, maybe before another publisher of ours has learnt its own id. So anyone who sees
/// somebody unknown waits until those have settled who were joining at that moment; their answer is on its way already.
final class PublisherRegistry: Sendable {
  private struct State {
    var ids: Set<String> = []
    var newest: [Int: String] = [:]
    var joining: Set<Int> = []
    var waiting: [(for: Set<Int>, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())
  private let callEachOther: Bool

  init(callEachOther: Bool) {
    self.callEachOther = callEachOther
  }

  /// A publisher is about to join.
  func begins(_ publisher: Int) {
    state.withLock { _ = $0.joining.insert(publisher) }
  }

  /// A publisher is in the room under this id.
  func joined(_ publisher: Int, as id: String) {
    settle(publisher) { state in
      // The id of a lost connection to the server stays ours: others may still speak of it.
      state.ids.insert(id)
      state.newest[publisher] = id
    }
  }

  /// A publisher's own id; empty before it has joined.
  func id(of publisher: Int) -> String {
    state.withLock { $0.newest[publisher] ?? "" }
  }

  /// A publisher will not come.
  func gaveUp(_ publisher: Int) {
    settle(publisher) { _ in }
  }

  /// Whether somebody is one of ours whom the others leave alone.
  func leavesAlone(_ id: String) -> Bool {
    !callEachOther && state.withLock { $0.ids.contains(id) }
  }

  /// Those of a room whom one of ours calls.
  func callees(among others: [String]) async -> [String] {
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

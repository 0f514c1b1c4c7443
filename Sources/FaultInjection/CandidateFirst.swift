internal import PeerEngine
internal import Signalling

/// Keeps its first offer or answer back, while its candidates continue.
struct CandidateFirst: FaultInjector {
  private enum State {
    case waiting
    case keeping(SignallingMessage, until: ContinuousClock.Instant)
    case done
  }

  private var state = State.waiting

  private static let delay: Duration = .seconds(1)

  var timesInjected: UInt64 {
    if case .waiting = state { 0 } else { 1 }
  }

  var deadline: ContinuousClock.Instant? {
    if case .keeping(_, let end) = state { end } else { nil }
  }

  mutating func outgoing(_ message: SignallingMessage, now: ContinuousClock.Instant) -> SignallingMessage? {
    switch (message, state) {
    case (.candidate, _), (_, .done):
      return message
    case (_, .waiting):
      state = .keeping(message, until: now + Self.delay)
      return nil
    case (_, .keeping(_, let end)):
      // The newer one says all that the older one did.
      state = .keeping(message, until: end)
      return nil
    }
  }

  mutating func due(isConnected: Bool, now: ContinuousClock.Instant) -> [FaultAction] {
    guard case .keeping(let message, let end) = state, end <= now else { return [] }
    state = .done
    return [.send(message)]
  }
}

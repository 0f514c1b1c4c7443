internal import PeerEngine

/// One action, some time after the connection stands.
struct TimedFault: FaultInjector {
  private let action: FaultAction
  private let delay: Duration
  private(set) var deadline: ContinuousClock.Instant?
  private(set) var timesInjected: UInt64 = 0

  init(_ action: FaultAction, after delay: Duration) {
    self.action = action
    self.delay = delay
  }

  mutating func due(isConnected: Bool, now: ContinuousClock.Instant) -> [FaultAction] {
    guard isConnected, timesInjected == 0 else { return [] }
    let due = deadline ?? now + delay
    deadline = due
    guard due <= now else { return [] }
    deadline = nil
    timesInjected = 1
    return [action]
  }
}

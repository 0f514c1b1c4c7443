internal import PeerEngine
internal import Signalling

/// Hears the first offer late, and what comes after it in its order.
struct SlowAnswer: FaultInjector {
  private var kept: [SignallingMessage] = []
  private(set) var deadline: ContinuousClock.Instant?
  private(set) var timesInjected: UInt64 = 0

  private static let delay: Duration = .seconds(8)
  /// Messages that are kept; more are lost.
  private static let capacity = 256

  mutating func incoming(_ message: SignallingMessage, now: ContinuousClock.Instant) -> SignallingMessage? {
    if case .offer = message, timesInjected == 0 {
      timesInjected = 1
      deadline = now + Self.delay
    }
    guard deadline != nil else { return message }
    if kept.count < Self.capacity { kept.append(message) }
    return nil
  }

  mutating func due(isConnected: Bool, now: ContinuousClock.Instant) -> [FaultAction] {
    guard let deadline, deadline <= now else { return [] }
    self.deadline = nil
    defer { kept.removeAll() }
    return kept.map { .receive($0) }
  }
}

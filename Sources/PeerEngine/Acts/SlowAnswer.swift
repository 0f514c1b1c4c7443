/// Hears the first offer late, and what comes after it in its order.
struct SlowAnswer: Misbehaviour {
  private var kept: [SignallingMessage] = []
  private(set) var deadline: ContinuousClock.Instant?
  private(set) var timesPerformed: UInt64 = 0

  private static let delay: Duration = .seconds(8)
  /// Messages that are kept; more are lost.
  private static let capacity = 256

  mutating func hears(_ message: SignallingMessage, now: ContinuousClock.Instant) -> SignallingMessage? {
    if case .offer = message, timesPerformed == 0 {
      timesPerformed = 1
      deadline = now + Self.delay
    }
    guard deadline != nil else { return message }
    if kept.count < Self.capacity { kept.append(message) }
    return nil
  }

  mutating func due(isConnected: Bool, now: ContinuousClock.Instant) -> [Deed] {
    guard let deadline, deadline <= now else { return [] }
    self.deadline = nil
    defer { kept.removeAll() }
    return kept.map { .hear($0) }
  }
}

/// Behaves, but for one deed some time after the connection stands.
struct TimedDeed: Misbehaviour {
  private let deed: Deed
  private let delay: Duration
  private(set) var deadline: ContinuousClock.Instant?
  private(set) var timesPerformed: UInt64 = 0

  init(_ deed: Deed, after delay: Duration) {
    self.deed = deed
    self.delay = delay
  }

  mutating func due(isConnected: Bool, now: ContinuousClock.Instant) -> [Deed] {
    guard isConnected, timesPerformed == 0 else { return [] }
    let due = deadline ?? now + delay
    deadline = due
    guard due <= now else { return [] }
    deadline = nil
    timesPerformed = 1
    return [deed]
  }
}

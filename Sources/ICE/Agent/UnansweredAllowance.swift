/// How many checks may go to addresses that have never answered.
///
/// A participant chooses the addresses that we check, and may name a third party's (RFC 8445, 19.5.1). The allowance is kept
/// across ICE restarts, because each offer can ask for one.
struct UnansweredAllowance: Sendable {
  /// Enough for a dozen addresses on each side of a call that takes 40 s to connect.
  static let burst = 400
  /// How long it takes until there is one more.
  static let interval = Duration.milliseconds(100)

  /// When all that was taken will have been given back.
  private var isFull: ContinuousClock.Instant?

  /// Takes one, if there is one.
  mutating func take(now: ContinuousClock.Instant) -> Bool {
    let taken = max(isFull ?? now, now)
    guard taken - now <= Self.interval * (Self.burst - 1) else { return false }
    isFull = taken + Self.interval
    return true
  }
}

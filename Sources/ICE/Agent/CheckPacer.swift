internal import Synchronization

/// When new checks may leave, over all agents that share it: at least 5 ms apart, "as though there were one global Ta value for
/// pacing all agents" (RFC 8445, 14.2).
///
/// So the number of participants does not raise the rate at which one machine can be made to ask addresses that they choose.
/// Agents take their turns in the order in which they ask, so that many candidates of one keep nobody else waiting.
package final class CheckPacer: Sendable {
  static let interval = Duration.milliseconds(5)

  /// The moment after the last one that was booked.
  private let free = Mutex<ContinuousClock.Instant?>(nil)

  package init() {}

  /// Books the next moment at which nobody else sends a new check.
  func book(now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    free.withLock { free in
      let moment = max(free ?? now, now)
      free = moment + Self.interval
      return moment
    }
  }
}

/// How many checks may go to addresses that have never answered.
///
/// A participant chooses the addresses that we check, and may name a third party's (RFC 8445, 19.5.1). The allowance is kept
/// across ICE restarts, because each offer can request one.
struct UnansweredCheckLimiter: Sendable {
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

import Media
internal import Synchronization

/// Paces new checks over all agents that share it: at least 5 ms apart, "as though there were one global Ta value for
/// pacing all agents" (RFC 8445, 14.2).
///
/// So the number of participants does not raise the rate at which one machine can be made to send checks to addresses
/// that they choose. Agents are served in the order of their requests, so an agent with many candidates does not delay
/// the others.
package final class CheckPacer: Sendable {
  static let interval = Duration.milliseconds(5)

  /// The first time slot that is not reserved.
  private let nextFreeSlot = Mutex<MonotonicInstant?>(nil)

  package init() {}

  /// Reserves the next time slot, in which no other agent sends a new check.
  func reserveSlot(now: MonotonicInstant) -> MonotonicInstant {
    nextFreeSlot.withLock { nextFree in
      let slot = max(nextFree ?? now, now)
      nextFree = slot + Self.interval
      return slot
    }
  }
}

/// Limits the number of checks to addresses that have never answered.
///
/// A participant chooses the addresses that the agent checks, and may name a third party's (RFC 8445, 19.5.1). The
/// limit is kept across ICE restarts, because each offer can request one.
struct UnansweredCheckLimiter: Sendable {
  /// Enough for a dozen addresses on each side of a call that takes 40 s to connect.
  static let burst = 400
  /// The time in which the allowance grows by one check.
  static let interval = Duration.milliseconds(100)

  /// The time at which the allowance is full again.
  private var isFull: MonotonicInstant?

  /// Consumes one check of the allowance. Returns false when none is left.
  mutating func take(now: MonotonicInstant) -> Bool {
    let taken = max(isFull ?? now, now)
    guard taken - now <= Self.interval * (Self.burst - 1) else { return false }
    isFull = taken + Self.interval
    return true
  }
}

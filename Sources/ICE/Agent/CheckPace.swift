/// When new checks may leave, over all agents that share it: at least 5 ms apart, "as though there were one global Ta value for
/// pacing all agents" (RFC 8445, 14.2).
///
/// So the number of participants does not raise the rate at which one machine can be made to ask addresses that they choose.
/// Agents take their turns in the order in which they ask, so that many candidates of one keep nobody else waiting.
package final class CheckPace {
  static let interval = Duration.milliseconds(5)

  /// The moment after the last one that was booked.
  private var free: ContinuousClock.Instant?

  package init() {}

  /// Books the next moment at which nobody else sends a new check.
  func book(now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    let moment = max(free ?? now, now)
    free = moment + Self.interval
    return moment
  }
}

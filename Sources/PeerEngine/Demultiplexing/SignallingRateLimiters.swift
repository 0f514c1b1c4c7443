internal import Media
internal import Signalling

/// The rate limiters of all participants' signalling.
///
/// A participant has one from their first message until they have sent few for a while. When nothing is due, a poll costs a
/// comparison, whatever their number.
struct SignallingRateLimiters: Sendable {
  private var limiters: [ParticipantID: SignallingRateLimiter] = [:]
  /// When ``takeDue(now:)`` returns a message; nil while none waits.
  private(set) var deadline: MonotonicInstant?
  /// When limiters are removed again that are idle; nil while there are none.
  private var nextSweep: MonotonicInstant?

  private static let sweepInterval = Duration.seconds(1)

  var count: Int { limiters.count }

  /// Returns the message if it may be handled now; see ``SignallingRateLimiter/pass(_:now:)``.
  mutating func pass(
    _ message: SignallingMessage, from participant: ParticipantID, now: MonotonicInstant
  ) -> SignallingMessage? {
    let passed = limiters[participant, default: SignallingRateLimiter()].pass(message, now: now)
    nextSweep = nextSweep ?? now + Self.sweepInterval
    // A message that was passed on lets none wait.
    if passed == nil { updateDeadline() }
    return passed
  }

  /// Whether a description of a participant waits.
  func hasWaiting(_ participant: ParticipantID) -> Bool { limiters[participant]?.deadline != nil }

  mutating func forgetWaiting(_ participant: ParticipantID) {
    guard hasWaiting(participant) else { return }
    limiters[participant]?.forgetWaiting()
    updateDeadline()
  }

  /// Removes and returns the waiting descriptions that are due, and removes the limiters that are idle.
  mutating func takeDue(now: MonotonicInstant) -> [(message: SignallingMessage, participant: ParticipantID)] {
    var due: [(message: SignallingMessage, participant: ParticipantID)] = []
    if let deadline, deadline <= now {
      for participant in Array(limiters.keys) {
        due += (limiters[participant]?.open(now: now) ?? []).map { ($0, participant) }
      }
      updateDeadline()
    }
    if let sweep = nextSweep, sweep <= now {
      limiters = limiters.filter { !$0.value.isIdle(now: now) }
      nextSweep = limiters.isEmpty ? nil : now + Self.sweepInterval
    }
    return due
  }

  private mutating func updateDeadline() { deadline = limiters.values.compactMap(\.deadline).min() }
}

internal import Media

/// Decides when a connection needs an ICE restart (RFC 8445, 9): when nothing is heard from the participant, when consent to
/// send is about to be lost (RFC 7675, 5.1), and on request.
///
/// Before a restart the path is checked, because a participant who sends no media is heard only every few seconds.
struct ICERestartTrigger: Sendable, Hashable {
  enum Step: Sendable, Hashable {
    /// The selected path must be checked.
    case check
    case restart(ICERestartReason)
  }

  /// How long nothing may be heard until the path is checked, and until ICE is restarted.
  static let checkDelay = Duration.seconds(4)
  static let silenceLimit = Duration.seconds(5)
  /// How long no check may be answered. A path that lets through what the participant sends, but nothing of ours, is not
  /// silent. Consent checks are at most 6 s apart, and all other pairs are tried after 8 s.
  static let answerLimit = Duration.seconds(10)
  /// The time until a restart without effect is repeated.
  static let retryInterval = Duration.seconds(10)
  /// The shortest time between two requested restarts.
  static let minimumInterval = Duration.seconds(2)

  private var requested: ICERestartReason?
  private var lastRestart: MonotonicInstant?
  /// The silence for which the path was checked, by the time at which it began.
  private var checked: MonotonicInstant?

  /// Restarts ICE as soon as ``minimumInterval`` allows it.
  mutating func request(_ reason: ICERestartReason) {
    if requested == nil || reason == .pathLost { requested = reason }
  }

  /// When ``due(heard:answered:now:)`` will return a step.
  ///
  /// - Parameters:
  ///   - heard: when something authentic of the participant last arrived.
  ///   - answered: when the participant last answered a check of ours.
  func deadline(heard: MonotonicInstant, answered: MonotonicInstant) -> MonotonicInstant {
    if requested != nil { return lastRestart.map { $0 + Self.minimumInterval } ?? heard }
    let restart = restartDue(heard: heard, answered: answered)
    return checked == heard ? restart : min(heard + Self.checkDelay, restart)
  }

  /// Returns what is to be done now, at most one step.
  mutating func due(heard: MonotonicInstant, answered: MonotonicInstant, now: MonotonicInstant) -> Step? {
    guard deadline(heard: heard, answered: answered) <= now else { return nil }
    guard requested != nil || restartDue(heard: heard, answered: answered) <= now else {
      checked = heard
      return .check
    }
    defer { requested = nil }
    lastRestart = now
    if now - heard >= Self.silenceLimit { return .restart(.silence(now - heard)) }
    if let requested { return .restart(requested) }
    return .restart(.unansweredChecks(now - answered))
  }

  private func restartDue(heard: MonotonicInstant, answered: MonotonicInstant) -> MonotonicInstant {
    let due = min(heard + Self.silenceLimit, answered + Self.answerLimit)
    return lastRestart.map { max(due, $0 + Self.retryInterval) } ?? due
  }
}

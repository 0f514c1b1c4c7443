internal import Media

/// Decides when a connection needs an ICE restart (RFC 8445, 9): when nothing is heard from the participant, and on request.
///
/// Before a restart the path is checked, because a participant who sends no media is heard only every few seconds.
struct ICERestartTrigger: Sendable, Hashable {
  enum Step: Sendable, Hashable {
    /// The selected path must be checked.
    case check
    case restart
  }

  /// How long nothing may be heard until the path is checked, and until ICE is restarted.
  static let checkDelay = Duration.seconds(4)
  static let silenceLimit = Duration.seconds(5)
  /// The time until a restart without effect is repeated.
  static let retryInterval = Duration.seconds(10)
  /// The shortest time between two requested restarts.
  static let minimumInterval = Duration.seconds(2)

  private var isRequested = false
  private var lastRestart: MonotonicInstant?
  /// The silence for which the path was checked, by the time at which it began.
  private var checked: MonotonicInstant?

  mutating func request() { isRequested = true }

  /// When ``due(heard:now:)`` will return a step.
  ///
  /// - Parameter heard: when something authentic of the participant last arrived.
  func deadline(heard: MonotonicInstant) -> MonotonicInstant {
    if isRequested { return lastRestart.map { $0 + Self.minimumInterval } ?? heard }
    let restart = restartDue(heard: heard)
    return checked == heard ? restart : min(heard + Self.checkDelay, restart)
  }

  /// Returns what is to be done now, at most one step.
  mutating func due(heard: MonotonicInstant, now: MonotonicInstant) -> Step? {
    guard deadline(heard: heard) <= now else { return nil }
    if isRequested || restartDue(heard: heard) <= now {
      isRequested = false
      lastRestart = now
      return .restart
    }
    checked = heard
    return .check
  }

  private func restartDue(heard: MonotonicInstant) -> MonotonicInstant {
    let due = heard + Self.silenceLimit
    return lastRestart.map { max(due, $0 + Self.retryInterval) } ?? due
  }
}

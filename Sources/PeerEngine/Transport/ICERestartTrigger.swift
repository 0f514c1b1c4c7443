internal import Media

/// Decides when a connection needs an ICE restart (RFC 8445, 9): when nothing is heard from the participant, when the
/// participant answers no check, long before consent to send expires (RFC 7675, 5.1), and on request.
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
  /// How long checks may be unanswered: the first of them follows 4 to 6 s after the last answer. A path that lets through what
  /// the participant sends, but nothing of ours, is not silent.
  static let answerLimit = Duration.seconds(5)
  /// The time after a restart, by either side, until the next one: the new session needs some seconds.
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

  /// Notes that the participant has restarted ICE.
  mutating func participantRestarted(now: MonotonicInstant) { lastRestart = now }

  /// When ``due(heard:unansweredSince:now:)`` will return a step.
  ///
  /// - Parameters:
  ///   - heard: when something authentic of the participant last arrived.
  ///   - unansweredSince: when the first of the checks was sent that the participant has not answered; nil without any.
  func deadline(heard: MonotonicInstant, unansweredSince: MonotonicInstant?) -> MonotonicInstant {
    if requested != nil { return lastRestart.map { $0 + Self.minimumInterval } ?? heard }
    let restart = restartDue(heard: heard, unansweredSince: unansweredSince)
    return checked == heard ? restart : min(heard + Self.checkDelay, restart)
  }

  /// Returns what is to be done now, at most one step.
  mutating func due(heard: MonotonicInstant, unansweredSince: MonotonicInstant?, now: MonotonicInstant) -> Step? {
    guard deadline(heard: heard, unansweredSince: unansweredSince) <= now else { return nil }
    guard requested != nil || restartDue(heard: heard, unansweredSince: unansweredSince) <= now else {
      checked = heard
      return .check
    }
    defer { requested = nil }
    lastRestart = now
    if now - heard >= Self.silenceLimit { return .restart(.silence(now - heard)) }
    if let requested { return .restart(requested) }
    return .restart(.unansweredChecks(unansweredSince.map { now - $0 } ?? .zero))
  }

  private func restartDue(heard: MonotonicInstant, unansweredSince: MonotonicInstant?) -> MonotonicInstant {
    let silenceDue = heard + Self.silenceLimit
    let due = unansweredSince.map { min(silenceDue, $0 + Self.answerLimit) } ?? silenceDue
    return lastRestart.map { max(due, $0 + Self.retryInterval) } ?? due
  }
}

internal import Media

/// Watches how long nothing has been heard from the participant: decides when the path is checked, ICE restarts, the
/// connection counts as disconnected, and the call ends.
struct SilenceMonitor {
  /// When the participant was heard, and when they answered.
  struct Evidence {
    /// When something authentic of theirs last arrived.
    var heard: MonotonicInstant
    /// When they last answered a check.
    var lastAnswered: MonotonicInstant?
    /// When the first of the checks was sent that they have not answered.
    var unansweredSince: MonotonicInstant?
    /// Whether we have an address: an offer without one would lead nowhere.
    var hasLocalAddress: Bool
  }

  /// What is to be done now.
  struct Step {
    /// Nothing was heard or answered for so long that the call ends.
    var isLost = false
    /// The connection counts as disconnected from now on.
    var isInterrupted = false
    /// The selected path must be checked.
    var checksPath = false
    var restart: ICERestartReason?
  }

  /// How long nothing may be heard from the participant until the connection counts as disconnected, and until the call
  /// ends; the latter also for checks without an answer. A restart begins a new ICE session, whose own timeouts begin again.
  private static let disconnectedTimeout = Duration.seconds(8)
  private static let lossTimeout = Duration.seconds(30)

  private var trigger = ICERestartTrigger()
  /// When there is something to do, as of the last ``poll(_:in:now:)``, and the state that this holds for. What has been
  /// heard since then only makes it later, so it is not computed again for each packet.
  private var next: (deadline: MonotonicInstant?, state: ConnectionState)?

  /// Restarts ICE as soon as possible.
  mutating func requestRestart(_ reason: ICERestartReason) {
    trigger.request(reason)
    next = nil
  }

  mutating func participantRestarted(now: MonotonicInstant) {
    trigger.participantRestarted(now: now)
    next = nil
  }

  /// Whether ``deadline`` holds in a state.
  func knowsDeadline(in state: ConnectionState) -> Bool {
    if let next { next.state == state } else { false }
  }

  /// When ``poll(_:in:now:)`` has something to do, as of its last call.
  var deadline: MonotonicInstant? { next?.deadline }

  /// When ``poll(_:in:now:)`` has something to do.
  func deadline(of evidence: Evidence, in state: ConnectionState) -> MonotonicInstant {
    let heard = evidence.heard
    var step = heard + (state == .connected ? Self.disconnectedTimeout : Self.lossTimeout)
    if let end = Self.answerDeadline(evidence) { step = min(step, end) }
    guard evidence.hasLocalAddress else { return step }
    return min(step, trigger.deadline(heard: heard, unansweredSince: evidence.unansweredSince))
  }

  /// Returns what is to be done now.
  ///
  /// - Parameter evidence: nil if there is no call to watch.
  mutating func poll(_ evidence: Evidence?, in state: ConnectionState, now: MonotonicInstant) -> Step {
    var step = Step()
    guard let evidence else {
      next = (nil, state)
      return step
    }
    let silence = now - evidence.heard
    if silence >= Self.lossTimeout || Deadline.isDue(Self.answerDeadline(evidence), now: now) {
      step.isLost = true
      return step
    }
    step.isInterrupted = silence >= Self.disconnectedTimeout && state == .connected
    if evidence.hasLocalAddress {
      switch trigger.due(heard: evidence.heard, unansweredSince: evidence.unansweredSince, now: now) {
      case nil: break
      case .check: step.checksPath = true
      case .restart(let reason): step.restart = reason
      }
    }
    let state = step.isInterrupted ? .disconnected : state
    next = (deadline(of: evidence, in: state), state)
    return step
  }

  /// When the call ends because no check was answered; nil if the participant is not heard by then.
  private static func answerDeadline(_ evidence: Evidence) -> MonotonicInstant? {
    guard let end = evidence.lastAnswered.map({ $0 + lossTimeout }), evidence.heard + disconnectedTimeout > end else {
      return nil
    }
    return end
  }

  /// Returns a sentence about a call that ends because the participant is not heard any more, or answers no check.
  static func cause(heard: MonotonicInstant?, lastAnswered: MonotonicInstant?, now: MonotonicInstant) -> String {
    let silence = heard.map { now - $0 } ?? lossTimeout
    if let lastAnswered, silence < disconnectedTimeout {
      return
        "The participant is heard, but has answered no connectivity check for \(whole(now - lastAnswered)) s."
    }
    return "Nothing was received from the participant for \(whole(silence)) s."
  }

  private static func whole(_ duration: Duration) -> Int { Int((duration / .seconds(1)).rounded()) }
}

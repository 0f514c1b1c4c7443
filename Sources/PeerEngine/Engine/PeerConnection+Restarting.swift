package import ICE
internal import Media
internal import Signalling

/// ICE restarts of ours, and changes of the local addresses. Media continues on the old path until a new one works.
extension PeerConnection {
  /// Restarts ICE as soon as possible: sends an offer with new credentials.
  package func requestICERestart() {
    guard isOpen else { return }
    restartTrigger.request(.requested)
    timing.silenceDeadlineIsValid = false
  }

  /// Adds the address of a new socket.
  package func addLocalHost(_ address: TransportAddress, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    timing.agentIsTouched = true
    if let candidate = agent.addLocalHost(address, now: MonotonicInstant(now)) { signal(candidate) }
    // Without a path, the participant checks the new address only in a new session.
    if path == nil, hasLostPath { restartTrigger.request(.pathLost) }
  }

  /// Sets the NAT64 prefix of an IPv6-only network.
  package func setNAT64(_ prefix: NAT64Prefix?, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    timing.agentIsTouched = true
    agent.setNAT64(prefix, now: MonotonicInstant(now))
    if prefix != nil, path == nil, state != .new, hasLostPath { restartTrigger.request(.pathLost) }
  }

  /// Adds an address of a TURN server that relays to us.
  package func addRelayed(_ relay: RelayedAddress, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    timing.agentIsTouched = true
    if let candidate = agent.addRelayed(relay, now: MonotonicInstant(now)) { signal(candidate) }
    if path == nil, state != .new, hasLostPath { restartTrigger.request(.pathLost) }
  }

  /// Removes a local address, of a socket or of a relay, that exists no more, and the candidates based on it. If media was
  /// sent from it, ICE is restarted, so that the participant looks for another path at once, too.
  package func removeLocal(_ address: TransportAddress, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    timing.agentIsTouched = true
    forget(agent.removeLocal(address, now: MonotonicInstant(now)))
    if path?.local == address { restartTrigger.request(.pathLost) }
  }

  /// Prepares for the end of a relayed address that another one replaces. If media is sent from it, ICE is restarted, so that
  /// both sides move to another path while this one still works.
  package func retireRelayed(_ address: TransportAddress, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    timing.agentIsTouched = true
    forget(agent.retireLocal(address))
    // Checks that are under way may still select it.
    if path.map({ $0.local == address }) ?? (state == .connecting) { requestICERestart() }
  }

  /// Whether media may still be sent from a local address or arrive there.
  package func uses(_ address: TransportAddress) -> Bool {
    isOpen && (path?.local == address || agent.uses(address) || path == nil && state == .connecting)
  }

  /// Leaves candidates out of what is signalled from now on.
  ///
  /// - Parameter removed: with their former indices, in ascending order.
  private func forget(_ removed: [(index: Int, candidate: ICECandidate)]) {
    for (index, candidate) in removed.reversed() {
      if let text = configuration.policy.ice.signalledText(of: candidate) { negotiator.removeLocalCandidate(text) }
      if index < trickledCount { trickledCount -= 1 }
    }
  }

  /// Notes that the TCP connection of a path was not established or has ended.
  package func connectionEnded(local: TransportAddress, remote: TransportAddress, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    timing.agentIsTouched = true
    agent.connectionEnded(local: local, remote: remote, now: MonotonicInstant(now))
    // Another path may take over at once.
    pollAgent(now: now)
    if path == nil, hasLostPath { restartTrigger.request(.pathLost) }
  }

  /// When ``followSilence(now:)`` has something to do; nil if there is no call to restart.
  var nextSilenceDeadline: MonotonicInstant? {
    guard mayRestartICE, let heard = lastHeard else { return nil }
    var step = heard + (state == .connected ? Self.disconnectedTimeout : Self.silenceTimeout)
    if let end = answerDeadline(heard: heard) { step = min(step, end) }
    return hasLocalAddress
      ? min(step, restartTrigger.deadline(heard: heard, unansweredSince: unansweredSince)) : step
  }

  /// How long nothing may be heard from the participant until the connection counts as disconnected, and until the call
  /// ends; the latter also for checks without an answer. A restart begins a new ICE session, whose own timeouts begin again.
  private static let disconnectedTimeout = Duration.seconds(8)
  private static let silenceTimeout = Duration.seconds(30)

  /// Ends the call, restarts ICE or checks the path if nothing has been heard for long; called when it is due.
  ///
  /// What has been heard since the last call only makes the deadline later, so it is not computed anew for each packet.
  func followSilence(now: MonotonicInstant) {
    if mayRestartICE, let heard = lastHeard {
      followSilence(since: heard, now: now)
    }
    let next = nextSilenceDeadline
    timing.silenceDeadline = next
    timing.silenceDeadlineIsValid = true
  }

  /// When the call ends because no check was answered; nil if the participant is not heard by then.
  private func answerDeadline(heard: MonotonicInstant) -> MonotonicInstant? {
    guard let end = lastAnswered.map({ $0 + Self.silenceTimeout }), heard + Self.disconnectedTimeout > end else {
      return nil
    }
    return end
  }

  private func followSilence(since heard: MonotonicInstant, now: MonotonicInstant) {
    let silence = now - heard
    if silence >= Self.silenceTimeout || answerDeadline(heard: heard).map({ $0 <= now }) == true {
      return endAsLost(now: now.instant)
    }
    if silence >= Self.disconnectedTimeout, state == .connected {
      change(to: .disconnected)
      connectionWasInterrupted(now: now.instant)
    }
    followRestartTrigger(heard: heard, now: now)
  }

  /// Ends the call because the participant is not heard any more, or answers no check.
  func endAsLost(now: ContinuousClock.Instant) {
    let moment = MonotonicInstant(now)
    let silence = lastHeard.map { moment - $0 } ?? Self.silenceTimeout
    let cause =
      if let lastAnswered, silence < Self.disconnectedTimeout {
        "The participant is heard, but has answered no connectivity check for \(Self.whole(moment - lastAnswered)) s."
      } else {
        "Nothing was received from the participant for \(Self.whole(silence)) s."
      }
    // Without consent no goodbye may be sent (RFC 7675, 5.1).
    path = nil
    end(CloseReason(.connectionLost, cause), now: now)
  }

  private static func whole(_ duration: Duration) -> Int { Int((duration / .seconds(1)).rounded()) }

  /// Checks the path or restarts ICE if it is due.
  private func followRestartTrigger(heard: MonotonicInstant, now: MonotonicInstant) {
    // An offer without an address would lead nowhere.
    guard hasLocalAddress else { return }
    switch restartTrigger.due(heard: heard, unansweredSince: unansweredSince, now: now) {
    case nil: break
    case .check:
      timing.agentIsTouched = true
      agent.checkSelectedPair(now: now)
    case .restart(let reason):
      emit(.iceRestarted(reason))
      negotiator.restartICE()
      sendOffer(now: now.instant)
    }
  }

  private var hasLocalAddress: Bool { !agent.localCandidates.isEmpty }

  private var mayRestartICE: Bool {
    configuration.policy.ice.restartsICE && hasExchangedDescriptions && timing.leftRoom == nil && !isSilenced
      && (state == .connected || state == .disconnected)
  }

  /// When something authentic of the participant last arrived.
  private var lastHeard: MonotonicInstant? {
    let checked = agent.lastHeard
    guard let lastMediaArrival = timing.lastMediaArrival else { return checked }
    return checked.map { max($0, lastMediaArrival) } ?? lastMediaArrival
  }

  /// When the participant last answered a check.
  private var lastAnswered: MonotonicInstant? { agent.lastAnswered }

  private var unansweredSince: MonotonicInstant? { agent.unansweredSince }

  func signal(_ candidate: ICECandidate) {
    if let text = configuration.policy.ice.signalledText(of: candidate) { negotiator.addLocalCandidate(text) }
    if state != .new { trickleLocalCandidates() }
  }
}

internal import ICE
internal import Media
internal import NIOCore
package import RTP

/// Outgoing datagrams and deadlines.
extension PeerConnection {
  /// Returns all actions that are due, in order.
  ///
  /// - Parameter wallClock: used only for sender reports.
  package func poll(now: ContinuousClock.Instant, wallClock: NTPTime) -> [Action] {
    var taken: [Action] = []
    poll(now: now, wallClock: wallClock, into: &taken)
    return taken
  }

  /// Does the same with a reused array: `taken` must be empty.
  func poll(now: ContinuousClock.Instant, wallClock: NTPTime, into taken: inout [Action]) {
    let moment = MonotonicInstant(now)
    let hasFault = faultInjector != nil
    if isOpen { followDeadlines(now: moment) }
    if hasFault, isOpen { injectFaults(now: now) }
    if isOpen {
      if timing.isAgentDue(now: moment) { pollAgent(now: now) }
      if path != nil {
        if let change = secure.advance(now: now) { handle(change, now: now) }
        transmit(secure.takeDatagrams())
      }
      media.poll(now: now, wallClock: wallClock, into: &outputs)
      carryOutOutputs()
      pollDataChannels(now: moment)
    }
    if hasFault { actions = passThroughInjector(actions, now: now) }
    schedulePoll()
    swap(&actions, &taken)
  }

  /// Ends the call if a timeout has expired, and follows the participant's silence.
  private func followDeadlines(now: MonotonicInstant) {
    let timing = timing
    if ConnectionTiming.isDue(timing.connectingDeadline, now: now) { giveUpConnecting(now: now.instant) }
    if timing.leftRoom != nil { followLeaving(now: now) }
    if timing.isSilenceDue(now: now), isOpen { followSilence(now: now) }
  }

  /// When ``poll(now:wallClock:)`` must be called next even if nothing arrives; nil when the engine has ended.
  package var deadline: ContinuousClock.Instant? { monotonicDeadline?.instant }

  /// The ``deadline`` as a monotonic instant.
  var monotonicDeadline: MonotonicInstant? {
    guard isOpen else { return nil }
    let timing = timing
    var earliest = timing.agentIsTouched ? agent.deadline : timing.agentDeadline
    func consider(_ moment: MonotonicInstant?) { earliest = ConnectionTiming.earlier(earliest, moment) }
    if path != nil {
      consider(secure.retransmission)
      consider(channels.deadline)
    }
    consider(media.due)
    consider(timing.connectingDeadline)
    if faultInjector != nil { consider(faultInjector?.deadline) }
    consider(timing.leavingDeadline)
    consider(timing.silenceDeadlineIsValid ? timing.silenceDeadline : nextSilenceDeadline)
    return earliest
  }

  func pollAgent(now: ContinuousClock.Instant) {
    for action in agent.poll(now: MonotonicInstant(now), pace: checkPace) {
      if case .send(let datagram, let local, let remote) = action {
        actions.append(.transmit(datagram, from: local, to: remote))
      }
    }
    followAgent(now: now)
    followMilestones()
    timing.agentIsTouched = false
    validPath = nil
    timing.agentDeadline = agent.deadline
  }

  /// Applies the ICE agent's state: the selected pair, and whether the participant still responds.
  func followAgent(now: ContinuousClock.Instant) {
    if let pair = agent.selectedPair {
      path = Path(local: pair.local, remote: pair.remote)
      follow(CandidateTypes(local: pair.localType, remote: pair.remoteType, transport: pair.local.transport))
      if let roundTrip = pair.roundTripTime { media.roundTripMeasured(roundTrip) }
    } else if let path, !agent.hasAnswered(local: path.local, remote: path.remote) {
      // The other end's consent to receive has expired (RFC 7675, 5.1), or our relay has gone.
      self.path = nil
      hasLostPath = true
      if agent.state != .failed, state == .connected {
        change(to: .disconnected)
        connectionWasInterrupted(now: now)
      }
    }
    switch agent.state {
    case .failed:
      // Before there was a path, only the timeout for connecting counts: a check may still succeed.
      if path != nil || hasLostPath {
        endAsLost(now: now)
      }
    case .disconnected:
      guard state == .connected else { break }
      change(to: .disconnected)
      connectionWasInterrupted(now: now)
    case .connected, .completed:
      if state == .disconnected { change(to: .connected) }
    case .new, .checking:
      break
    }
  }

  /// Carries out the outputs of the media session.
  func carryOutOutputs() {
    if outputs.isEmpty { return }
    // Local, because each access to a property of a class is checked.
    var outputs: [MediaSession.Output] = []
    swap(&outputs, &self.outputs)
    var actions: [Action] = []
    swap(&actions, &self.actions)
    let path = path
    let session = secure.session
    for position in outputs.indices {
      // Swapped out of the array, a packet's buffer is not shared, so it is encrypted in place.
      var output = MediaSession.Output.keyframeRequested
      swap(&output, &outputs[position])
      switch consume output {
      case .rtp(let packet): Self.transmit(packet, isControl: false, on: path, protectedBy: session, to: &actions)
      case .rtcp(let packet): Self.transmit(packet, isControl: true, on: path, protectedBy: session, to: &actions)
      case .event(let event): actions.append(.event(.media(event)))
      case .keyframeRequested: actions.append(.event(.keyframeRequested))
      case .targetBitrate(let target):
        actions.append(.event(.targetBitrate(target.bitrate, fractionLost: target.fractionLost)))
      case .codecNotNegotiated(let codec):
        let name = codec.properties.name
        actions.append(
          .event(
            .problem("Our \(codec.kind.rawValue) is not sent: it is \(name), which the participant does not accept.")))
      }
    }
    swap(&actions, &self.actions)
    outputs.removeAll(keepingCapacity: true)
    swap(&outputs, &self.outputs)
  }

  private static func transmit(
    _ packet: consuming ByteBuffer, isControl: Bool, on path: Path?, protectedBy session: SRTPSession?,
    to actions: inout [Action]
  ) {
    guard let path, let session, session.protect(&packet, isControl: isControl) else { return }
    actions.append(.transmit(packet, from: path.local, to: path.remote))
  }

  func transmit(_ datagrams: [ByteBuffer]) {
    guard !datagrams.isEmpty, let path else { return }
    for datagram in datagrams {
      actions.append(.transmit(datagram, from: path.local, to: path.remote))
    }
  }

  /// Repeats the last datagrams of a call, because they are not retransmitted when they are lost: without a BYE or
  /// `close_notify` the other side waits for half a minute.
  func repeatGoodbyes(from first: Int) {
    let goodbyes = actions.dropFirst(first).filter { if case .transmit = $0 { true } else { false } }
    for _ in 0..<2 { actions += goodbyes }
  }

  /// Ends the call with a reason that states how far connecting got, so that a person can find the cause.
  private func giveUpConnecting(now: ContinuousClock.Instant) {
    let seconds = configuration.connectingTimeout.components.seconds
    let reached =
      if !hasExchangedDescriptions {
        state == .new ? "no usable offer arrived" : "no answer arrived"
      } else if path == nil {
        unreachableReason.map { "no ICE check was answered, because \($0)" }
          ?? "no ICE check was answered; \(candidateSummary)\(relayClause)"
      } else {
        "ICE found a path, but the DTLS handshake did not finish"
      }
    end(CloseReason(.failed, "Not connected within \(seconds) s: \(reached)."), now: now)
  }

  /// Why the participant cannot reach us, as a clause; nil if we have an address.
  var unreachableReason: String? {
    guard isOpen, agent.localCandidates.isEmpty else { return nil }
    return "we have no address for the participant\(relayClause)"
  }

  /// Why no TURN server relays to us, as the end of a clause.
  private var relayClause: String {
    guard let relayFailure else { return "" }
    return "; \(relayFailure.hasSuffix(".") ? String(relayFailure.dropLast()) : relayFailure)"
  }

  private var candidateSummary: String {
    let seen = agent.statistics
    if seen.remoteCandidates > 0 { return "\(seen.remoteCandidates) address(es) of the participant were tried" }
    if seen.unresolvableCandidates > 0 { return "the participant sent only mDNS names, which were not resolved" }
    return "the participant sent no address"
  }
}

/// How far connecting has got.
extension PeerConnection {
  /// Reports a milestone the first time that it is reached.
  func reportMilestone(_ milestone: ConnectionMilestone) {
    guard milestones.insert(milestone).inserted else { return }
    emit(.reached(milestone))
  }

  /// Reports the milestones that the ICE agent has reached.
  func followMilestones() {
    if agent.statistics.checksSent > 0 { reportMilestone(.checksBegun) }
    if agent.statistics.checksAnswered > 0 { reportMilestone(.checkAnswered) }
    if agent.selectedPair != nil { reportMilestone(.iceConnected) }
  }

  /// Reports the types of the selected pair's candidates if they have changed.
  private func follow(_ types: CandidateTypes) {
    guard types != candidateTypes else { return }
    candidateTypes = types
    emit(.pathSelected(types))
  }
}

/// Deliberate faults. Without a ``FaultInjector`` none of this is called.
extension PeerConnection {
  /// Carries out the actions of the fault that are due.
  func injectFaults(now: ContinuousClock.Instant) {
    let due = faultInjector?.due(isConnected: state == .connected, now: MonotonicInstant(now)) ?? []
    for action in due { carryOut(action, now: now) }
  }

  /// Returns the actions of a poll, after the signalling messages among them have passed through the injector.
  func passThroughInjector(_ actions: [Action], now: ContinuousClock.Instant) -> [Action] {
    actions.compactMap { action in
      guard case .event(.signal(let message)) = action else { return action }
      return faultInjector?.outgoing(message, now: MonotonicInstant(now)).map { .event(.signal($0)) }
    }
  }

  private func carryOut(_ action: FaultAction, now: ContinuousClock.Instant) {
    switch action {
    case .receive(let message): take(message, now: now)
    case .send(let message): emit(.signal(message))
    case .offerAgain: offer(now: now)
    case .changeSources: media.changeSources(now: now)
    case .alterPackets(let alteration): media.alteration = alteration
    case .stopSending: stopSending(now: now)
    }
  }

  /// Ends the call as a killed program does: nothing is sent.
  private func stopSending(now: ContinuousClock.Instant) {
    end(CloseReason(.closedByUs, "We stopped sending on purpose, without a goodbye."), now: now)
    isSilenced = true
    actions.removeAll { if case .transmit = $0 { true } else { false } }
  }
}

internal import ICE
internal import Media
internal import NIOCore
package import RTP

/// What goes to the network, and when.
extension PeerConnection {
  /// Everything to be done now, in order.
  ///
  /// - Parameter wallClock: used for sender reports and for nothing else.
  package func poll(now: ContinuousClock.Instant, wallClock: NTPTime) -> [Action] {
    var taken: [Action] = []
    poll(now: now, wallClock: wallClock, into: &taken)
    return taken
  }

  /// The same with memory that is used again: `taken` has to be empty.
  func poll(now: ContinuousClock.Instant, wallClock: NTPTime, into taken: inout [Action]) {
    if isOpen {
      if let connectingDeadline, connectingDeadline <= MonotonicInstant(now) { giveUpConnecting(now: now) }
      followLeaving(now: now)
      if faultInjector != nil { injectFaults(now: now) }
    }
    if isOpen {
      pollAgent(now: now)
      if path != nil {
        secure.pathIsUsable(now: now)
        handle(secure.handleTimeout(now: now), now: now)
        transmit(secure.takeDatagrams())
      }
      media.poll(now: now, wallClock: wallClock, into: &outputs)
      carryOutOutputs()
    }
    if faultInjector != nil { actions = staged(actions, now: now) }
    scheduleTurn()
    swap(&actions, &taken)
  }

  /// When ``poll(now:wallClock:)`` is needed next even if nothing comes in; nil when the engine has ended.
  package var deadline: ContinuousClock.Instant? { nextTurn?.instant }

  /// The ``deadline``.
  var nextTurn: MonotonicInstant? {
    guard isOpen else { return nil }
    var earliest = agentIsTouched ? agent.deadline.map(MonotonicInstant.init) : agentDeadline
    func consider(_ moment: MonotonicInstant?) {
      if let moment { earliest = earliest.map { min($0, moment) } ?? moment }
    }
    if path != nil { consider(secure.retransmission) }
    consider(media.due)
    consider(connectingDeadline)
    consider(faultInjector?.deadline.map(MonotonicInstant.init))
    if leftRoom != nil { consider(leavingDeadline) }
    return earliest
  }

  private func pollAgent(now: ContinuousClock.Instant) {
    guard agentIsTouched || agentDeadline.map({ $0 <= MonotonicInstant(now) }) ?? false else { return }
    for action in agent.poll(now: now, pace: checkPace) {
      if case .send(let datagram, let local, let remote) = action {
        actions.append(.transmit(datagram, from: local, to: remote))
      }
    }
    followAgent(now: now)
    followMilestones()
    agentIsTouched = false
    validPath = nil
    agentDeadline = agent.deadline.map(MonotonicInstant.init)
  }

  /// Follows the ICE agent: to the pair it has chosen, and in its opinion of whether anybody is there.
  func followAgent(now: ContinuousClock.Instant) {
    if let pair = agent.selectedPair {
      path = Path(local: pair.local, remote: pair.remote)
      if let roundTrip = pair.roundTripTime { media.roundTripMeasured(roundTrip) }
    } else if let path, !agent.hasAnswered(local: path.local, remote: path.remote) {
      // Nobody there has agreed to receive any more (RFC 7675, 5.1).
      self.path = nil
      hasLostPath = true
    }
    switch agent.state {
    case .failed:
      // Before there was a path, the time for connecting is what counts: a check may still come.
      if path != nil || hasLostPath {
        end(CloseReason(.connectionLost, "Nothing was heard from the participant for 30 s."), now: now)
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

  /// Carries out what media has requested.
  func carryOutOutputs() {
    for position in outputs.indices {
      // Taken out of the list, a packet is nobody else's: it is encrypted where it lies.
      var output = MediaSession.Output.keyframeRequested
      swap(&output, &outputs[position])
      switch consume output {
      case .rtp(let packet): transmitProtected(packet, isControl: false)
      case .rtcp(let packet): transmitProtected(packet, isControl: true)
      case .event(let event): emit(.media(event))
      case .keyframeRequested: emit(.keyframeRequested)
      case .targetBitrate(let target): emit(.targetBitrate(target.bitrate, fractionLost: target.fractionLost))
      }
    }
    outputs.removeAll(keepingCapacity: true)
  }

  func transmit(_ datagrams: [ByteBuffer]) {
    guard let path else { return }
    for datagram in datagrams {
      actions.append(.transmit(datagram, from: path.local, to: path.remote))
    }
  }

  /// Sends the last datagrams of a call again, for nobody requests them when they are lost: without a goodbye the other side
  /// waits for half a minute.
  func repeatGoodbyes(from first: Int) {
    let goodbyes = actions.dropFirst(first).filter { if case .transmit = $0 { true } else { false } }
    for _ in 0..<2 { actions += goodbyes }
  }

  private func transmitProtected(_ packet: consuming ByteBuffer, isControl: Bool) {
    guard let path else { return }
    guard secure.session?.protect(&packet, isControl: isControl) == true else { return }
    actions.append(.transmit(packet, from: path.local, to: path.remote))
  }

  /// Says how far connecting came: the sentence that a person needs who looks for the fault.
  private func giveUpConnecting(now: ContinuousClock.Instant) {
    let seconds = configuration.connectingTimeout.components.seconds
    let reached =
      if !hasExchangedDescriptions {
        state == .new ? "no usable offer came" : "no answer came"
      } else if path == nil {
        "no ICE check was answered; \(candidateSummary)"
      } else {
        "ICE found a path, but the DTLS handshake did not finish"
      }
    end(CloseReason(.failed, "Not connected within \(seconds) s: \(reached)."), now: now)
  }

  private var candidateSummary: String {
    let seen = agent.statistics
    if seen.remoteCandidates > 0 { return "\(seen.remoteCandidates) address(es) of the participant were tried" }
    if seen.unresolvableCandidates > 0 { return "the participant gave only mDNS names" }
    return "the participant gave no address"
  }
}

/// How far connecting has come, for anyone who wants to know where it ended.
extension PeerConnection {
  /// Reports a milestone, the first time.
  func connectionSettings(_ milestone: ConnectionMilestone) {
    guard milestones.insert(milestone).inserted else { return }
    emit(.reached(milestone))
  }

  /// Reports those that the ICE agent has reached.
  func followMilestones() {
    if agent.statistics.checksSent > 0 { connectionSettings(.checksBegun) }
    if agent.statistics.checksAnswered > 0 { connectionSettings(.checkAnswered) }
    if agent.selectedPair != nil { connectionSettings(.iceConnected) }
  }
}

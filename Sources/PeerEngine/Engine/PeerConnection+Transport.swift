package import ICE
package import Media
internal import NIOCore
internal import Signalling

/// The participant's reachability, and changes of the local addresses. Media continues on the old path until a new one
/// works.
extension PeerConnection {
  /// The path of outgoing datagrams; nil while there is none.
  var path: Path? { transport.selected.path }

  /// When the participant left the room; nil if they have not.
  var leftRoom: MonotonicInstant? { transport.presence.leftRoom }

  /// Carries out what follows from the ICE agent.
  func carryOut(_ update: ICETransport.Update, now: MonotonicInstant) {
    for (datagram, path) in update.datagrams {
      actions.append(.transmit(datagram, from: path.local, to: path.remote))
    }
    if let types = update.candidateTypes { emit(.pathSelected(types)) }
    for milestone in update.milestones { emit(.reached(milestone)) }
    if let roundTrip = update.roundTrip { media.roundTripMeasured(roundTrip) }
    switch update.condition {
    case .unchanged: break
    case .interrupted: interrupt(now: now)
    case .restored: if state == .disconnected { change(to: .connected) }
    case .lost: endAsLost(now: now)
    }
  }

  /// Carries out what follows from a timeout.
  func carryOut(_ timeout: ICETransport.Timeout, now: MonotonicInstant) {
    switch timeout {
    case .connecting:
      giveUpConnecting(now: now)
    case .departure:
      endAfterLeaving(now: now)
    case .silence(let step):
      if step.isLost { return endAsLost(now: now) }
      if step.isInterrupted { interrupt(now: now) }
      if let reason = step.restart {
        emit(.iceRestarted(reason))
        send(offer: negotiation.createRestartOffer(now: now))
      }
    }
  }

  /// Notes that the participant does not respond: media that is missing from now on was not lost packet by packet.
  private func interrupt(now: MonotonicInstant) {
    guard state == .connected else { return }
    change(to: .disconnected)
    media.connectionWasInterrupted(now: now)
  }

  /// Restarts ICE as soon as possible: sends an offer with new credentials.
  package func requestICERestart() {
    if isOpen { transport.requestRestart(.requested) }
  }

  /// Counts unanswered checks together with those of a former call of the same participant.
  func inheritCheckAllowance(of former: PeerConnection) { transport.inheritCheckAllowance(of: former.transport) }

  // MARK: Local addresses

  /// Adds the address of a new socket.
  package func addLocalHost(_ address: TransportAddress, now: MonotonicInstant) {
    if isOpen { signal(transport.addLocalHost(address, now: now)) }
  }

  /// Adds a server-reflexive address of one of our sockets.
  package func addServerReflexive(_ mapped: TransportAddress, base: TransportAddress) {
    if isOpen { signal(transport.addServerReflexive(mapped, base: base)) }
  }

  /// Adds an address of a TURN server that relays to us.
  package func addRelayed(_ relay: RelayedAddress, now: MonotonicInstant) {
    if isOpen { signal(transport.addRelayed(relay, now: now)) }
  }

  /// Sets the NAT64 prefix of an IPv6-only network.
  package func setNAT64(_ prefix: NAT64Prefix?, now: MonotonicInstant) {
    if isOpen { transport.setNAT64(prefix, now: now) }
  }

  /// Removes a local address, of a socket or of a relay, that exists no more, and the candidates based on it.
  package func removeLocal(_ address: TransportAddress, now: MonotonicInstant) {
    if isOpen { negotiation.forget(transport.removeLocal(address, now: now)) }
  }

  /// Prepares for the end of a relayed address that another one replaces.
  package func retireRelayed(_ address: TransportAddress, now: MonotonicInstant) {
    if isOpen { negotiation.forget(transport.retireRelayed(address, in: state)) }
  }

  /// Notes that the TCP connection of a path was not established or has ended.
  package func connectionEnded(local: TransportAddress, remote: TransportAddress, now: MonotonicInstant) {
    guard isOpen else { return }
    carryOut(transport.connectionEnded(local: local, remote: remote, now: now), now: now)
  }

  /// Whether media may still be sent from a local address or arrive there.
  package func uses(_ address: TransportAddress) -> Bool { isOpen && transport.uses(address, in: state) }

  // MARK: What the demultiplexer asks

  /// Our user fragments, which identify the STUN requests on a shared socket that are for us.
  package var localUsernameFragments: [String] { transport.usernameFragments }

  /// Returns the user fragments if they may have changed since the last call.
  func takeUsernameFragments() -> [ByteBuffer]? { transport.takeUsernameFragments() }

  /// Returns whether a STUN response with this id answers a request of ours.
  package func owns(transactionID: STUNTransactionID) -> Bool { transport.owns(transactionID: transactionID) }

  /// Returns whether an ICE check has validated that the participant is at the other end of this path.
  package func isValidated(local: TransportAddress, remote: TransportAddress) -> Bool {
    transport.isValidated(local: local, remote: remote)
  }

  /// Returns the names of the participant's candidates to look up; each is followed by ``resolved(_:to:now:)``.
  func takeNamesToResolve() -> [String] { isOpen ? transport.takeNamesToResolve() : [] }

  /// Handles the addresses of a name in lowercase letters, none if nobody answered.
  ///
  /// - Returns: whether a candidate waited for the name.
  func resolved(_ name: String, to addresses: [IPAddress], now: MonotonicInstant) -> Bool {
    isOpen && transport.resolved(name, to: addresses, now: now)
  }
}

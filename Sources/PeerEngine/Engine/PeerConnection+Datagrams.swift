package import ICE
internal import Media
package import NIOCore
internal import RTP

/// Received datagrams.
extension PeerConnection {
  /// Handles one datagram. Media and DTLS are accepted only from a path that an ICE check has validated, because anybody
  /// can send a ClientHello first (CVE-2023-49786).
  package func received(
    _ datagram: consuming ByteBuffer, from remote: TransportAddress, to local: TransportAddress,
    now: ContinuousClock.Instant
  ) {
    received(&datagram, as: PacketKind.of(copy datagram), from: remote, to: local, now: MonotonicInstant(now))
  }

  /// Handles one datagram of a known kind and decrypts it in place: its buffer should not be shared, or its bytes are
  /// copied first.
  func received(
    _ datagram: inout ByteBuffer, as kind: PacketKind, from remote: TransportAddress, to local: TransportAddress,
    now: MonotonicInstant
  ) {
    guard isOpen else { return }
    switch kind {
    case .stun:
      timing.agentIsTouched = true
      if !agent.received(datagram, from: remote, to: local, now: now) { refuseDatagram() }
      followAgent(now: now.instant)
    case .dtls:
      guard isValidated(local: local, remote: remote) else { return refuseDatagram() }
      if path == nil, agent.hasAnswered(local: local, remote: remote) { path = Path(local: local, remote: remote) }
      let now = now.instant
      handle(secure.receiveDTLS(datagram, now: now), now: now)
      receiveData(now: MonotonicInstant(now))
    case .rtp:
      receivedMedia(&datagram, isControl: false, from: remote, to: local, now: now)
    case .rtcp:
      receivedMedia(&datagram, isControl: true, from: remote, to: local, now: now)
    case .unknown:
      refuseDatagram()
    }
  }

  /// Returns whether an ICE check has validated that the participant is at the other end of this path.
  package func isValidated(local: TransportAddress, remote: TransportAddress) -> Bool {
    // A valid path stays valid until the agent's state changes.
    if let validPath, !timing.agentIsTouched, validPath.remote == remote, validPath.local == local { return true }
    guard agent.isValidated(local: local, remote: remote) else { return false }
    if !timing.agentIsTouched { validPath = Path(local: local, remote: remote) }
    return true
  }

  private func receivedMedia(
    _ datagram: inout ByteBuffer, isControl: Bool, from remote: TransportAddress, to local: TransportAddress,
    now: MonotonicInstant
  ) {
    guard isValidated(local: local, remote: remote) else { return refuseDatagram() }
    guard let session = secure.session else {
      if !secure.keepEarlyMedia(datagram) { refuseDatagram() }
      return
    }
    takeMedia(&datagram, isControl: isControl, session: session, now: now)
  }

  private func takeMedia(_ packet: inout ByteBuffer, isControl: Bool, session: SRTPSession, now: MonotonicInstant) {
    guard session.unprotect(&packet, isControl: isControl) else { return refuseDatagram() }
    mediaArrived(packet, isControl: isControl, now: now)
    if isControl {
      // It may have been a goodbye.
      if isOpen { media.receivedRTCP(packet, now: now) }
      return
    }
    if !hasMedia {
      hasMedia = true
      reportMilestone(.firstPacket)
    }
    media.receivedRTP(packet, now: now)
  }

  /// Handles a change of the secure transport.
  func handle(_ change: SecureTransport.Change?, now: ContinuousClock.Instant) {
    switch change {
    case nil:
      break
    case .secured:
      timing.connectingDeadline = nil
      self.change(to: .connected)
      media.transportBecameReady(now: now)
      if let role = negotiator.session?.dtlsRole { channels.secured(role: role, now: MonotonicInstant(now)) }
      for var datagram in secure.takeEarlyMedia() {
        guard let session = secure.session else {
          refuseDatagram()
          continue
        }
        takeMedia(
          &datagram, isControl: PacketKind.of(datagram) == .rtcp, session: session, now: MonotonicInstant(now))
      }
    case .failed(let reason):
      end(CloseReason(.failed, reason), now: now)
    case .closedByPeer:
      end(CloseReason(.closedByParticipant, "The participant closed the connection."), now: now)
    }
  }
}

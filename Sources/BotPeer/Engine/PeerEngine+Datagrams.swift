package import ICE
package import NIOCore
internal import RTP

/// What comes from the network.
extension PeerEngine {
  /// Takes one datagram. Media and DTLS count only from a path that an ICE check has validated: anybody can send a
  /// ClientHello first (CVE-2023-49786).
  package func received(
    _ datagram: consuming ByteBuffer, from remote: TransportAddress, to local: TransportAddress,
    now: ContinuousClock.Instant
  ) {
    guard isOpen else { return }
    switch PacketKind.of(datagram) {
    case .stun:
      agentIsTouched = true
      if !agent.received(datagram, from: remote, to: local, now: now) { refuseDatagram() }
      followAgent(now: now)
    case .dtls:
      guard isValidated(local: local, remote: remote) else { return refuseDatagram() }
      if path == nil { path = Path(local: local, remote: remote) }
      handle(secure.receiveHandshake(datagram, now: now), now: now)
    case .rtp:
      receivedMedia(datagram, isControl: false, from: remote, to: local, now: now)
    case .rtcp:
      receivedMedia(datagram, isControl: true, from: remote, to: local, now: now)
    case .unknown:
      refuseDatagram()
    }
  }

  /// Whether an ICE check has shown that the participant is at the other end of this path.
  package func isValidated(local: TransportAddress, remote: TransportAddress) -> Bool {
    // What was valid is valid until the agent has done something.
    if let validPath, !agentIsTouched, validPath.remote == remote, validPath.local == local { return true }
    guard agent.isValidated(local: local, remote: remote) else { return false }
    if !agentIsTouched { validPath = Path(local: local, remote: remote) }
    return true
  }

  private func receivedMedia(
    _ datagram: consuming ByteBuffer, isControl: Bool, from remote: TransportAddress, to local: TransportAddress,
    now: ContinuousClock.Instant
  ) {
    guard isValidated(local: local, remote: remote) else { return refuseDatagram() }
    guard secure.isSecured else {
      if !secure.keepEarlyMedia(datagram) { refuseDatagram() }
      return
    }
    takeMedia(datagram, isControl: isControl, now: now)
  }

  /// Decrypts in place, so the bytes must be nobody else's: they would be copied.
  private func takeMedia(_ packet: consuming ByteBuffer, isControl: Bool, now: ContinuousClock.Instant) {
    guard secure.session?.unprotect(&packet, isControl: isControl) == true else { return refuseDatagram() }
    mediaArrived(packet, isControl: isControl, now: now)
    guard isOpen else { return }
    if isControl {
      media.receivedRTCP(packet, now: now)
    } else {
      if !hasMedia {
        hasMedia = true
        reach(.firstPacket)
      }
      media.receivedRTP(packet, now: now)
    }
  }

  /// Does what a change in the secure transport asks for.
  func handle(_ change: SecureTransport.Change?, now: ContinuousClock.Instant) {
    switch change {
    case nil:
      break
    case .secured:
      connectingDeadline = nil
      self.change(to: .connected)
      media.transportBecameReady(now: now)
      for datagram in secure.takeEarlyMedia() {
        takeMedia(datagram, isControl: PacketKind.of(datagram) == .rtcp, now: now)
      }
    case .failed(let reason):
      end(PeerEnding(.failed, reason), now: now)
    case .closedByPeer:
      end(PeerEnding(.closedByParticipant, "The participant closed the connection."), now: now)
    }
  }
}

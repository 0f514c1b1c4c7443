package import ICE
package import Media
package import NIOCore
internal import RTP

/// Received datagrams.
extension PeerConnection {
  /// Handles one datagram. Media and DTLS are accepted only from a path that an ICE check has validated, because anybody
  /// can send a ClientHello first (CVE-2023-49786).
  package func received(
    _ datagram: consuming ByteBuffer, from remote: TransportAddress, to local: TransportAddress,
    now: MonotonicInstant
  ) {
    received(&datagram, as: PacketKind.of(copy datagram), from: remote, to: local, now: now)
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
      let update = transport.received(datagram, from: remote, to: local, now: now)
      if update.isRefused { refuseDatagram() }
      carryOut(update, now: now)
    case .dtls:
      guard transport.acceptsHandshake(local: local, remote: remote) else { return refuseDatagram() }
      handle(secure.receiveDTLS(datagram, now: now), now: now)
      receiveData(now: now)
    case .rtp:
      receivedMedia(&datagram, isControl: false, from: remote, to: local, now: now)
    case .rtcp:
      receivedMedia(&datagram, isControl: true, from: remote, to: local, now: now)
    case .unknown:
      refuseDatagram()
    }
  }

  private func receivedMedia(
    _ datagram: inout ByteBuffer, isControl: Bool, from remote: TransportAddress, to local: TransportAddress,
    now: MonotonicInstant
  ) {
    guard transport.isValidated(local: local, remote: remote) else { return refuseDatagram() }
    decrypt(&datagram, isControl: isControl, now: now)
  }

  private func decrypt(_ packet: inout ByteBuffer, isControl: Bool, now: MonotonicInstant) {
    switch secure.receiveMedia(&packet, isControl: isControl) {
    case .decrypted: take(packet, isControl: isControl, now: now)
    case .kept: break
    case .refused: refuseDatagram()
    }
  }

  /// Takes an authentic packet.
  private func take(_ packet: ByteBuffer, isControl: Bool, now: MonotonicInstant) {
    if isControl {
      // It may have been a goodbye.
      if transport.controlArrived(packet, now: now) { return endAfterLeaving(now: now) }
      media.receivedRTCP(packet, now: now)
    } else {
      transport.mediaArrived(now: now)
      if media.receivedRTP(packet, now: now) { emit(.reached(.firstPacket)) }
    }
  }

  /// Handles a change of the secure transport.
  func handle(_ change: SecureTransport.Change?, now: MonotonicInstant) {
    switch change {
    case nil:
      break
    case .secured:
      transport.connected()
      self.change(to: .connected)
      media.transportBecameReady(now: now)
      if let role = negotiation.negotiator.session?.dtlsRole { channels.secured(role: role, now: now) }
      for early in secure.takeEarlyMedia() {
        var packet = early.packet
        decrypt(&packet, isControl: early.isControl, now: now)
      }
    case .failed(let reason):
      end(CloseReason(.failed, reason), now: now)
    case .closedByPeer:
      end(CloseReason(.closedByParticipant, "The participant closed the connection."), now: now)
    }
  }

  /// Passes the data of received DTLS records to the channels.
  private func receiveData(now: MonotonicInstant) {
    let records = secure.takeData()
    if records.isEmpty { return }
    transport.dataArrived(now: now)
    for record in records { channels.receive(record, now: now) }
  }

  private func refuseDatagram() { datagramsRefused &+= 1 }
}

/// The suspension of video; see ``VideoSuspension``.
extension PeerConnection {
  /// Whether the participant is connected and has sent video.
  var sendsVideo: Bool { isOpen && media.hasVideoSource }

  /// Returns whether an RTP packet belongs to suspended video, and discards it then.
  func discardIfSuspended(_ packet: inout ByteBuffer, now: MonotonicInstant) -> Bool {
    switch media.discardIfSuspended(packet, now: now) {
    case .accepted:
      return false
    case .discarded:
      break
    case .decrypted(let source, let number):
      if secure.isSecured, case .decrypted = secure.receiveMedia(&packet, isControl: false) {
        media.decrypted(number, of: source)
      }
    }
    transport.dataArrived(now: now)
    return true
  }
}

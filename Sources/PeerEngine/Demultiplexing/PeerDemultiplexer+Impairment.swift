internal import ICE
internal import Media
internal import NIOCore
package import NetworkEmulation

/// The network emulation between engines and sockets. Without a configured impairment none of this is called.
extension PeerDemultiplexer {
  /// Returns whether a datagram received from a socket reaches its engine now; if not, it is lost or arrives later.
  func passesInbound(
    _ datagram: ByteBuffer, from remote: TransportAddress, to local: TransportAddress, of participant: ParticipantID?,
    now: MonotonicInstant
  ) -> Bool {
    guard let engine = owner(of: datagram, from: remote, to: local, of: participant) else { return true }
    return impaired?.passes(
      .init(
        datagram: datagram, local: local, remote: remote, direction: .receive, participant: engine.participant),
      now: now) ?? true
  }

  /// Returns whether an action is carried out now; if not, it was a datagram, which is lost or leaves later.
  func passesOutbound(
    _ action: PeerConnection.Action, _ participant: ParticipantID, now: MonotonicInstant
  ) -> Bool {
    guard case .transmit(let datagram, let local, let remote) = action else { return true }
    return impaired?.passes(
      .init(datagram: datagram, local: local, remote: remote, direction: .send, participant: participant),
      now: now) ?? true
  }

  /// Releases the datagrams that have reached the end of their path.
  func releaseDatagrams(now: MonotonicInstant, carryOut: (PeerConnection.Action, ParticipantID) -> Void) {
    while let queuedDatagram = impaired?.next(now: now) {
      switch queuedDatagram.direction {
      case .send:
        carryOut(
          .transmit(queuedDatagram.datagram, from: queuedDatagram.local, to: queuedDatagram.remote),
          queuedDatagram.participant)
      case .receive:
        var datagram = queuedDatagram.datagram
        let local = queuedDatagram.local
        deliver(
          &datagram, from: queuedDatagram.remote, to: local,
          of: local.isActiveTCP ? queuedDatagram.participant : nil, now: now)
      }
    }
  }

  /// Removes and returns the sent datagrams that are still in flight.
  package func takeHeldDatagrams() -> [NetworkEmulator.QueuedDatagram] { impaired?.takeSent() ?? [] }
}

package import ICE
package import Media
package import NIOCore
package import RTP

/// A ``PeerDemultiplexer`` whose datagrams pass a network in both directions. Without a network it adds nothing.
///
/// The owner passes all datagrams and polls through it; everything else is said to ``demultiplexer``.
package final class NetworkedDemultiplexer {
  package let demultiplexer: PeerDemultiplexer
  private var network: (any DatagramNetwork)?

  package init(_ demultiplexer: PeerDemultiplexer, network: (any DatagramNetwork)? = nil) {
    self.demultiplexer = demultiplexer
    self.network = network
  }

  /// When ``poll(now:wallClock:carryOut:)`` must be called next even if nothing arrives.
  package var deadline: MonotonicInstant? { Deadline.earlier(demultiplexer.deadline, network?.deadline) }
  /// Whether ``deadline`` must be met to the millisecond.
  package var isUrgent: Bool { demultiplexer.isUrgent || network?.deadline != nil }

  package var statistics: [PeerStatistics] {
    guard let network else { return demultiplexer.statistics }
    return demultiplexer.statistics.map { statistics in
      var statistics = statistics
      statistics.network = network.statistics(of: statistics.participant)
      return statistics
    }
  }

  /// Handles a datagram received from one of the sockets; see
  /// ``PeerDemultiplexer/received(_:from:to:of:now:)-(ByteBuffer,_,_,_,_)``.
  package func received(
    _ datagram: inout ByteBuffer, from remote: TransportAddress, to local: TransportAddress,
    of participant: ParticipantID? = nil, now: MonotonicInstant
  ) {
    // What belongs to no participant is only counted.
    if network != nil, let owner = demultiplexer.owner(of: datagram, from: remote, to: local, of: participant) {
      let arriving = NetworkDatagram(
        datagram: datagram, local: local, remote: remote, direction: .receive, participant: owner.participant)
      if network?.passes(arriving, now: now) == false { return }
    }
    demultiplexer.received(&datagram, from: remote, to: local, of: participant, now: now)
  }

  /// Handles a datagram of which the caller has no further use.
  package func received(
    _ datagram: consuming ByteBuffer, from remote: TransportAddress, to local: TransportAddress,
    now: MonotonicInstant
  ) {
    received(&datagram, from: remote, to: local, now: now)
  }

  /// Carries out all actions that are due, and releases the datagrams that have reached the end of their path.
  package func poll(
    now: MonotonicInstant, wallClock: NTPTime, carryOut: (PeerConnection.Action, ParticipantID) -> Void
  ) {
    if network == nil { return demultiplexer.poll(now: now, wallClock: wallClock, carryOut: carryOut) }
    releaseDatagrams(now: now, carryOut: carryOut)
    demultiplexer.poll(now: now, wallClock: wallClock) { action, participant in
      if case .transmit(let datagram, let local, let remote) = action {
        let leaving = NetworkDatagram(
          datagram: datagram, local: local, remote: remote, direction: .send, participant: participant)
        if network?.passes(leaving, now: now) == false { return }
      }
      carryOut(action, participant)
      if case .event(.ended) = action { network?.ended(participant) }
    }
  }

  private func releaseDatagrams(now: MonotonicInstant, carryOut: (PeerConnection.Action, ParticipantID) -> Void) {
    while let released = network?.next(now: now) {
      switch released.direction {
      case .send:
        carryOut(.transmit(released.datagram, from: released.local, to: released.remote), released.participant)
      case .receive:
        var datagram = released.datagram
        demultiplexer.received(
          &datagram, from: released.remote, to: released.local,
          of: released.local.isActiveTCP ? released.participant : nil, now: now)
      }
    }
  }

  /// Removes and returns the sent datagrams that are still in flight.
  package func takeHeldDatagrams() -> [NetworkDatagram] { network?.takeSent() ?? [] }
}

package import ICE
package import Media
package import NIOCore

/// A datagram between an engine and the other side, with its addresses.
package struct NetworkDatagram {
  package enum Direction {
    case send
    case receive
  }

  package var datagram: ByteBuffer
  package var local: TransportAddress
  package var remote: TransportAddress
  /// The direction as we see it.
  package var direction: Direction
  package var participant: ParticipantID

  package init(
    datagram: ByteBuffer, local: TransportAddress, remote: TransportAddress, direction: Direction,
    participant: ParticipantID
  ) {
    self.datagram = datagram
    self.local = local
    self.remote = remote
    self.direction = direction
    self.participant = participant
  }
}

/// A network between engines and sockets. It decides for each datagram whether it is lost and when it continues. It reads no
/// clock.
package protocol DatagramNetwork {
  /// When ``next(now:)`` returns the next datagram; nil when none is in flight.
  var deadline: MonotonicInstant? { get }

  /// Accepts a datagram that a participant's engine sends or is to receive.
  ///
  /// - Returns: whether it continues at once; otherwise it is lost, or ``next(now:)`` returns it later.
  mutating func passes(_ datagram: NetworkDatagram, now: MonotonicInstant) -> Bool

  /// Removes and returns the next datagram that has reached the end of its path by now.
  mutating func next(now: MonotonicInstant) -> NetworkDatagram?

  /// Notes that the participant's engine has ended; its last datagrams are still in flight.
  mutating func ended(_ participant: ParticipantID)

  /// Removes and returns all sent datagrams in flight, in order, for a shutdown after which nothing will release them.
  mutating func takeSent() -> [NetworkDatagram]

  /// Returns the counts of a participant's datagrams, or nil when there were none.
  func statistics(of participant: ParticipantID) -> NetworkStatistics?
}

/// A network that a peer's datagrams pass instead of going directly to the sockets. The library `NetworkEmulation` makes one that
/// loses and delays datagrams: `configuration.network = .emulating(impairment)`.
public struct PeerNetwork: Sendable {
  /// Makes the network of one event loop, by the loop's index.
  package let make: @Sendable (Int) -> any DatagramNetwork

  package init(_ make: @escaping @Sendable (Int) -> any DatagramNetwork) {
    self.make = make
  }
}

package import Media
package import NIOCore
package import PeerEngine
internal import RTP

/// One direction of an impaired network path between two programs, with the datagrams in flight: for a relay, or for a call
/// in memory. It reads no clock.
///
/// The same seed and the same datagrams at the same times give each datagram the same fate.
package struct EmulatedLink: Sendable {
  private var direction: DelayedDirection<ByteBuffer>

  package init(_ conditions: Impairment.Conditions = .init(), seed: UInt64) {
    direction = DelayedDirection(ImpairedDirection([Impairment.Step(at: .zero, conditions)], seed: seed))
  }

  /// They may be changed at any time; datagrams in flight are not affected.
  package var conditions: Impairment.Conditions {
    get { direction.link.conditions }
    set { direction.link.conditions = newValue }
  }

  /// What has happened to all datagrams so far.
  package var counts: NetworkStatistics.DatagramCounts { direction.link.counts.total }

  /// The arrival of the next datagram; nil if none is in flight.
  package var deadline: MonotonicInstant? { direction.deadline }

  /// Accepts a datagram.
  ///
  /// - Returns: whether it will arrive; otherwise it is lost.
  @discardableResult
  package mutating func send(_ datagram: ByteBuffer, now: MonotonicInstant) -> Bool {
    let kind = NetworkStatistics.DatagramKind(PacketKind.of(datagram))
    switch direction.accept(datagram, bytes: datagram.readableBytes, kind: kind, now: now) {
    case .passes:
      direction.hold(datagram, until: now)
      return true
    case .held: return true
    case .dropped: return false
    }
  }

  /// Removes and returns the next datagram that has arrived by now.
  package mutating func receive(now: MonotonicInstant) -> ByteBuffer? { direction.next(now: now) }
}

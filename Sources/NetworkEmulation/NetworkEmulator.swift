package import Media
internal import NIOCore
package import PeerEngine
internal import RTP

/// The impaired network paths of all participants, with the datagrams in flight on them.
package struct NetworkEmulator: DatagramNetwork {
  /// The number of datagrams that one direction of a path buffers; more are dropped.
  static let capacity = 16_384

  private let impairment: Impairment
  private var paths: [ParticipantID: EmulatedPath] = [:]
  private var pathCount: UInt64 = 0

  package init(_ impairment: Impairment) {
    self.impairment = impairment
  }

  /// Accepts a datagram that a participant's engine sends or is expected to receive.
  ///
  /// - Returns: Whether it continues at once; otherwise it is lost, or ``next(now:)`` returns it later.
  package mutating func passes(_ datagram: NetworkDatagram, now: MonotonicInstant) -> Bool {
    if paths[datagram.participant] == nil {
      paths[datagram.participant] = EmulatedPath(impairment, number: pathCount)
      pathCount += 1
    }
    return paths[datagram.participant]?.passes(datagram, now: now) ?? true
  }

  /// Removes and returns the next datagram that has reached the end of its path by now.
  package mutating func next(now: MonotonicInstant) -> NetworkDatagram? {
    guard let deadline, deadline <= now else { return nil }
    let due = paths.min { Self.isEarlier($0.value.deadline, $1.value.deadline) }
    guard let participant = due?.key, let datagram = paths[participant]?.next(now: now) else { return nil }
    if paths[participant]?.isSpent == true { paths[participant] = nil }
    return datagram
  }

  /// When ``next(now:)`` returns the next datagram; nil when none is in flight.
  package var deadline: MonotonicInstant? {
    paths.values.lazy.compactMap(\.deadline).min()
  }

  /// Notes that the participant's engine has ended; its last datagrams are still in flight.
  package mutating func ended(_ participant: ParticipantID) {
    paths[participant]?.hasEnded = true
    if paths[participant]?.isSpent == true { paths[participant] = nil }
  }

  /// Removes and returns all sent datagrams in flight, in order, for a shutdown after which no timer will release them.
  package mutating func takeSent() -> [NetworkDatagram] {
    defer { paths.removeAll() }
    var datagrams: [NetworkDatagram] = []
    for participant in paths.keys {
      while let datagram = paths[participant]?.send.takeFirst() { datagrams.append(datagram) }
    }
    return datagrams
  }

  /// Returns the counts of a participant's datagrams, or nil when there were none.
  package func statistics(of participant: ParticipantID) -> NetworkStatistics? {
    paths[participant]?.statistics
  }

  private static func isEarlier(_ one: MonotonicInstant?, _ other: MonotonicInstant?) -> Bool {
    guard let one else { return false }
    return other.map { one < $0 } ?? true
  }

  /// Both directions of one participant's network path.
  private struct EmulatedPath {
    var send: DelayedDirection<NetworkDatagram>
    var receive: DelayedDirection<NetworkDatagram>
    var hasEnded = false

    init(_ impairment: Impairment, number: UInt64) {
      send = DelayedDirection(ImpairedDirection(impairment, .send, number: number))
      receive = DelayedDirection(ImpairedDirection(impairment, .receive, number: number))
    }

    mutating func passes(_ datagram: NetworkDatagram, now: MonotonicInstant) -> Bool {
      hasEnded = false
      let kind = NetworkStatistics.DatagramKind(PacketKind.of(datagram.datagram))
      if kind == .rtp {
        send.link.startClock(now: now)
        receive.link.startClock(now: now)
      }
      let bytes = datagram.datagram.readableBytes
      switch datagram.direction {
      case .send: return send.accept(datagram, bytes: bytes, kind: kind, now: now) == .passes
      case .receive: return receive.accept(datagram, bytes: bytes, kind: kind, now: now) == .passes
      }
    }

    mutating func next(now: MonotonicInstant) -> NetworkDatagram? {
      NetworkEmulator.isEarlier(send.deadline, receive.deadline) ? send.next(now: now) : receive.next(now: now)
    }

    var deadline: MonotonicInstant? {
      NetworkEmulator.isEarlier(send.deadline, receive.deadline) ? send.deadline : receive.deadline
    }

    /// Whether the path can be removed without losing datagrams.
    var isSpent: Bool { hasEnded && deadline == nil }

    var statistics: NetworkStatistics {
      var statistics = NetworkStatistics()
      statistics.sent = send.link.counts
      statistics.received = receive.link.counts
      statistics.clockStart = send.link.clockStart?.instant
      return statistics
    }
  }
}

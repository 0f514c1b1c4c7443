package import ICE
package import Media
package import NIOCore
internal import RTP

/// The impaired network paths of all participants, with the datagrams in flight on them.
package struct NetworkEmulator {
  /// A datagram in flight, with its addresses.
  package struct QueuedDatagram {
    package var datagram: ByteBuffer
    package var local: TransportAddress
    package var remote: TransportAddress
    package var direction: Impairment.Direction
    package var participant: ParticipantID

    package init(
      datagram: ByteBuffer, local: TransportAddress, remote: TransportAddress, direction: Impairment.Direction,
      participant: ParticipantID
    ) {
      self.datagram = datagram
      self.local = local
      self.remote = remote
      self.direction = direction
      self.participant = participant
    }
  }

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
  package mutating func passes(_ queuedDatagram: QueuedDatagram, now: MonotonicInstant) -> Bool {
    if paths[queuedDatagram.participant] == nil {
      paths[queuedDatagram.participant] = EmulatedPath(impairment, number: pathCount)
      pathCount += 1
    }
    return paths[queuedDatagram.participant]?.passes(queuedDatagram, now: now) ?? true
  }

  /// Removes and returns the next datagram that has reached the end of its path by now.
  package mutating func next(now: MonotonicInstant) -> QueuedDatagram? {
    guard let deadline, deadline <= now else { return nil }
    let due = paths.min { Self.isEarlier($0.value.deadline, $1.value.deadline) }
    guard let participant = due?.key, let queuedDatagram = paths[participant]?.next(now: now) else { return nil }
    if paths[participant]?.isSpent == true { paths[participant] = nil }
    return queuedDatagram
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
  package mutating func takeSent() -> [QueuedDatagram] {
    defer { paths.removeAll() }
    var queuedDatagrams: [QueuedDatagram] = []
    for participant in paths.keys {
      while let queuedDatagram = paths[participant]?.send.takeFirst() { queuedDatagrams.append(queuedDatagram) }
    }
    return queuedDatagrams
  }

  /// Returns the counts of a participant's datagrams, or nil when there were none.
  package func statistics(of participant: ParticipantID) -> Impairment.Statistics? {
    paths[participant]?.statistics
  }

  private static func isEarlier(_ one: MonotonicInstant?, _ other: MonotonicInstant?) -> Bool {
    guard let one else { return false }
    return other.map { one < $0 } ?? true
  }

  /// Both directions of one participant's network path.
  private struct EmulatedPath {
    var send: DelayedDirection
    var receive: DelayedDirection
    var hasEnded = false

    init(_ impairment: Impairment, number: UInt64) {
      send = DelayedDirection(impairment, .send, number: number)
      receive = DelayedDirection(impairment, .receive, number: number)
    }

    mutating func passes(_ queuedDatagram: QueuedDatagram, now: MonotonicInstant) -> Bool {
      hasEnded = false
      let kind = Impairment.DatagramKind(PacketKind.of(queuedDatagram.datagram))
      if kind == .rtp {
        send.link.startClock(now: now)
        receive.link.startClock(now: now)
      }
      switch queuedDatagram.direction {
      case .send: return send.passes(queuedDatagram, kind: kind, now: now)
      case .receive: return receive.passes(queuedDatagram, kind: kind, now: now)
      }
    }

    mutating func next(now: MonotonicInstant) -> QueuedDatagram? {
      NetworkEmulator.isEarlier(send.deadline, receive.deadline) ? send.next(now: now) : receive.next(now: now)
    }

    var deadline: MonotonicInstant? {
      NetworkEmulator.isEarlier(send.deadline, receive.deadline) ? send.deadline : receive.deadline
    }

    /// Whether the path can be removed without losing datagrams.
    var isSpent: Bool { hasEnded && deadline == nil }

    var statistics: Impairment.Statistics {
      var statistics = Impairment.Statistics()
      statistics.sent = send.link.counts
      statistics.received = receive.link.counts
      statistics.clockStart = send.link.clockStart?.instant
      return statistics
    }
  }
}

extension Impairment.DatagramKind {
  init(_ kind: PacketKind) {
    switch kind {
    case .rtp: self = .rtp
    case .rtcp: self = .rtcp
    case .stun: self = .stun
    case .dtls: self = .dtls
    case .unknown: self = .other
    }
  }
}

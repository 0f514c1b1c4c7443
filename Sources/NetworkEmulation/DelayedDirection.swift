internal import Media
internal import NIOCore
internal import PeerEngine

/// One direction of an impaired network path, with the datagrams in flight.
struct DelayedDirection {
  private typealias Held = (arrival: MonotonicInstant, datagram: NetworkDatagram)

  var link: ImpairedDirection
  /// The datagrams in flight in order of arrival, which is nearly always the order in which they were sent.
  private var queue = CircularBuffer<Held>()
  /// The datagrams that arrive before the last one of the queue because that was delayed for reordering; also in order of
  /// arrival.
  private var overtaking: [Held] = []

  /// - Parameter number: the index of the network path among all, counted from 0.
  init(_ impairment: Impairment, _ direction: Impairment.Direction, number: UInt64) {
    let position = number &* 2 &+ (direction == .send ? 0 : 1)
    var seeds = SplitMix64(seed: impairment.seed &+ position &* 0xD134_2543_DE82_EF95)
    link = ImpairedDirection(impairment.steps(direction), seed: seeds.next())
  }

  /// Accepts a datagram and returns whether it continues at once.
  mutating func passes(_ datagram: NetworkDatagram, kind: NetworkStatistics.DatagramKind, now: MonotonicInstant)
    -> Bool
  {
    let hasRoom = queue.count + overtaking.count < NetworkEmulator.capacity
    switch link.fate(bytes: datagram.datagram.readableBytes, kind: kind, hasRoom: hasRoom, now: now) {
    case .dropped:
      return false
    case .held(let arrival):
      hold((arrival, datagram))
      return false
    case .passes:
      // Datagrams that are already due go first.
      guard let deadline, deadline <= now else { return true }
      hold((now, datagram))
      return false
    }
  }

  /// When the next datagram arrives.
  var deadline: MonotonicInstant? {
    guard let first = overtaking.first?.arrival else { return queue.first?.arrival }
    return queue.first.map { min($0.arrival, first) } ?? first
  }

  /// Removes and returns the next datagram that has arrived by now.
  mutating func next(now: MonotonicInstant) -> NetworkDatagram? {
    guard let deadline, deadline <= now else { return nil }
    return takeFirst()
  }

  /// Removes and returns the next datagram, whenever it arrives.
  mutating func takeFirst() -> NetworkDatagram? {
    if let first = overtaking.first, queue.first.map({ first.arrival < $0.arrival }) ?? true {
      return overtaking.removeFirst().datagram
    }
    return queue.popFirst()?.datagram
  }

  private mutating func hold(_ held: Held) {
    if let last = queue.last, held.arrival < last.arrival {
      let position = overtaking.firstIndex { $0.arrival > held.arrival }
      overtaking.insert(held, at: position ?? overtaking.endIndex)
    } else {
      queue.append(held)
    }
  }
}

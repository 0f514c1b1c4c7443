internal import Media
internal import NIOCore
internal import PeerEngine

/// One direction of an impaired network path, with the datagrams in flight.
struct DelayedDirection<Datagram> {
  private typealias Held = (arrival: MonotonicInstant, datagram: Datagram)

  var link: ImpairedDirection
  /// The datagrams in flight in order of arrival, which is nearly always the order in which they were sent.
  private var queue = CircularBuffer<Held>()
  /// The datagrams that arrive before the last one of the queue because that was delayed for reordering; also in order of
  /// arrival.
  private var overtaking: [Held] = []

  init(_ link: ImpairedDirection) {
    self.link = link
  }

  /// What happened to a datagram.
  enum Outcome: Sendable, Hashable {
    case passes
    case held
    case dropped
  }

  /// Accepts a datagram of a number of bytes and returns whether it continues at once, and otherwise, whether it is in flight.
  mutating func accept(
    _ datagram: Datagram, bytes: Int, kind: NetworkStatistics.DatagramKind, now: MonotonicInstant
  ) -> Outcome {
    let hasRoom = queue.count + overtaking.count < NetworkEmulator.capacity
    let fate = link.fate(bytes: bytes, kind: kind, hasRoom: hasRoom, now: now)
    let outcome: Outcome
    switch fate {
    case .dropped:
      return .dropped
    case .held(let arrival):
      hold(datagram, until: arrival)
      outcome = .held
    case .passes:
      // Datagrams that are already due go first.
      if let deadline, deadline <= now {
        hold(datagram, until: now)
        outcome = .held
      } else {
        outcome = .passes
      }
    }
    if link.duplicates {
      let arrival = if case .held(let arrival) = fate { arrival } else { now }
      hold(datagram, until: arrival)
    }
    return outcome
  }

  /// When the next datagram arrives.
  var deadline: MonotonicInstant? {
    guard let first = overtaking.first?.arrival else { return queue.first?.arrival }
    return queue.first.map { min($0.arrival, first) } ?? first
  }

  /// Removes and returns the next datagram that has arrived by now.
  mutating func next(now: MonotonicInstant) -> Datagram? {
    guard let deadline, deadline <= now else { return nil }
    return takeFirst()
  }

  /// Removes and returns the next datagram, whenever it arrives.
  mutating func takeFirst() -> Datagram? {
    if let first = overtaking.first, queue.first.map({ first.arrival < $0.arrival }) ?? true {
      return overtaking.removeFirst().datagram
    }
    return queue.popFirst()?.datagram
  }

  /// Keeps a datagram in flight, whatever the conditions are.
  mutating func hold(_ datagram: Datagram, until arrival: MonotonicInstant) {
    if let last = queue.last, arrival < last.arrival {
      let position = overtaking.firstIndex { $0.arrival > arrival }
      overtaking.insert((arrival, datagram), at: position ?? overtaking.endIndex)
    } else {
      queue.append((arrival, datagram))
    }
  }
}

extension DelayedDirection: Sendable where Datagram: Sendable {}

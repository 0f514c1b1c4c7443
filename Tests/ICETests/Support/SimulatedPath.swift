import Media
import NIOCore
import TestSupport
import Testing

@testable import ICE

/// A node that sends and receives datagrams by the manual clock.
protocol Node {
  var hosts: [TransportAddress] { get }
  var deadline: MonotonicInstant? { get }
  mutating func take(
    _ datagram: ByteBuffer, from: TransportAddress, to: TransportAddress, now: MonotonicInstant)
  mutating func poll(now: MonotonicInstant) -> [ICEAgent.Action]
  /// Whether media that arrives from an address at a local one is taken.
  func takesMedia(from source: TransportAddress, to local: TransportAddress) -> Bool
}

extension ICEAgent: Node {
  var hosts: [TransportAddress] {
    bases.map(\.address)
  }

  mutating func take(
    _ datagram: ByteBuffer, from: TransportAddress, to: TransportAddress, now: MonotonicInstant
  ) {
    _ = received(datagram, from: from, to: to, now: now)
  }

  func takesMedia(from source: TransportAddress, to local: TransportAddress) -> Bool {
    isValidated(local: local, remote: source)
  }
}

enum Side: Sendable {
  case left
  case right

  var other: Side { self == .left ? .right : .left }
}

/// An agent on the left and a node on the right, connected by a path that delays, loses, reorders and translates
/// datagrams, with a seed and in manual time.
struct SimulatedPath<Right: Node> {
  struct Event {
    /// The time since the creation of the path.
    let time: Duration
    let side: Side
    let action: ICEAgent.Action
  }

  /// A datagram of media at the end of its path.
  struct MediaArrival {
    let side: Side
    let isAccepted: Bool
  }

  private struct Flight {
    let arrival: MonotonicInstant
    let datagram: ByteBuffer
    let from: TransportAddress
    let to: TransportAddress
    let side: Side
  }

  var left: ICEAgent
  var right: Right
  private(set) var now: MonotonicInstant
  private let start: MonotonicInstant
  /// The one-way delay in milliseconds; a range causes reordering.
  var delay: ClosedRange<Int64> = 1...1
  /// The fraction of datagrams that are lost.
  var loss = 0.0
  /// Whether datagrams from one address to another are dropped, with the addresses as the sender sees them.
  var isBlocked: (TransportAddress, TransportAddress) -> Bool = { _, _ in false }
  var leftNAT: AddressTranslator?
  var rightNAT: AddressTranslator?
  var connections = ConnectionTable()
  private(set) var events: [Event] = []
  /// Datagrams sent by each side.
  private(set) var sent: [Side: [ByteBuffer]] = [:]
  private var media: [MediaArrival] = []
  private var flights: [Flight] = []
  private var generator: SeededGenerator

  init(left: ICEAgent, right: Right, seed: UInt64 = 1, now: MonotonicInstant = .now) {
    self.left = left
    self.right = right
    self.now = now
    start = now
    generator = SeededGenerator(seed: seed)
  }

  /// Advances time until a condition holds.
  ///
  /// - Returns: the elapsed time, or nil when the limit was reached first.
  @discardableResult
  mutating func run(_ limit: Duration, until isReached: (Self) -> Bool = { _ in false }) -> Duration? {
    let begin = now
    let end = now + limit
    settle()
    while !isReached(self) {
      let next = [flights.map(\.arrival).min(), left.deadline, right.deadline].compactMap { $0 }.min() ?? end
      guard next < end else {
        now = end
        settle()
        return isReached(self) ? now - begin : nil
      }
      now = max(now, next)
      deliver()
      settle()
    }
    return now - begin
  }

  /// Delivers a datagram to one side as if it had arrived on the path.
  mutating func inject(_ datagram: ByteBuffer, from: TransportAddress, to: TransportAddress, side: Side) {
    switch side {
    case .left: left.take(datagram, from: from, to: to, now: now)
    case .right: right.take(datagram, from: from, to: to, now: now)
    }
    settle()
  }

  /// Sends a datagram of one side.
  mutating func transmit(_ datagram: ByteBuffer, from: TransportAddress, to: TransportAddress, of side: Side) {
    launch(datagram, from: from, to: to, of: side)
  }

  /// Removes and returns the media that has arrived.
  mutating func takeMedia() -> [MediaArrival] {
    defer { media = [] }
    return media
  }

  private mutating func deliver() {
    let due = flights.filter { $0.arrival <= now }.sorted { $0.arrival < $1.arrival }
    flights.removeAll { $0.arrival <= now }
    for flight in due {
      // The first bits of RTP are 1 and 0, those of STUN 0 and 0 (RFC 7983, 7).
      if flight.datagram.readableBytesView.first.map({ $0 >= 0x80 }) == true {
        let isAccepted =
          switch flight.side {
          case .left: left.takesMedia(from: flight.from, to: flight.to)
          case .right: right.takesMedia(from: flight.from, to: flight.to)
          }
        media.append(MediaArrival(side: flight.side, isAccepted: isAccepted))
        continue
      }
      switch flight.side {
      case .left: left.take(flight.datagram, from: flight.from, to: flight.to, now: now)
      case .right: right.take(flight.datagram, from: flight.from, to: flight.to, now: now)
      }
    }
  }

  /// Polls both sides until neither is due.
  private mutating func settle() {
    for _ in 0..<20 {
      let isLeftDue = left.deadline.map { $0 <= now } ?? false
      let isRightDue = right.deadline.map { $0 <= now } ?? false
      guard isLeftDue || isRightDue else { return }
      if isLeftDue { carryOut(left.poll(now: now), of: .left) }
      if isRightDue { carryOut(right.poll(now: now), of: .right) }
    }
    Issue.record("A deadline does not advance, so polling would spin.")
  }

  private mutating func carryOut(_ actions: [ICEAgent.Action], of side: Side) {
    for action in actions {
      events.append(Event(time: now - start, side: side, action: action))
      if case .send(let datagram, let from, let to) = action { launch(datagram, from: from, to: to, of: side) }
    }
  }

  private mutating func launch(
    _ datagram: ByteBuffer, from: TransportAddress, to: TransportAddress, of side: Side
  ) {
    sent[side, default: []].append(datagram)
    guard !isBlocked(from, to), Double.random(in: 0..<1, using: &generator) >= loss else { return }
    let to = (side == .left ? leftNAT : rightNAT)?.outside(to) ?? to
    let opened = connections.leaving(from, to)
    let source = (side == .left ? leftNAT?.leaving(opened, to) : rightNAT?.leaving(opened, to)) ?? opened
    var target = connections.entering(to, from: source)
    switch side.other {
    case .left: if leftNAT != nil { target = leftNAT?.entering(to, from: source) }
    case .right: if rightNAT != nil { target = rightNAT?.entering(to, from: source) }
    }
    guard let target, (side == .left ? right.hosts : left.hosts).contains(target) else { return }
    flights.append(
      Flight(
        arrival: now + .milliseconds(Int64.random(in: delay, using: &generator)), datagram: datagram,
        from: (side.other == .left ? leftNAT : rightNAT)?.inside(source) ?? source, to: target, side: side.other))
  }
}

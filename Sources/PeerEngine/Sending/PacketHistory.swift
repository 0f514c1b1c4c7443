package import Media
package import RTP

/// Stores the packets of the last seconds for retransmission.
package struct PacketHistory: Sendable {
  private struct Entry: Sendable {
    var packet: RTPPacket
    var sent: MonotonicInstant
    var resent: MonotonicInstant?
    var repeats = 0
  }

  /// The maximum number of packets: 5 s of 8 Mb/s, or 5 MB.
  private static let capacity = 4_096
  /// How often one packet is retransmitted. Our own receiver requests it 30 to 50 times before it gives up.
  package static let maximumRepetition = 64

  /// How long a packet is stored: as long as our own receiver requests it, which is 3 s after it misses the packet, and the
  /// round-trip time. Browsers request it for about a second.
  package let span: Duration

  private var ring: [Entry?] = Array(repeating: nil, count: 64)
  private var oldest: UInt16 = 0
  private var count = 0

  package init(span: Duration = .seconds(5)) {
    self.span = span
  }

  /// Stores a sent packet; sequence numbers must be consecutive.
  package mutating func sent(_ packet: RTPPacket, now: MonotonicInstant) {
    let sequence = packet.sequenceNumber
    if count == 0 || sequence &- oldest != UInt16(truncatingIfNeeded: count) {
      clear()
      oldest = sequence
    }
    // Only the time is read: to bind the entry would copy its packet.
    while count > 0, let firstSent = ring[slot(oldest)]?.sent, now - firstSent > span || count >= Self.capacity {
      ring[slot(oldest)] = nil
      oldest &+= 1
      count -= 1
    }
    if count == 0 { oldest = sequence }
    if count == ring.count { grow() }
    ring[slot(sequence)] = Entry(packet: packet, sent: now)
    count += 1
  }

  /// Returns the packet with this sequence number, or nil if it is no longer stored, was retransmitted so recently that the
  /// request may have crossed it, or was retransmitted too often.
  ///
  /// - Parameter roundTrip: the time after which a request can take a retransmission into account.
  package mutating func packet(
    _ sequenceNumber: UInt16, roundTrip: Duration, now: MonotonicInstant
  ) -> RTPPacket? {
    guard Int(sequenceNumber &- oldest) < count, let entry = ring[slot(sequenceNumber)],
      entry.packet.sequenceNumber == sequenceNumber, now - entry.sent <= span, entry.repeats < Self.maximumRepetition
    else { return nil }
    let pause = max(.milliseconds(10), roundTrip * 3 / 4)
    if let resent = entry.resent, now - resent < pause { return nil }
    ring[slot(sequenceNumber)]?.resent = now
    ring[slot(sequenceNumber)]?.repeats += 1
    return entry.packet
  }

  /// Returns a packet by its age, 0 for the newest, or nil if there is none.
  package mutating func newest(_ age: Int, now: MonotonicInstant) -> RTPPacket? {
    guard age < count else { return nil }
    let position = slot(oldest &+ UInt16(truncatingIfNeeded: count - 1 - age))
    guard let packet = ring[position]?.packet else { return nil }
    ring[position]?.resent = now
    return packet
  }

  /// Removes all packets: they are not retransmitted any more.
  package mutating func forget() { clear() }

  private func slot(_ sequence: UInt16) -> Int { Int(sequence) & (ring.count - 1) }

  private mutating func clear() {
    for position in ring.indices { ring[position] = nil }
    count = 0
  }

  private mutating func grow() {
    var larger = [Entry?](repeating: nil, count: ring.count * 2)
    for offset in 0..<count {
      let sequence = oldest &+ UInt16(truncatingIfNeeded: offset)
      larger[Int(sequence) & (larger.count - 1)] = ring[slot(sequence)]
    }
    ring = larger
  }
}

/// Limits retransmissions: in the long run to one and a half bytes for each byte that was sent for the first time, so that
/// a peer that requests everything repeatedly cannot cause much traffic with small requests.
///
/// A path that loses six packets in ten still gets everything that it needs. The budget has no clock: it grows with each
/// sent packet, up to what an outage of some seconds costs.
package struct RetransmissionBudget: Sendable {
  /// The bytes that each byte sent for the first time adds, in hundredths.
  package static let percentage = 150
  /// The maximum of the budget in bytes.
  package static let maximumBytes = 2 << 20
  /// The initial budget: the first keyframe may need all of its packets again.
  package static let initial = 256 << 10

  /// The bytes that may be retransmitted now.
  package private(set) var bytes = RetransmissionBudget.initial

  package init() {}

  /// Adds to the budget for a packet that left for the first time.
  package mutating func earn(_ size: Int) {
    bytes = min(Self.maximumBytes, bytes + size * Self.percentage / 100)
  }

  /// Returns whether a packet may be retransmitted; if so, its size is subtracted.
  package mutating func spend(_ size: Int) -> Bool {
    guard bytes >= size else { return false }
    bytes -= size
    return true
  }
}

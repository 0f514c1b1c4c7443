package import Media
package import RTP

/// Keeps the packets of the last seconds, to send one again when it was lost.
package struct PacketHistory: Sendable {
  private struct Entry: Sendable {
    var packet: RTPPacket
    var sent: MonotonicInstant
    var resent: MonotonicInstant?
    var repeats = 0
  }

  /// The most packets that are kept: 5 s of 8 Mb/s, or 5 MB.
  private static let capacity = 4_096
  /// How often one packet is sent again. Our own receiver asks 30 to 50 times before it gives up.
  package static let maximumRepetition = 64

  /// How long a packet is kept: as long as our own receiver asks, which is 3 s from when it misses the packet, and the
  /// way there and back. Browsers request about a second.
  package let span: Duration

  private var ring: [Entry?] = Array(repeating: nil, count: 64)
  private var oldest: UInt16 = 0
  private var count = 0

  package init(span: Duration = .seconds(5)) {
    self.span = span
  }

  /// Keeps a packet that has left; sequence numbers come in order.
  package mutating func sent(_ packet: RTPPacket, now: MonotonicInstant) {
    let sequence = packet.sequenceNumber
    if count == 0 || sequence &- oldest != UInt16(truncatingIfNeeded: count) {
      clear()
      oldest = sequence
    }
    while count > 0, let first = ring[slot(oldest)], now - first.sent > span || count >= Self.capacity {
      ring[slot(oldest)] = nil
      oldest &+= 1
      count -= 1
    }
    if count == 0 { oldest = sequence }
    if count == ring.count { grow() }
    ring[slot(sequence)] = Entry(packet: packet, sent: now)
    count += 1
  }

  /// The packet with this number; nil when it is not known any more, was sent again so short a while ago that the
  /// request cannot know of it, or was sent again too often.
  ///
  /// - Parameter roundTrip: how long a request needs to learn of an answer.
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

  /// A packet by its age, 0 for the newest; nil when there is none, or it was sent again before.
  package mutating func newest(_ age: Int, now: MonotonicInstant) -> RTPPacket? {
    guard age < count else { return nil }
    let position = slot(oldest &+ UInt16(truncatingIfNeeded: count - 1 - age))
    guard let packet = ring[position]?.packet else { return nil }
    ring[position]?.resent = now
    return packet
  }

  /// Forgets all packets: what is lost of them is not sent again.
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

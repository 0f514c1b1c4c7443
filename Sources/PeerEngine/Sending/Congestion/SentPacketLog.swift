package import Media
package import RTP

/// When each packet of the transport left, and what the receiver's feedback says of its arrival.
///
/// Bounded: of packets that left longest ago, those beyond ``capacity`` are forgotten, and feedback on numbers that are
/// not known says nothing.
package struct SentPacketLog: Sendable {
  /// A packet that arrived.
  package struct Arrival: Sendable, Hashable {
    package var sent: MonotonicInstant
    /// When it arrived, in microseconds on the receiver's own clock; only differences mean anything.
    package var arrived: Int64
    /// Bytes of the RTP packet.
    package var size: Int
    /// The probe that it belonged to.
    package var probe: Int?

    package init(sent: MonotonicInstant, arrived: Int64, size: Int, probe: Int? = nil) {
      self.sent = sent
      self.arrived = arrived
      self.size = size
      self.probe = probe
    }
  }

  /// What one feedback says.
  package struct Report: Sendable {
    /// In the order of their arrival.
    package var arrivals: [Arrival] = []
    /// Packets of which it was to be learned now whether they arrived, and how many of them did not.
    package var expected = 0
    package var lost = 0
  }

  private struct Entry: Sendable {
    var number: Int64 = -1
    var sent: MonotonicInstant
    var size = 0
    /// All bytes up to this packet, it included.
    var total: Int64 = 0
    var probe: Int?
    var hasArrived = false
  }

  /// The most packets that are remembered: 10 s of 3 Mb/s.
  package static let capacity = 4_096
  /// A packet of which nothing was heard for so long is not on its way any more, whatever became of it.
  private static let maximumFlight: Duration = .seconds(1)
  /// How far from its beginning the receiver's clock is followed, in units of 250 µs: some thousand years.
  private static let maximumClock: UInt64 = 1 << 50

  private var entries: [Entry] = []
  private var unwrapper = SequenceNumberUnwrapper()
  private var newest: Int64?
  private var total: Int64 = 0
  /// The newest number that feedback has spoken of.
  private var reported: Int64?
  /// Bytes up to there, or up to what has been on its way for too long.
  private var settled: Int64 = 0
  private var settledNumber: Int64?
  private var lastArrival: Int64 = 0

  package init() {}

  /// Bytes that are on their way, as far as is known.
  package mutating func inFlight(now: MonotonicInstant) -> Int {
    guard let newest, var number = settledNumber else { return 0 }
    number = max(number, newest - Int64(Self.capacity))
    while number < newest {
      guard let entry = entry(number + 1) else { break }
      guard now - entry.sent > Self.maximumFlight else { break }
      settled = entry.total
      number += 1
    }
    settledNumber = number
    return Int(clamping: max(0, total - settled))
  }

  /// Notes that a packet leaves.
  package mutating func sent(number: UInt16, size: Int, probe: Int? = nil, now: MonotonicInstant) {
    let position = unwrapper.unwrap(number)
    total += Int64(size)
    let entry = Entry(number: position, sent: now, size: size, total: total, probe: probe)
    if entries.isEmpty { entries = Array(repeating: Entry(sent: now), count: Self.capacity) }
    entries[slot(position)] = entry
    if settledNumber == nil { settledNumber = position - 1 }
    newest = position
  }

  /// Takes in a feedback; packets that it reports a second time are skipped.
  package mutating func received(_ feedback: TransportFeedback) -> Report {
    var report = Report()
    guard let newest else { return report }
    let base = unwrapper.position(of: feedback.baseSequenceNumber)
    let end = min(newest, base + Int64(feedback.packetStatusCount) - 1)
    guard base > newest - Int64(Self.capacity), end >= base else { return report }
    for arrival in feedback.arrivals {
      // 24 bits of 64 ms and a delta of 250 µs make 32 bits, which go round together.
      var units = lastArrival + Int64(Int32(truncatingIfNeeded: arrival.time &- lastArrival))
      // Feedback that leaps by days each time would lead out of the numbers at last.
      if units.magnitude > Self.maximumClock { units = 0 }
      let number = unwrapper.position(of: arrival.sequenceNumber)
      guard let entry = entry(number), !entry.hasArrived else { continue }
      lastArrival = units
      entries[slot(number)].hasArrived = true
      report.arrivals.append(
        Arrival(sent: entry.sent, arrived: units * 250, size: entry.size, probe: entry.probe))
    }
    report.arrivals.sort { $0.arrived < $1.arrived }
    if let reported, end <= reported { return report }
    let first = max(base, (reported ?? base - 1) + 1)
    for number in first...end {
      guard let entry = entry(number) else { continue }
      report.expected += 1
      if !entry.hasArrived { report.lost += 1 }
    }
    reported = end
    if let entry = entry(end), entry.total > settled {
      settled = entry.total
      settledNumber = end
    }
    return report
  }

  private func entry(_ number: Int64) -> Entry? {
    guard !entries.isEmpty else { return nil }
    let entry = entries[slot(number)]
    return entry.number == number ? entry : nil
  }

  private func slot(_ number: Int64) -> Int { Int(truncatingIfNeeded: number) & (Self.capacity - 1) }
}

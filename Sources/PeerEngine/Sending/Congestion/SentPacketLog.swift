package import Media
package import RTP

/// Stores when each packet of the transport left, and matches it with the receiver's feedback.
///
/// Bounded: packets beyond the newest ``capacity`` are forgotten, and feedback on unknown sequence numbers is ignored.
package struct SentPacketLog: Sendable {
  /// A packet that arrived.
  package struct Arrival: Sendable, Hashable {
    package var sent: MonotonicInstant
    /// When it arrived, in microseconds on the receiver's own clock; only differences are meaningful.
    package var arrived: Int64
    /// The size of the RTP packet in bytes.
    package var size: Int
    /// The number of the probe to which it belonged.
    package var probe: Int?

    package init(sent: MonotonicInstant, arrived: Int64, size: Int, probe: Int? = nil) {
      self.sent = sent
      self.arrived = arrived
      self.size = size
      self.probe = probe
    }
  }

  /// The content of one feedback packet.
  package struct Report: Sendable {
    /// The arrived packets, in order of arrival.
    package var arrivals: [Arrival] = []
    /// The packets whose arrival this feedback had to report, and how many of them did not arrive.
    package var expected = 0
    package var lost = 0
  }

  private struct Entry: Sendable {
    var number: Int64 = -1
    var sent: MonotonicInstant
    var size = 0
    /// The sum of bytes up to and including this packet.
    var total: Int64 = 0
    var probe: Int?
    var hasArrived = false
  }

  /// The maximum number of packets that are stored: 10 s of 3 Mb/s.
  package static let capacity = 4_096
  /// A packet without feedback for this long no longer counts as in flight, whether or not it arrived.
  private static let maximumFlight: Duration = .seconds(1)
  /// How far from its origin the receiver's clock is followed, in units of 250 µs: some thousand years.
  private static let maximumClock: UInt64 = 1 << 50

  private var entries: [Entry] = []
  private var unwrapper = SequenceNumberUnwrapper()
  private var newest: Int64?
  private var total: Int64 = 0
  /// The newest sequence number that feedback has covered.
  private var reported: Int64?
  /// The sum of bytes up to that packet, or up to the last one that no longer counts as in flight.
  private var settled: Int64 = 0
  private var settledNumber: Int64?
  private var lastArrival: Int64 = 0

  package init() {}

  /// Returns the estimated number of bytes in flight.
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

  /// Evaluates a feedback packet; packets that are reported a second time are skipped.
  package mutating func received(_ feedback: TransportFeedback) -> Report {
    var report = Report()
    guard let newest else { return report }
    let base = unwrapper.position(of: feedback.baseSequenceNumber)
    let end = min(newest, base + Int64(feedback.packetStatusCount) - 1)
    guard base > newest - Int64(Self.capacity), end >= base else { return report }
    for arrival in feedback.arrivals {
      // 24 bits of 64 ms and a delta of 250 µs make 32 bits, which wrap together.
      var units = lastArrival + Int64(Int32(truncatingIfNeeded: arrival.time &- lastArrival))
      // Feedback that jumps by days each time would overflow eventually.
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

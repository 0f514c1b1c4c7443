package import Media
package import RTP

/// Computes the reception statistics of one source for its report blocks (RFC 3550, 6.4.1, A.3, A.8).
package struct ReceptionReporter: Sendable {
  package let ssrc: UInt32
  /// The share lost between the last two blocks, 0 to 1.
  package private(set) var fractionLost: Double = 0
  private let clockRate: Double

  private var first: Int64?
  private var highest: Int64 = 0
  private var received: Int64 = 0
  private var expectedBefore: Int64 = 0
  private var receivedBefore: Int64 = 0

  /// The interarrival jitter in ticks; see ``jitterSeconds``.
  private var jitter: Double = 0
  private var last: (timestamp: UInt32, arrival: MonotonicInstant)?
  private var report: (time: NTPTime, arrival: MonotonicInstant)?

  /// - Parameter clockRate: the clock rate of the source's timestamps.
  package init(ssrc: UInt32, clockRate: Int32) {
    self.ssrc = ssrc
    self.clockRate = Double(clockRate)
  }

  /// Counts a packet of the source itself; retransmissions in another source do not count.
  ///
  /// - Parameter sequence: the unwrapped sequence number.
  package mutating func received(sequence: Int64, timestamp: UInt32, arrival: MonotonicInstant) {
    received += 1
    guard let first else {
      self.first = sequence
      highest = sequence
      last = (timestamp, arrival)
      return
    }
    self.first = min(first, sequence)
    guard sequence > highest else { return }
    highest = sequence
    // Packets of one frame leave at different times because of pacing, so only the first of each counts.
    guard let last, last.timestamp != timestamp else { return }
    let sent = Double(Int32(bitPattern: timestamp &- last.timestamp))
    let difference = abs((arrival - last.arrival).seconds * clockRate - sent)
    // A jump of more than 5 s is a changed clock, not jitter.
    if difference < clockRate * 5 { jitter += (difference - jitter) / 16 }
    self.last = (timestamp, arrival)
  }

  /// Stores a sender report, so that the source can compute its round-trip time.
  package mutating func received(report time: NTPTime, arrival: MonotonicInstant) {
    report = (time, arrival)
  }

  /// The interarrival jitter in seconds.
  package var jitterSeconds: Double { jitter / clockRate }

  /// Returns the report block for the time since the last one, or nil before the first packet.
  package mutating func block(now: MonotonicInstant) -> ReportBlock? {
    guard let first else { return nil }
    let expected = highest - first + 1
    let expectedNow = expected - expectedBefore
    let lostNow = expectedNow - (received - receivedBefore)
    expectedBefore = expected
    receivedBefore = received
    let fraction = expectedNow > 0 && lostNow > 0 ? min(255, lostNow * 256 / expectedNow) : 0
    fractionLost = Double(fraction) / 256
    return ReportBlock(
      ssrc: ssrc, fractionLost: UInt8(fraction), cumulativeLost: Int32(clamping: expected - received),
      extendedHighestSequenceNumber: UInt32(truncatingIfNeeded: highest),
      jitter: UInt32(min(jitter, Double(UInt32.max))),
      lastSenderReport: report?.time.middle ?? 0,
      delaySinceLastSenderReport: report.map { NTPTime.compact(now - $0.arrival) } ?? 0)
  }
}

package import Media

/// Maps one track's 32-bit RTP timestamps to one timeline of 64 bits, across wraps and changes of the source.
///
/// Within a source the unwrapped timestamp is used unchanged: the recorder handles implausible jumps. A new source starts
/// at a random timestamp (RFC 3550, 5.1), so its position is computed from the senders' wall clocks, if both sources had a
/// sender report, or else from the time of arrival.
package struct SourceTimeline: Sendable {
  /// A sender report's two clocks, on the track's timeline.
  private struct Anchor: Sendable {
    var ticks: Int64
    var ntp: UInt64
  }

  private struct Point: Sendable {
    var timestamp: UInt32
    var ticks: Int64
    var arrival: MonotonicInstant
  }

  package private(set) var clockRate: Int32
  /// The newest packet's position, apart from frames that are shown before earlier ones.
  private var last: Point?
  /// The last position of the previous source.
  private var previous: (point: Point, anchor: Anchor?)?
  /// Whether the previous source had a clock of the same rate, so that its timestamps may continue.
  private var keepsClock = true
  private var anchor: Anchor?

  package init(clockRate: Int32) {
    self.clockRate = clockRate
  }

  /// Returns the position of the next packet in order.
  ///
  /// - Parameters:
  ///   - isReordered: whether it is of a frame that is shown before an earlier one.
  ///   - report: the source's last sender report, if one arrived before its first packet.
  package mutating func position(
    _ timestamp: UInt32, arrival: MonotonicInstant, isReordered: Bool = false,
    report: (timestamp: UInt32, ntp: UInt64)? = nil
  ) -> MediaTime {
    let ticks: Int64
    if let last {
      ticks = last.ticks &+ Int64(Int32(bitPattern: timestamp &- last.timestamp))
    } else if let previous {
      ticks = bridge(from: previous.point, anchor: previous.anchor, to: timestamp, arrival: arrival, report: report)
    } else {
      ticks = Int64(timestamp)
    }
    // Another source continues after the frame that is shown last.
    let isBefore = isReordered && last.map { ticks < $0.ticks } ?? false
    if !isBefore { last = Point(timestamp: timestamp, ticks: ticks, arrival: arrival) }
    return MediaTime(ticks: ticks, rate: clockRate)
  }

  /// Returns the position of a sender report, or nil before the source's first packet.
  package mutating func position(reportOf timestamp: UInt32, ntp: UInt64) -> MediaTime? {
    guard let last else { return nil }
    let ticks = last.ticks &+ Int64(Int32(bitPattern: timestamp &- last.timestamp))
    anchor = Anchor(ticks: ticks, ntp: ntp)
    return MediaTime(ticks: ticks, rate: clockRate)
  }

  /// Prepares for another source that replaces this one.
  package mutating func changeSource() {
    if let last {
      previous = (last, anchor)
      keepsClock = true
    }
    last = nil
    anchor = nil
  }

  /// Prepares for another source that replaces this one, with a clock of another rate, as another codec has it.
  package mutating func changeClockRate(to rate: Int32) {
    changeSource()
    guard rate != clockRate else { return }
    let (old, new) = (Int64(clockRate), Int64(rate))
    func convert(_ ticks: Int64) -> Int64 {
      let (whole, rest) = ticks.quotientAndRemainder(dividingBy: old)
      return whole &* new &+ rest * new / old
    }
    if let (point, anchor) = previous {
      previous = (
        Point(timestamp: point.timestamp, ticks: convert(point.ticks), arrival: point.arrival),
        anchor.map { Anchor(ticks: convert($0.ticks), ntp: $0.ntp) }
      )
    }
    keepsClock = false
    clockRate = rate
  }

  private func bridge(
    from point: Point, anchor: Anchor?, to timestamp: UInt32, arrival: MonotonicInstant,
    report: (timestamp: UInt32, ntp: UInt64)?
  ) -> Int64 {
    let earliest = point.ticks &+ 1
    if let anchor, let report {
      // Both sources have reported their wall clock: the new timestamp's wall-clock time determines its position.
      let wallSeconds = Double(Int64(bitPattern: report.ntp &- anchor.ntp)) / 4_294_967_296
      let sinceReport = Int64(Int32(bitPattern: timestamp &- report.timestamp))
      let ticks = anchor.ticks &+ Self.ticks(seconds: wallSeconds, rate: clockRate) &+ sinceReport
      if (ticks &- expected(at: arrival, after: point)).magnitude < UInt64(clockRate) * 10 {
        return max(earliest, ticks)
      }
    }
    // A sender may have kept its timestamps; if that matches the time of arrival, it is exact.
    let expected = expected(at: arrival, after: point)
    guard keepsClock else { return max(earliest, expected) }
    let continued = point.ticks &+ Int64(Int32(bitPattern: timestamp &- point.timestamp))
    let difference = continued.subtractingReportingOverflow(expected)
    if !difference.overflow, difference.partialValue.magnitude < UInt64(clockRate) / 2 {
      return max(earliest, continued)
    }
    return max(earliest, expected)
  }

  private func expected(at arrival: MonotonicInstant, after point: Point) -> Int64 {
    point.ticks &+ Self.ticks(seconds: (arrival - point.arrival).seconds, rate: clockRate)
  }

  private static func ticks(seconds: Double, rate: Int32) -> Int64 {
    Int64(exactly: (seconds * Double(rate)).rounded()) ?? 0
  }
}

package import Media

/// Turns one track's 32-bit RTP timestamps into one time line of 64 bits, across wraps and changes of the source.
///
/// Within a source the unwrapped timestamp is taken as it is: absurd jumps are the recorder's to judge. A new source
/// starts at a random timestamp (RFC 3550, 5.1), so its place on the line comes from the senders' wall clocks, when
/// both sources had a sender report, or else from the time of arrival.
package struct SourceTimeline: Sendable {
  /// A sender report's two clocks, on the track's line.
  private struct Anchor: Sendable {
    var ticks: Int64
    var ntp: UInt64
  }

  private struct Point: Sendable {
    var timestamp: UInt32
    var ticks: Int64
    var arrival: MonotonicInstant
  }

  package let clockRate: Int32
  /// The newest packet's place on the line.
  private var last: Point?
  /// What the line showed last of the source before this one.
  private var previous: (point: Point, anchor: Anchor?)?
  private var anchor: Anchor?

  package init(clockRate: Int32) {
    self.clockRate = clockRate
  }

  /// The place on the line of a packet that is next in order.
  ///
  /// - Parameter report: the source's last sender report, if one came before its first packet.
  package mutating func position(
    _ timestamp: UInt32, arrival: MonotonicInstant, report: (timestamp: UInt32, ntp: UInt64)? = nil
  ) -> MediaTime {
    let ticks: Int64
    if let last {
      ticks = last.ticks &+ Int64(Int32(bitPattern: timestamp &- last.timestamp))
    } else if let previous {
      ticks = bridge(from: previous.point, anchor: previous.anchor, to: timestamp, arrival: arrival, report: report)
    } else {
      ticks = Int64(timestamp)
    }
    last = Point(timestamp: timestamp, ticks: ticks, arrival: arrival)
    return MediaTime(ticks: ticks, rate: clockRate)
  }

  /// The place on the line of a sender report; nil before the source's first packet.
  package mutating func position(reportOf timestamp: UInt32, ntp: UInt64) -> MediaTime? {
    guard let last else { return nil }
    let ticks = last.ticks &+ Int64(Int32(bitPattern: timestamp &- last.timestamp))
    anchor = Anchor(ticks: ticks, ntp: ntp)
    return MediaTime(ticks: ticks, rate: clockRate)
  }

  /// Another source continues in this one's place.
  package mutating func changeSource() {
    if let last { previous = (last, anchor) }
    last = nil
    anchor = nil
  }

  private func bridge(
    from point: Point, anchor: Anchor?, to timestamp: UInt32, arrival: MonotonicInstant,
    report: (timestamp: UInt32, ntp: UInt64)?
  ) -> Int64 {
    let earliest = point.ticks &+ 1
    if let anchor, let report {
      // Both sources told their wall clock: the new timestamp's wall time gives its place.
      let wallSeconds = Double(Int64(bitPattern: report.ntp &- anchor.ntp)) / 4_294_967_296
      let sinceReport = Int64(Int32(bitPattern: timestamp &- report.timestamp))
      let ticks = anchor.ticks &+ Self.ticks(seconds: wallSeconds, rate: clockRate) &+ sinceReport
      if (ticks &- expected(at: arrival, after: point)).magnitude < UInt64(clockRate) * 10 {
        return max(earliest, ticks)
      }
    }
    // A sender may have kept its timestamps; if that fits the time of arrival it is exact.
    let expected = expected(at: arrival, after: point)
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

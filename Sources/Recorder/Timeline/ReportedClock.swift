import Media

/// The relation of a track's positions to the sender's wall clock, according to its sender reports.
///
/// As long as the media clock runs, the relation stays, except for a slow drift. If the media clock stands still, later
/// reports show exactly for how long.
struct ReportedClock: Sendable {
  /// The number of reports that the first estimate is the mean of.
  private static let settling = 4

  private var first: ClockReading?
  private var newest: MonotonicInstant?
  /// The wall clock since the first report, minus the position.
  private var offset = Duration.zero
  private var reports = 0

  /// Returns by how much a position is behind the wall clock of a report, compared with earlier reports; nil for the
  /// first one.
  func lag(of report: ClockReading, at position: Duration) -> Duration? {
    first.map { report.wallClock(since: $0) - position - offset }
  }

  /// Adjusts the clock to a report that shows no more than a drift, or inaccuracy.
  mutating func adjust(to report: ClockReading, at position: Duration) {
    guard let lag = lag(of: report, at: position), let newest else { return set(report, at: position) }
    reports += 1
    if reports <= Self.settling {
      offset += lag / reports
    } else {
      let most = min(max(.zero, report.arrived - newest), .seconds(60)) * FastestDelay.drift
      offset += min(max(lag, .zero - most), most)
    }
    self.newest = report.arrived
  }

  /// Follows positions that moved later, by a standstill that the reports contain already.
  mutating func shift(by length: Duration) { offset -= length }

  /// Starts again with a report: the wall clock was set, or the positions have another origin.
  mutating func set(_ report: ClockReading, at position: Duration) {
    first = report
    newest = report.arrived
    offset = .zero - position
    reports = 1
  }
}

/// The clocks of a sender report, without its owner, so that a track can keep it without counting references.
struct ClockReading: Sendable, Hashable {
  var time: MediaTime
  var ntp: UInt64
  var arrived: MonotonicInstant

  init(_ report: ClockReport) {
    time = report.time
    ntp = report.ntp
    arrived = report.arrived
  }

  /// Returns the time between two NTP timestamps of one sender, which wrap in 2036 (RFC 3550, 4).
  func wallClock(since earlier: ClockReading) -> Duration {
    let difference = Int64(bitPattern: ntp &- earlier.ntp)
    let fraction = ((difference & 0xFFFF_FFFF) * 1_000_000_000) >> 32
    return .seconds(difference >> 32) + .nanoseconds(fraction)
  }
}

import Media

/// What the sender's wall clock read at a media time, by the newest report of its track.
struct SenderClock: Sendable {
  /// The wall clock that all times are counted from, of both tracks.
  private var origin: UInt64?
  private var reports: [MediaKind: ClockReport] = [:]

  mutating func take(_ report: ClockReport) {
    guard report.ntp != 0 else { return }
    origin = origin ?? report.ntp
    reports[report.codec.kind] = report
  }

  /// Seconds by the sender's clock, from an origin that both tracks share; nil before a report.
  func seconds(at time: MediaTime, _ kind: MediaKind) -> Double? {
    guard let origin, let report = reports[kind], report.time.rate == time.rate else { return nil }
    let ticks = time.ticks.subtractingReportingOverflow(report.time.ticks)
    // Further away than a day a report says nothing.
    guard !ticks.overflow, abs(Double(ticks.partialValue)) < 86_400 * Double(time.rate) else { return nil }
    let ntp = Double(Int64(bitPattern: report.ntp &- origin)) / 4_294_967_296
    return ntp + Double(ticks.partialValue) / Double(time.rate)
  }
}

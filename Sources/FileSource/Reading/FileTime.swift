package import Media

/// The one clock of a file's tracks: 720,000 units a second, so that a tick of either codec's clock is a whole number of
/// units and no sum of them is ever rounded.
package enum FileTime {
  package static let rate: Int32 = 720_000

  /// Units in one tick of a kind's clock: 8 of video's 90 kHz, 15 of audio's 48 kHz.
  package static func units(perTickOf kind: MediaKind) -> Int64 {
    switch kind {
    case .video: 8
    case .audio: 15
    }
  }

  /// The smallest span that is a whole number of both clocks' ticks: 15 of video, 8 of audio, a sixth of a millisecond.
  package static let commonSpan: Int64 = 120

  /// The latest time that any frame of a file may have, as hours and as units.
  package static let latestHours: Int64 = 100
  package static let latest: Int64 = latestHours * 3600 * Int64(rate)

  /// A span of units as a duration.
  package static func duration(_ units: Int64) -> Duration {
    MediaTime(ticks: units, rate: rate).duration
  }

  /// Units in a duration, rounded down; held at 64 bits.
  package static func units(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: Int64(rate))
    if overflow { return seconds < 0 ? .min : .max }
    let nanoseconds = attoseconds / 1_000_000_000
    return whole &+ nanoseconds * Int64(rate) / 1_000_000_000
  }

  /// Units in a time of `count` times `nanoseconds`, to the nearest unit; nil beyond the latest time.
  static func units(count: Int64, ofNanoseconds nanoseconds: UInt64) -> Int64? {
    guard let unit = Int64(exactly: nanoseconds) else { return nil }
    let (total, overflow) = count.multipliedReportingOverflow(by: unit)
    // A unit is 12,500/9 ns.
    guard !overflow, abs(total / 12_500) <= latest / 9 else { return nil }
    let scaled = total.quotientAndRemainder(dividingBy: 12_500)
    let rest = scaled.remainder * 9
    return scaled.quotient * 9 + (rest + (rest < 0 ? -6_250 : 6_250)) / 12_500
  }

  /// A span made longer, by less than a sixth of a millisecond, to a whole number of both clocks' ticks.
  package static func roundedUp(_ units: Int64) -> Int64 {
    (units + commonSpan - 1) / commonSpan * commonSpan
  }
}

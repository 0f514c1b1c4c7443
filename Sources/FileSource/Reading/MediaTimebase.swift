package import Media

/// The common time unit of all tracks, of files and of live inputs: 720,000 units a second, so that a tick of each
/// codec's clock is a whole number of units and sums are never rounded.
package enum MediaTimebase {
  package static let rate: Int32 = 720_000

  /// Returns the units in one tick of a kind's clock: 8 for video's 90 kHz, 15 for audio's 48 kHz.
  package static func units(perTickOf kind: MediaKind) -> Int64 {
    switch kind {
    case .video: 8
    case .audio: 15
    }
  }

  /// Returns the units in one tick of a codec's clock.
  package static func units(perTickOf codec: Codec) -> Int64 { Int64(rate / codec.clockRate) }

  /// The smallest interval that is a whole number of both clocks' ticks: 15 of video, 8 of audio, a sixth of a
  /// millisecond.
  package static let commonSpan: Int64 = 120

  /// The latest time that a frame of a file may have, in hours and in units.
  package static let latestHours: Int64 = 100
  package static let latest: Int64 = latestHours * 3600 * Int64(rate)

  /// Converts units to a duration.
  package static func duration(_ units: Int64) -> Duration {
    MediaTime(ticks: units, rate: rate).duration
  }

  /// Converts a duration to units, rounded down and clamped to 64 bits.
  package static func units(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: Int64(rate))
    if overflow { return seconds < 0 ? .min : .max }
    let nanoseconds = attoseconds / 1_000_000_000
    return whole &+ nanoseconds * Int64(rate) / 1_000_000_000
  }

  /// Converts a time of `count` times `nanoseconds` to the nearest unit; nil beyond the latest time.
  package static func units(count: Int64, ofNanoseconds nanoseconds: UInt64) -> Int64? {
    guard let unit = Int64(exactly: nanoseconds) else { return nil }
    let (total, overflow) = count.multipliedReportingOverflow(by: unit)
    // A unit is 12,500/9 ns.
    guard !overflow, abs(total / 12_500) <= latest / 9 else { return nil }
    let scaled = total.quotientAndRemainder(dividingBy: 12_500)
    let rest = scaled.remainder * 9
    return scaled.quotient * 9 + (rest + (rest < 0 ? -6_250 : 6_250)) / 12_500
  }

  /// Rounds an interval up, by less than a sixth of a millisecond, to a whole number of both clocks' ticks.
  package static func roundedUp(_ units: Int64) -> Int64 {
    (units + commonSpan - 1) / commonSpan * commonSpan
  }
}

extension MediaTimebase {
  /// Formats seconds with two decimals.
  package static func text(_ units: Int64) -> String {
    let hundredths = (units + 3600) / 7200
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
  }
}

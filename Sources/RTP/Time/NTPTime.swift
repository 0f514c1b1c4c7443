/// A wall-clock time in NTP format: seconds since 1900 in 32.32 fixed point, wrapping in 2036 (RFC 3550, 4).
package struct NTPTime: Sendable, Hashable, CustomStringConvertible {
  /// Seconds from 1900-01-01 to 1970-01-01.
  private static let secondsTo1970: Int64 = 2_208_988_800

  /// All 64 bits: whole seconds in the upper half, the fraction in 2⁻³² s in the lower.
  package var value: UInt64

  package init(value: UInt64) {
    self.value = value
  }

  package init(seconds: UInt32, fraction: UInt32) {
    value = UInt64(seconds) << 32 | UInt64(fraction)
  }

  /// Creates a time from a Unix time. A Double resolves current times to about half a microsecond; a value that is not
  /// finite counts as 0.
  package init(secondsSince1970 seconds: Double) {
    let era = 4_294_967_296.0
    let sinceEpoch = seconds.isFinite ? seconds + Double(Self.secondsTo1970) : Double(Self.secondsTo1970)
    let whole = sinceEpoch.rounded(.down)
    var wrapped = whole.truncatingRemainder(dividingBy: era)
    if wrapped < 0 { wrapped += era }
    // For huge inputs the remainder is still a whole number below 2³², and the fraction is 0.
    value = UInt64(wrapped) << 32 | UInt64((sinceEpoch - whole) * era)
  }

  /// Creates a time from a Unix time in whole seconds and nanoseconds, as `clock_gettime` returns it.
  ///
  /// - Parameter nanoseconds: below 1,000,000,000.
  package init(secondsSince1970 seconds: Int64, nanoseconds: Int64) {
    let whole = UInt64(bitPattern: seconds &+ Self.secondsTo1970) << 32
    value = whole &+ UInt64(bitPattern: Self.units(nanoseconds: nanoseconds % 1_000_000_000))
  }

  package var seconds: UInt32 { UInt32(truncatingIfNeeded: value >> 32) }

  /// The fraction of a second, in 2⁻³² s.
  package var fraction: UInt32 { UInt32(truncatingIfNeeded: value) }

  /// The middle 32 bits, in 2⁻¹⁶ s, by which reception reports refer to a sender report (RFC 3550, 6.4.1, LSR).
  package var middle: UInt32 { UInt32(truncatingIfNeeded: value >> 16) }

  /// The value of the abs-send-time header extension: 24 bits, 6.18 fixed point seconds.
  package var absoluteSendTime: UInt32 { UInt32(truncatingIfNeeded: value >> 14) & 0xFF_FFFF }

  /// Seconds since 1970, for times between 1968 and 2104 (a set top bit means before 2036; RFC 4330, 3).
  package var secondsSince1970: Double {
    let era: Int64 = value >> 63 == 1 ? 0 : 1 << 32
    return Double(Int64(seconds) + era - Self.secondsTo1970) + Double(fraction) / 4_294_967_296
  }

  /// For example `3900000000.500000000`: seconds since 1900.
  package var description: String {
    let nanoseconds = (UInt64(fraction) &* 1_000_000_000) >> 32
    let digits = String(nanoseconds)
    return "\(seconds).\(String(repeating: "0", count: 9 - digits.count))\(digits)"
  }

  static func units(nanoseconds: Int64) -> Int64 {
    (nanoseconds << 32) / 1_000_000_000
  }
}

/// Arithmetic, exact across the wrap of 2036 for distances below 68 years.
extension NTPTime {
  /// Returns the time `duration` later (or earlier, when negative), to the nanosecond.
  package static func + (time: NTPTime, duration: Duration) -> NTPTime {
    let (seconds, attoseconds) = duration.components
    let fraction = units(nanoseconds: attoseconds / 1_000_000_000)
    return NTPTime(value: time.value &+ UInt64(bitPattern: (seconds << 32) &+ fraction))
  }

  package static func - (time: NTPTime, duration: Duration) -> NTPTime {
    let (seconds, attoseconds) = duration.components
    let fraction = units(nanoseconds: attoseconds / 1_000_000_000)
    return NTPTime(value: time.value &- UInt64(bitPattern: (seconds << 32) &+ fraction))
  }

  /// Returns the time since `earlier`; negative when this is before it.
  package static func - (later: NTPTime, earlier: NTPTime) -> Duration {
    let units = Int64(bitPattern: later.value &- earlier.value)
    let nanoseconds = ((units & 0xFFFF_FFFF) * 1_000_000_000) >> 32
    return .seconds(units >> 32) + .nanoseconds(nanoseconds)
  }

  /// Returns a duration in 2⁻¹⁶ s, the unit of DLSR and DLRR (RFC 3550, 6.4.1), clamped to 0 and 18.2 hours.
  package static func compact(_ duration: Duration) -> UInt32 {
    let (seconds, attoseconds) = duration.components
    if seconds < 0 || attoseconds < 0 { return 0 }
    if seconds > 0xFFFF { return .max }
    return UInt32(seconds) << 16 | UInt32(truncatingIfNeeded: units(nanoseconds: attoseconds / 1_000_000_000) >> 16)
  }

  /// Returns the duration of a number of 2⁻¹⁶ s.
  package static func duration(compact units: UInt32) -> Duration {
    .nanoseconds((Int64(units) * 1_000_000_000) >> 16)
  }

  /// Returns the round-trip time: now, minus the time of the answered report, minus the delay at the remote side (RFC
  /// 3550, 6.4.1, figure 2).
  ///
  /// - Parameters:
  ///   - lastReport: the middle bits of the time of the local report, as the remote side repeats them; 0 when it has
  ///     none.
  ///   - delay: the delay between receiving that report and answering it, in 2⁻¹⁶ s.
  /// - Returns: the round-trip time, or nil when there was no report or the result would exceed 32,768 s.
  package func roundTripTime(lastReport: UInt32, delay: UInt32) -> Duration? {
    if lastReport == 0 { return nil }
    let units = Int32(bitPattern: middle &- lastReport &- delay)
    // With clocks of limited resolution, a short round trip can appear negative.
    if units < 0 { return units > -65_536 ? .zero : nil }
    return Self.duration(compact: UInt32(units))
  }
}

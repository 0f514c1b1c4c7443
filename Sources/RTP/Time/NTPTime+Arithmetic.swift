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

/// Distances between times, exact across the wrap of 2036 as long as they are below 68 years.
extension NTPTime {
  /// The time `duration` later (or earlier, when negative), to the nanosecond.
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

  /// How long after `earlier` this is; negative when it is before.
  package static func - (later: NTPTime, earlier: NTPTime) -> Duration {
    let units = Int64(bitPattern: later.value &- earlier.value)
    let nanoseconds = ((units & 0xFFFF_FFFF) * 1_000_000_000) >> 32
    return .seconds(units >> 32) + .nanoseconds(nanoseconds)
  }

  /// A duration in 2⁻¹⁶ s, the unit of DLSR and DLRR (RFC 3550, 6.4.1); held within 0 and 18.2 hours.
  package static func compact(_ duration: Duration) -> UInt32 {
    let (seconds, attoseconds) = duration.components
    if seconds < 0 || attoseconds < 0 { return 0 }
    if seconds > 0xFFFF { return .max }
    return UInt32(seconds) << 16 | UInt32(truncatingIfNeeded: units(nanoseconds: attoseconds / 1_000_000_000) >> 16)
  }

  /// The duration of a number of 2⁻¹⁶ s.
  package static func duration(compact units: UInt32) -> Duration {
    .nanoseconds((Int64(units) * 1_000_000_000) >> 16)
  }

  /// The time to the other side and back: now, less when the report was sent that it answers, less how long it kept that
  /// (RFC 3550, 6.4.1, figure 2).
  ///
  /// - Parameters:
  ///   - lastReport: the middle bits of our report's time, as the other side repeats them; 0 when it has none.
  ///   - delay: how long it had it, in 2⁻¹⁶ s.
  /// - Returns: nil when there was no report, or when the numbers say more than 32,768 s.
  package func roundTripTime(lastReport: UInt32, delay: UInt32) -> Duration? {
    if lastReport == 0 { return nil }
    let units = Int32(bitPattern: middle &- lastReport &- delay)
    // Two clocks of limited resolution can make a fast trip come out below zero.
    if units < 0 { return units > -65_536 ? .zero : nil }
    return Self.duration(compact: UInt32(units))
  }
}

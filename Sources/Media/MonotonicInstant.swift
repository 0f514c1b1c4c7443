/// A point in time on `ContinuousClock`, in a layout that the compiler knows.
///
/// `ContinuousClock.Instant` may change with the version of the standard library, so every value that contains one is
/// laid out, copied and destroyed by functions found at run time, and comparing two is a call. Comparing two of this type
/// takes an instruction or two, in every module. So it is the type of `now`, of deadlines and of stored times in the engine,
/// ICE, the recorder and the signalling adapters; public API has `ContinuousClock.Instant`.
package struct MonotonicInstant: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The time since an origin that is the same for the whole process.
  @usableFromInline let age: Duration

  private static let origin = ContinuousClock.now

  package init(_ instant: ContinuousClock.Instant) {
    age = Self.origin.duration(to: instant)
  }

  /// Creates an instant of another clock from the time since that clock's origin. It can be compared only with others of that
  /// clock.
  package init(sinceOrigin age: Duration) {
    self.age = age
  }

  @inlinable init(age: Int128) {
    self.age = Duration(attoseconds: age)
  }

  package static var now: MonotonicInstant { MonotonicInstant(ContinuousClock.now) }

  package var instant: ContinuousClock.Instant { Self.origin.advanced(by: age) }

  @inlinable package static func < (one: MonotonicInstant, other: MonotonicInstant) -> Bool {
    one.age.attoseconds < other.age.attoseconds
  }

  @inlinable package static func == (one: MonotonicInstant, other: MonotonicInstant) -> Bool {
    one.age.attoseconds == other.age.attoseconds
  }

  @inlinable package static func - (later: MonotonicInstant, earlier: MonotonicInstant) -> Duration {
    Duration(attoseconds: later.age.attoseconds - earlier.age.attoseconds)
  }

  @inlinable package static func + (moment: MonotonicInstant, span: Duration) -> MonotonicInstant {
    MonotonicInstant(age: moment.age.attoseconds + span.attoseconds)
  }

  @inlinable package static func - (moment: MonotonicInstant, span: Duration) -> MonotonicInstant {
    MonotonicInstant(age: moment.age.attoseconds - span.attoseconds)
  }

  @inlinable package static func += (moment: inout MonotonicInstant, span: Duration) { moment = moment + span }

  package var description: String { "\(age)" }
}

extension Duration {
  /// The duration in seconds.
  ///
  /// Dividing by a second uses 128-bit arithmetic, which takes a hundred instructions. Below 9.2 s, which covers the
  /// length of a frame, 64 bits are enough.
  @inlinable package var seconds: Double {
    let attoseconds = attoseconds
    if let short = Int64(exactly: attoseconds) { return Double(short) / 1e18 }
    // Whole seconds are converted separately, so that 3,600.5 s are exact.
    let (seconds, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
    return Double(seconds) + Double(rest) / 1e18
  }
}

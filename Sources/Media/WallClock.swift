/// What the wall clock read at one moment. Later moments are told by the monotonic clock, so that a wall clock that is set
/// in mid-call changes nothing.
package struct WallClock: Sendable, Hashable {
  package let moment: MonotonicInstant
  /// Seconds since 1970-01-01 00:00 UTC at that moment.
  package let secondsSince1970: Double

  package init(moment: MonotonicInstant, secondsSince1970: Double) {
    self.moment = moment
    self.secondsSince1970 = secondsSince1970
  }

  /// Seconds since 1970-01-01 00:00 UTC.
  package func seconds(at other: MonotonicInstant) -> Double {
    secondsSince1970 + (other - moment).seconds
  }
}

/// A point in time as `ContinuousClock` tells it, of a layout that the compiler knows.
///
/// `ContinuousClock.Instant` may become another type with another version of the standard library, so every value that holds one
/// is laid out, copied and destroyed by functions that are found at run time. What is touched with each packet holds this.
package struct Moment: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Since an origin that is the same for the whole process.
  private let age: Duration

  private static let origin = ContinuousClock.now

  package init(_ instant: ContinuousClock.Instant) {
    age = Self.origin.duration(to: instant)
  }

  private init(age: Duration) {
    self.age = age
  }

  package static var now: Moment { Moment(ContinuousClock.now) }

  package var instant: ContinuousClock.Instant { Self.origin.advanced(by: age) }

  package static func < (one: Moment, other: Moment) -> Bool { one.age < other.age }

  package static func - (later: Moment, earlier: Moment) -> Duration { later.age - earlier.age }

  package static func + (moment: Moment, span: Duration) -> Moment { Moment(age: moment.age + span) }

  package static func - (moment: Moment, span: Duration) -> Moment { Moment(age: moment.age - span) }

  package static func += (moment: inout Moment, span: Duration) { moment = moment + span }

  package var description: String { "\(age)" }
}

import FileSource

/// A camera's own time, in units of `FileTime.rate` since it began, and how it lies on the machine's clock.
///
/// It stops while the machine sleeps: when more than `maximumCatchUp` has gone by since anybody looked and the
/// one who looks wanted to be woken that long ago, playing continues from where it was. What was played before a pause and
/// what is played after it keep their distance to the machine's clock in `shown(_:)`, for all tracks alike.
struct CameraTime: Sendable {
  /// The longest lateness that is caught up.
  static let maximumCatchUp: Duration = .seconds(2)

  private(set) var began: ContinuousClock.Instant?
  /// Units for which it stopped.
  private var pauses: Int64 = 0
  private var lastLook: ContinuousClock.Instant?

  init() {}

  /// Starts it, unless it has started.
  mutating func begin(now: ContinuousClock.Instant) {
    if began == nil { began = now }
  }

  /// When a point of its time is or was; nil before it began.
  func instant(of time: Int64) -> ContinuousClock.Instant? {
    began.map { $0 + FileTime.duration(shown(time)) }
  }

  /// A point of its time with all pauses so far: the time that frames carry.
  func shown(_ time: Int64) -> Int64 { time &+ pauses }

  /// What time it is.
  ///
  /// - Parameter awaited: the point that the caller wanted to be woken at.
  mutating func look(now: ContinuousClock.Instant, awaited: Int64) -> Int64 {
    begin(now: now)
    guard let began, let due = instant(of: awaited) else { return 0 }
    let lateness = now - max(due, lastLook ?? due)
    if lateness > Self.maximumCatchUp {
      pauses &+= FileTime.units(lateness) / FileTime.commonSpan * FileTime.commonSpan
    }
    lastLook = max(now, lastLook ?? now)
    // A unit is no whole number of nanoseconds: without the one more, a point's own instant would lie before it.
    return FileTime.units(now - began + .nanoseconds(1)) &- pauses
  }
}

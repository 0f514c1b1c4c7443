import FileSource
package import Media
import Synchronization

/// The clock that the audio and video threads of one playback share.
package final class CameraClock: Sendable {
  private let time = Mutex(CameraTime())
  /// Only the test pattern shows the wall clock.
  private let wallClock: WallClock

  /// - Parameter wallClock: a reading of the wall clock, which the test pattern shows.
  package init(wallClock: WallClock) {
    self.wallClock = wallClock
  }

  /// Starts the clock, unless it has started.
  package func begin(now: ContinuousClock.Instant) {
    time.withLock { $0.begin(now: now) }
  }

  /// Returns the current point of the playback, in units of `MediaTimebase.rate`. It pauses while the machine sleeps.
  ///
  /// - Parameter expectedWakeup: the point at which the caller wanted to be woken.
  package func update(now: ContinuousClock.Instant, expectedWakeup: Int64) -> Int64 {
    time.withLock { $0.update(now: now, expectedWakeup: expectedWakeup) }
  }

  /// Returns when a point of the playback, in units of `MediaTimebase.rate`, is or was; nil before the start.
  package func instant(of point: Int64) -> ContinuousClock.Instant? {
    time.withLock { $0.instant(of: point) }
  }

  func shown(_ point: Int64) -> Int64 {
    time.withLock { $0.shown(point) }
  }

  /// Returns the wall clock at a point, in milliseconds since 1970.
  package func unixMilliseconds(at point: Int64) -> UInt64 {
    let ticks = point / MediaTimebase.units(perTickOf: .audio)
    return UInt64(clamping: (unixTicks(at: ticks) + 24) / 48)
  }

  /// Returns the wall clock at a point, in ticks of 48 kHz since 1970. It starts the clock, because before that the wall
  /// clock at a point is not known.
  ///
  /// - Parameter ticks: the point in ticks of 48 kHz.
  package func unixTicks(at ticks: Int64) -> Int64 {
    let unit = MediaTimebase.units(perTickOf: .audio)
    let now = ContinuousClock.now
    let (began, shown) = time.withLock { time in
      time.begin(now: now)
      return (time.began ?? now, time.shown(ticks &* unit))
    }
    let seconds = wallClock.seconds(at: MonotonicInstant(began))
    return (Int64(exactly: (seconds * 48_000).rounded()) ?? 0) &+ shown / unit
  }
}

/// A camera's own time, in units of `MediaTimebase.rate` since it began, and its relation to the machine's clock.
///
/// It pauses while the machine sleeps: if more than `maximumCatchUp` has passed since the last update and since the
/// time at which the caller wanted to be woken, playback continues from where it was. `shown(_:)` adds the pauses for
/// all tracks alike, so that times before and after a pause keep their distance on the machine's clock.
struct CameraTime: Sendable {
  /// The maximum delay that is caught up.
  static let maximumCatchUp: Duration = .seconds(2)

  private(set) var began: ContinuousClock.Instant?
  /// The duration of all pauses, in units.
  private var pauses: Int64 = 0
  private var lastUpdate: ContinuousClock.Instant?

  init() {}

  /// Starts the clock, unless it has started.
  mutating func begin(now: ContinuousClock.Instant) {
    if began == nil { began = now }
  }

  /// Returns when a point of camera time is or was; nil before the start.
  func instant(of time: Int64) -> ContinuousClock.Instant? {
    began.map { $0 + MediaTimebase.duration(shown(time)) }
  }

  /// Returns a point of camera time including all pauses so far: the time that frames carry.
  func shown(_ time: Int64) -> Int64 { time &+ pauses }

  /// Returns the current camera time.
  ///
  /// - Parameter expectedWakeup: the point at which the caller wanted to be woken.
  mutating func update(now: ContinuousClock.Instant, expectedWakeup: Int64) -> Int64 {
    begin(now: now)
    guard let began, let due = instant(of: expectedWakeup) else { return 0 }
    let lateness = now - max(due, lastUpdate ?? due)
    if lateness > Self.maximumCatchUp {
      pauses &+= MediaTimebase.units(lateness) / MediaTimebase.commonSpan * MediaTimebase.commonSpan
    }
    lastUpdate = max(now, lastUpdate ?? now)
    // A unit is not a whole number of nanoseconds: without adding one, a point's own instant would be before it.
    return MediaTimebase.units(now - began + .nanoseconds(1)) &- pauses
  }
}

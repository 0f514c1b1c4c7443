import FileSource
import Media
import Synchronization

/// The one clock of a playing's tracks, looked at by the threads of both.
final class CameraClock: Sendable {
  private let time = Mutex(CameraTime())
  /// Only the test pattern tells it.
  private let wallClock: WallClock

  init(wallClock: WallClock) {
    self.wallClock = wallClock
  }

  func begin(now: ContinuousClock.Instant) {
    time.withLock { $0.begin(now: now) }
  }

  /// See ``CameraTime``.
  func look(now: ContinuousClock.Instant, awaited: Int64) -> Int64 {
    time.withLock { $0.look(now: now, awaited: awaited) }
  }

  func instant(of point: Int64) -> ContinuousClock.Instant? {
    time.withLock { $0.instant(of: point) }
  }

  func shown(_ point: Int64) -> Int64 {
    time.withLock { $0.shown(point) }
  }

  /// The wall clock at a point, in milliseconds since 1970.
  func unixMilliseconds(at point: Int64) -> UInt64 {
    let ticks = point / FileTime.units(perTickOf: .audio)
    return UInt64(clamping: (unixTicks(at: ticks) + 24) / 48)
  }

  /// The wall clock at a point, in ticks of 48 kHz since 1970.
  ///
  /// - Parameter ticks: the point in ticks of 48 kHz.
  func unixTicks(at ticks: Int64) -> Int64 {
    let unit = FileTime.units(perTickOf: .audio)
    let (began, shown) = time.withLock { ($0.began, $0.shown(ticks &* unit)) }
    // Not the moment when somebody made this: a thread may begin to play some milliseconds later.
    let seconds = wallClock.seconds(at: began.map(MonotonicInstant.init) ?? wallClock.moment)
    return (Int64(exactly: (seconds * 48_000).rounded()) ?? 0) &+ shown / unit
  }
}

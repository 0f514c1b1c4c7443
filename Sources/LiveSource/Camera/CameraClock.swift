import FileSource
import Media
import Synchronization

/// The one clock of a playing's tracks, looked at by the threads of both.
final class CameraClock: Sendable {
  private let time = Mutex(CameraTime())
  /// What the wall clock read when this began, in milliseconds since 1970. Only the test pattern tells it.
  private let unixStart: UInt64

  init(unixStart: UInt64) {
    self.unixStart = unixStart
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
    unixStart &+ UInt64(clamping: (shown(point) + Int64(FileTime.rate) / 2_000) * 1_000 / Int64(FileTime.rate))
  }

  /// The wall clock at a point, in ticks of 48 kHz since 1970.
  ///
  /// - Parameter ticks: the point in ticks of 48 kHz.
  func unixTicks(at ticks: Int64) -> Int64 {
    let unit = FileTime.units(perTickOf: .audio)
    return Int64(clamping: unixStart) * 48 + shown(ticks * unit) / unit
  }
}

import Logging
import NIOCore
import SkyRTC
import Synchronization

/// How many lines of ordinary events a log may have: somebody who comes and goes without end must not fill a disk.
///
/// Warnings and errors have limits where they arise, and who asks for more detail than usual gets all of it.
final class LogAllowance: Sendable {
  static let linesPerSecond = 20
  static let burst = 2_000
  private let lines: Mutex<LogLineBucket>

  init(now: NIODeadline = .now()) {
    lines = Mutex(LogLineBucket(perSecond: Self.linesPerSecond, burst: Self.burst, now: now))
  }

  /// Takes a line.
  ///
  /// - Returns: how many were left out before it; nil when it is to be left out too.
  func take(now: NIODeadline = .now()) -> Int? {
    lines.withLock { $0.take(now: now) }
  }
}

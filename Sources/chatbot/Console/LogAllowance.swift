import Logging
import NIOCore
import SkyRTC
import Synchronization

/// How many lines of ordinary events a log may have: somebody who comes and goes without end must not fill a disk.
///
/// Warnings and errors have limits where they arise, and who asks for more detail than usual gets all of it.
final class LogAllowance: Sendable {
  private struct State {
    var lines: TokenBucket
    var leftOut = 0
  }

  static let linesPerSecond = 20
  static let burst = 2_000
  private let state: Mutex<State>

  init(now: NIODeadline = .now()) {
    state = Mutex(State(lines: TokenBucket(perSecond: Self.linesPerSecond, burst: Self.burst, now: now)))
  }

  /// Takes a line.
  ///
  /// - Returns: how many were left out before it; nil when it is to be left out too.
  func take(now: NIODeadline = .now()) -> Int? {
    state.withLock { state in
      guard state.lines.take(now: now) else {
        state.leftOut += 1
        return nil
      }
      defer { state.leftOut = 0 }
      return state.leftOut
    }
  }
}

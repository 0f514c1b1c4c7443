internal import CThreads

/// What the wall clock read at one moment. Later times are derived from the monotonic clock, so that setting the wall
/// clock during a call changes nothing.
package struct WallClock: Sendable, Hashable {
  package let moment: MonotonicInstant
  /// Seconds since 1970-01-01 00:00 UTC at that moment.
  package let secondsSince1970: Double

  package init(moment: MonotonicInstant, secondsSince1970: Double) {
    self.moment = moment
    self.secondsSince1970 = secondsSince1970
  }

  /// Returns seconds since 1970-01-01 00:00 UTC at another moment.
  package func seconds(at other: MonotonicInstant) -> Double {
    secondsSince1970 + (other - moment).seconds
  }
}

extension WallClock {
  /// Reads both clocks; only for the program's entry points.
  ///
  /// The clocks are read one after the other, and the thread may be preempted in between. So they are read several
  /// times, and the fastest reading counts.
  package static func read() -> WallClock {
    var best = readOnce()
    for _ in 0..<4 {
      let next = readOnce()
      if next.took < best.took { best = next }
    }
    return best.clock
  }

  private static func readOnce() -> (clock: WallClock, took: Duration) {
    let before = MonotonicInstant.now
    let seconds = cthreads_wall_clock()
    let took = MonotonicInstant.now - before
    return (WallClock(moment: before + took / 2, secondsSince1970: seconds), took)
  }
}

import Foundation
package import Media

extension WallClock {
  /// Reads both clocks; for the edge of the program only.
  ///
  /// One is read after the other, and a thread may lose its turn in between. So they are read a few times, and the reading
  /// that took least counts.
  package static func read() -> WallClock {
    var best = readOnce()
    for _ in 0..<4 {
      let next = readOnce()
      if next.took < best.took { best = next }
    }
    return best.clock
  }

  private static func readOnce() -> (clock: WallClock, took: Duration) {
    let before = ContinuousClock.now
    let seconds = Date().timeIntervalSince1970
    let took = ContinuousClock.now - before
    return (WallClock(moment: before + took / 2, secondsSince1970: seconds), took)
  }
}

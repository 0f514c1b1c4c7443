import Foundation

/// How late the machine ran a program at normal priority.
///
/// The stall meter sends it to the tests as one line of JSON.
public struct StallFigures: Sendable, Hashable, Codable {
  /// The duration of the measurement, in seconds.
  public var elapsed: Double
  /// The lateness that 99 of 100 wake-ups of a 5 ms timer did not exceed, in seconds.
  public var latenessP99: Double
  /// The lateness of the latest wake-up, in seconds.
  public var longestLateness: Double
  /// The share of the time that a burst of computing waited for a processor, from 0 to 1: a half if another program keeps
  /// each processor busy. Nil if there was no burst, or the kernel does not count it (`/proc/self/schedstat`).
  public var runQueueWait: Double?
  /// The longest wait in one burst, in seconds.
  public var longestRunQueueWait: Double
  /// The share of all processors' time that the host of a virtual machine took, from 0 to 1.
  public var steal: Double

  public init(
    elapsed: Double, latenessP99: Double, longestLateness: Double, runQueueWait: Double?,
    longestRunQueueWait: Double = 0, steal: Double
  ) {
    self.elapsed = elapsed
    self.latenessP99 = latenessP99
    self.longestLateness = longestLateness
    self.runQueueWait = runQueueWait
    self.longestRunQueueWait = longestRunQueueWait
    self.steal = steal
  }

  /// The bounds above which the machine may have caused a failure.
  public static let bound = StallFigures(
    elapsed: .infinity, latenessP99: 0.012, longestLateness: 0.060, runQueueWait: 0.6, steal: 0.03)

  /// The longest time that a program had to wait, in seconds.
  public var longestStall: Double { max(longestLateness, longestRunQueueWait) }

  /// The measurements above `bound`, each as part of a sentence; empty on a quiet machine.
  public var excesses: [String] {
    let bound = Self.bound
    var found: [String] = []
    if longestLateness > bound.longestLateness {
      found.append("a timer was \(Self.ms(longestLateness)) late (bound \(Self.ms(bound.longestLateness)))")
    }
    if latenessP99 > bound.latenessP99 {
      found.append("1 % of timers were over \(Self.ms(latenessP99)) late (bound \(Self.ms(bound.latenessP99)))")
    }
    if let runQueueWait, let limit = bound.runQueueWait, runQueueWait > limit {
      found.append("\(Self.percent(runQueueWait)) of the time waiting for a processor (bound \(Self.percent(limit)))")
    }
    if steal > bound.steal {
      found.append("\(Self.percent(steal)) of the time stolen by the host (bound \(Self.percent(bound.steal)))")
    }
    return found
  }

  /// Whether the machine may have caused a failure.
  public var isStalled: Bool { !excesses.isEmpty }

  /// Whether other programs kept the processors so busy that results that need a quiet machine are inconclusive: one busy
  /// program on each processor makes a burst of computing wait for half of its time. Also true for a machine that
  /// stalled.
  public var isBusy: Bool { isStalled || (runQueueWait ?? 0) > Self.busyWait }

  /// The share of time in the run queue, from 0 to 1, above which a machine is busy.
  public static let busyWait = 0.4

  public var description: String {
    let wait = runQueueWait.map { ", run-queue wait \(Self.percent($0))" } ?? ""
    return "timer lateness p99 \(Self.ms(latenessP99)), longest \(Self.ms(longestLateness))\(wait), "
      + "steal \(Self.percent(steal))"
  }

  private static func ms(_ seconds: Double) -> String { String(format: "%.1f ms", seconds * 1000) }
  private static func percent(_ part: Double) -> String { String(format: "%.1f %%", part * 100) }
}

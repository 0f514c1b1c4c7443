import Media
import TestSupport

/// A model of the receiver-side estimator of aiortc: its limit follows the bytes of video payload that arrived in the last
/// second. It says nothing in the first 3 s and while no packet arrives.
struct ThroughputEstimator {
  private static let interval: Duration = .milliseconds(500)

  /// The probability that its detector takes an update for overuse although the path is not congested: the arrival times
  /// are those at which a busy program reads the packets.
  var falseOveruse = 0.0
  private(set) var limits: [UInt64] = []
  private var generator: SeededGenerator
  private var arrivals: [(time: MonotonicInstant, bytes: Int)] = []
  private var first: MonotonicInstant?
  private var last: MonotonicInstant?
  private var current: Double?
  private var hasOverused = false

  init(seed: UInt64, falseOveruse: Double = 0) {
    generator = SeededGenerator(seed: seed)
    self.falseOveruse = falseOveruse
  }

  /// Adds a packet, and returns the new limit in bits a second if one is due.
  mutating func add(bytes: Int, now: MonotonicInstant) -> UInt64? {
    let begun = first ?? now
    first = begun
    arrivals.removeAll { now - $0.time >= .seconds(1) }
    arrivals.append((now, bytes))
    let throughput = arrivals.reduce(0.0) { $0 + Double($1.bytes) } * 8
    guard now - begun > .seconds(3), last.map({ now - $0 > Self.interval }) ?? true else { return nil }
    let seconds = last.map { min(1, (now - $0) / .seconds(1)) } ?? 0
    last = now
    var next = current ?? throughput
    if Double.random(in: 0..<1, using: &generator) < falseOveruse {
      hasOverused = true
      next = throughput * 0.85
    } else if hasOverused {
      // A packet a response time, near the rate at which it was congested.
      next += max(4_000, 1_200 * 8 / 0.3) * seconds
    } else {
      next += max(next * 0.08, 1_000) * seconds
    }
    next = min(next, max(throughput * 1.5 + 10_000, current ?? 0))
    current = next
    limits.append(UInt64(next))
    return UInt64(next)
  }
}

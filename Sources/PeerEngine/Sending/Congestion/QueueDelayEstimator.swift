package import Media

/// Estimates the queueing delay on the path: how much longer the newest packets took than the fastest of the last seconds.
///
/// The two sides' clocks need not agree; their drift within the window does not matter.
package struct QueueDelayEstimator: Sendable {
  private static let bucket: Duration = .seconds(2)
  private static let bucketCount = 10
  /// The number of packets that represent the present.
  private static let newest = 2
  /// A queueing delay up to this is harmless.
  package static let harmless: Duration = .milliseconds(40)
  /// A queue of ours drains within its own length if nothing is sent; one that lasts much longer belongs to another flow,
  /// or the path has become longer.
  private static let drainMargin: Duration = .milliseconds(400)

  /// The queueing delay of the fastest of the newest packets.
  package private(set) var current = Duration.zero
  /// The shortest time from a packet's departure to the feedback on it: slightly more than the round-trip time.
  package var shortestAnswer: Duration { answers.minimum.map { .microseconds($0) } ?? .milliseconds(100) }

  /// The time from the newest packet's departure to the feedback on it.
  package private(set) var latestAnswer: Duration = .milliseconds(100)
  /// The part of the queueing delay that is excessive and that we can reduce.
  package private(set) var excess = Duration.zero

  private var drain: (begun: MonotonicInstant, longest: Duration)?
  private var ways = SlidingMinimum(count: QueueDelayEstimator.bucketCount)
  private var answers = SlidingMinimum(count: QueueDelayEstimator.bucketCount)
  private var origin: MonotonicInstant?
  private var bucketEnd: MonotonicInstant?

  package init() {}

  /// Adds the packets of one feedback packet.
  package mutating func add(_ arrivals: [SentPacketLog.Arrival], now: MonotonicInstant) {
    guard let last = arrivals.last else { return }
    let origin = origin ?? last.sent
    self.origin = origin
    if let end = bucketEnd, now >= end {
      ways.advance()
      answers.advance()
      bucketEnd = now + Self.bucket
    } else if bucketEnd == nil {
      bucketEnd = now + Self.bucket
    }
    var fastest = Int64.max
    for arrival in arrivals.suffix(Self.newest) {
      fastest = min(fastest, arrival.arrived &- Int64((arrival.sent - origin) / .microseconds(1)))
    }
    for arrival in arrivals { ways.add(arrival.arrived &- Int64((arrival.sent - origin) / .microseconds(1))) }
    latestAnswer = now - last.sent
    answers.add(Int64(latestAnswer / .microseconds(1)))
    current = .microseconds(max(0, fastest &- (ways.minimum ?? fastest)))
    excess = max(.zero, current - Self.harmless)
    guard excess > .zero else { return drain = nil }
    let longest = max(excess, drain?.longest ?? .zero)
    let begun = drain?.begun ?? now
    drain = (begun, longest)
    if now - begun > longest * 2 + (now - last.sent) + Self.drainMargin {
      ways.reset(to: fastest)
      answers.reset(to: Int64((now - last.sent) / .microseconds(1)))
      excess = .zero
      drain = nil
    }
  }
}

/// The minimum over the last buckets.
private struct SlidingMinimum: Sendable {
  private var buckets: [Int64?]
  private var position = 0

  init(count: Int) {
    buckets = Array(repeating: nil, count: count)
  }

  var minimum: Int64? { buckets.lazy.compactMap(\.self).min() }

  mutating func add(_ value: Int64) {
    buckets[position] = buckets[position].map { min($0, value) } ?? value
  }

  mutating func reset(to value: Int64) {
    for position in buckets.indices { buckets[position] = nil }
    buckets[position] = value
  }

  mutating func advance() {
    position = (position + 1) % buckets.count
    buckets[position] = nil
  }
}

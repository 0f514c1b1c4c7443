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
  /// If the excess delay outlasts the time our own queue needs to drain by this margin, it is cross traffic or a longer
  /// route: the baseline is reset.
  private static let drainMargin: Duration = .milliseconds(400)

  /// The queueing delay of the fastest of the newest packets.
  package private(set) var current = Duration.zero
  /// The shortest time from a packet's departure to the feedback on it: slightly more than the round-trip time.
  package var minimumFeedbackDelay: Duration { feedbackDelays.minimum.map { .microseconds($0) } ?? .milliseconds(100) }

  /// The time from the newest packet's departure to the feedback on it.
  package private(set) var latestFeedbackDelay: Duration = .milliseconds(100)
  /// The part of the queueing delay that is excessive and that we can reduce.
  package private(set) var excess = Duration.zero

  private var drain: (begun: MonotonicInstant, longest: Duration)?
  private var oneWayDelays = SlidingMinimum(count: QueueDelayEstimator.bucketCount)
  private var feedbackDelays = SlidingMinimum(count: QueueDelayEstimator.bucketCount)
  private var origin: MonotonicInstant?
  private var bucketEnd: MonotonicInstant?

  package init() {}

  /// Adds the packets of one feedback packet.
  package mutating func add(_ arrivals: [SentPacketLog.Arrival], now: MonotonicInstant) {
    guard let last = arrivals.last else { return }
    let origin = origin ?? last.sent
    self.origin = origin
    if let end = bucketEnd, now >= end {
      oneWayDelays.advance()
      feedbackDelays.advance()
      bucketEnd = now + Self.bucket
    } else if bucketEnd == nil {
      bucketEnd = now + Self.bucket
    }
    var fastest = Int64.max
    for arrival in arrivals.suffix(Self.newest) {
      fastest = min(fastest, arrival.arrived &- Int64((arrival.sent - origin) / .microseconds(1)))
    }
    for arrival in arrivals { oneWayDelays.add(arrival.arrived &- Int64((arrival.sent - origin) / .microseconds(1))) }
    latestFeedbackDelay = now - last.sent
    feedbackDelays.add(Int64(latestFeedbackDelay / .microseconds(1)))
    current = .microseconds(max(0, fastest &- (oneWayDelays.minimum ?? fastest)))
    excess = max(.zero, current - Self.harmless)
    guard excess > .zero else { return drain = nil }
    let longest = max(excess, drain?.longest ?? .zero)
    let begun = drain?.begun ?? now
    drain = (begun, longest)
    if now - begun > longest * 2 + (now - last.sent) + Self.drainMargin {
      oneWayDelays.reset(to: fastest)
      feedbackDelays.reset(to: Int64((now - last.sent) / .microseconds(1)))
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

/// When a track's line would have begun by the frames that came fastest and slowest in the last 5 to 10 seconds.
///
/// Arrival less position is the line's beginning plus the frame's delay. The least of them has the least delay in it, so
/// it is the best that arrivals can tell; the spread is how far it can be wrong.
struct DelayWindow: Sendable {
  private struct Bucket: Sendable {
    var since: ContinuousClock.Instant
    var earliest: ContinuousClock.Instant
    var latest: ContinuousClock.Instant
  }

  private static let length = Duration.seconds(5)
  private var current: Bucket?
  private var previous: Bucket?

  mutating func add(arrival: ContinuousClock.Instant, position: Duration) {
    let beginning = arrival - position
    guard var bucket = current, arrival - bucket.since < Self.length else {
      previous = current
      current = Bucket(since: arrival, earliest: beginning, latest: beginning)
      return
    }
    bucket.earliest = min(bucket.earliest, beginning)
    bucket.latest = max(bucket.latest, beginning)
    current = bucket
  }

  /// The beginning by the fastest frame; nil before the first.
  var earliest: ContinuousClock.Instant? {
    guard let current else { return nil }
    return previous.map { min($0.earliest, current.earliest) } ?? current.earliest
  }

  /// How much the delays differ.
  var spread: Duration {
    guard let current, let earliest else { return .zero }
    return (previous.map { max($0.latest, current.latest) } ?? current.latest) - earliest
  }
}

import Media

/// When a track's line would have begun by the frames that came fastest and slowest recently.
///
/// Arrival less position is the line's beginning plus the frame's delay. The least of them has the least delay in it, so
/// it is the best that arrivals can tell; the spread is how far it can be wrong.
struct DelayRange: Sendable {
  private struct Bucket: Sendable {
    var since: MonotonicInstant
    var earliest: MonotonicInstant
    var latest: MonotonicInstant
  }

  /// How long frames are put together.
  static let step = Duration.seconds(5)
  /// Steps that are remembered: 30 s.
  private static let memory = 6
  private var buckets: [Bucket] = []
  /// How many steps were begun.
  private(set) var steps = 0
  /// The beginning that most of the last half minute agrees on: a few seconds in which the positions went wrong do not
  /// count. Nil before the first frame.
  private(set) var typical: MonotonicInstant?

  mutating func add(arrival: MonotonicInstant, position: Duration) {
    let beginning = arrival - position
    let last = buckets.count - 1
    guard last >= 0, arrival - buckets[last].since < Self.step else {
      if buckets.count == Self.memory { buckets.removeFirst() }
      buckets.append(Bucket(since: arrival, earliest: beginning, latest: beginning))
      steps += 1
      return findTypical()
    }
    if beginning < buckets[last].earliest {
      buckets[last].earliest = beginning
      findTypical()
    }
    if beginning > buckets[last].latest { buckets[last].latest = beginning }
  }

  private mutating func findTypical() {
    typical = buckets.map(\.earliest).sorted()[buckets.count / 2]
  }

  /// The beginning by the fastest frame of the last 5 to 10 s; nil before the first.
  var earliest: MonotonicInstant? { buckets.suffix(2).map(\.earliest).min() }

  /// The beginning by the fastest frame of the last 25 to 30 s; nil before the first.
  var earliestOfAll: MonotonicInstant? { buckets.lazy.map(\.earliest).min() }

  /// How much the delays of the last 5 to 10 s differ.
  var spread: Duration {
    guard let earliest, let latest = buckets.suffix(2).map(\.latest).max() else { return .zero }
    return latest - earliest
  }
}

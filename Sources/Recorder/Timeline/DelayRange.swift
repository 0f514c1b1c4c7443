import Media

/// The start of a track's timeline according to the frames that arrived fastest and slowest recently.
///
/// Arrival minus position is the start of the timeline plus the frame's delay. The minimum contains the least delay, so
/// it is the best estimate that arrivals allow; the spread limits its error.
struct DelayRange: Sendable {
  private struct Bucket: Sendable {
    var since: MonotonicInstant
    var earliest: MonotonicInstant
    var latest: MonotonicInstant
  }

  /// The length of a step, in which frames are aggregated.
  static let step = Duration.seconds(5)
  /// The number of steps that are kept: 30 s.
  private static let memory = 6
  private var buckets: [Bucket] = []
  /// Of frames that may have been late by the sender's fault.
  private var postponed: Bucket?
  /// The number of steps so far.
  private(set) var steps = 0
  /// The start on which most of the last half minute agrees, so that a few seconds of wrong positions have no effect; the
  /// earlier one of two.
  /// Nil before the first frame.
  private(set) var typical: MonotonicInstant?

  mutating func add(arrival: MonotonicInstant, position: Duration) {
    if let postponed {
      discardPostponed()
      add(postponed.earliest, at: postponed.since)
      add(postponed.latest, at: postponed.since)
    }
    add(arrival - position, at: arrival)
  }

  /// Adds a frame only if the next one is added as well.
  mutating func postpone(arrival: MonotonicInstant, position: Duration) {
    let beginning = arrival - position
    postponed = Bucket(
      since: postponed?.since ?? arrival, earliest: min(postponed?.earliest ?? beginning, beginning),
      latest: max(postponed?.latest ?? beginning, beginning))
  }

  /// Discards the postponed frames: they were late by the sender's fault.
  mutating func discardPostponed() { postponed = nil }

  private mutating func add(_ beginning: MonotonicInstant, at arrival: MonotonicInstant) {
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
    typical = buckets.map(\.earliest).sorted()[(buckets.count - 1) / 2]
  }

  /// The start according to the fastest frame of the last 5 to 10 s; nil before the first.
  var earliest: MonotonicInstant? { buckets.suffix(2).map(\.earliest).min() }

  /// The start according to the fastest frame of the last 25 to 30 s; nil before the first.
  var earliestOfAll: MonotonicInstant? { buckets.lazy.map(\.earliest).min() }

  /// The spread of the delays of the last 5 to 10 s.
  var spread: Duration {
    guard let earliest, let latest = buckets.suffix(2).map(\.latest).max() else { return .zero }
    return latest - earliest
  }
}

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
  /// The number of steps so far.
  private(set) var steps = 0
  /// The start on which most of the last half minute agrees, so that a few seconds of wrong positions have no effect.
  /// Nil before the first frame.
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

/// Assigns evenly paced positions by arrival time, for a track whose media clock is unusable.
///
/// Audio packets follow each other without a gap, unless the arrivals are well ahead. Video frames keep their usual
/// interval and follow the arrivals slowly, so that network jitter does not become jitter in the recording.
struct ArrivalPacer: Sendable {
  /// How far audio may lag behind its arrival before the difference becomes a gap.
  static let maximumLag = Duration.milliseconds(60)
  /// How far a video frame may be from its arrival before it is placed there directly.
  static let maximumError = Duration.milliseconds(250)
  /// The share of an error that is corrected with each frame, and the weight of a new interval.
  static let gain = 0.125

  /// The usual interval of video frames.
  private var spacing: Duration?

  /// Returns the position of the next frame.
  ///
  /// - Parameters:
  ///   - position: the position of the previous frame.
  ///   - target: the position according to the arrival alone.
  ///   - step: the time between the arrivals of the previous frame and this one.
  ///   - length: the playing time of the previous audio packet; nil for video.
  mutating func next(
    after position: Duration, target: Duration, step: Duration, length: Duration?
  ) -> Duration {
    if let length {
      let end = position + length
      return target - end > Self.maximumLag ? target : end
    }
    let measured = min(max(step, .zero), .seconds(1))
    let spacing = self.spacing.map { $0 + (measured - $0) * Self.gain } ?? measured
    self.spacing = spacing
    let expected = position + spacing
    let error = target - expected
    if error > Self.maximumError { return target }
    if error < .zero - Self.maximumError { return position + spacing * 0.5 }
    return max(position, expected + error * Self.gain)
  }
}

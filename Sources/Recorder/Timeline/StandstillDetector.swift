import Media

/// Detects that a track's media clock stood still, from frames that are later than the fastest ones.
///
/// The clock of a microphone that is switched off and on may continue where it stopped, so all later packets seem late
/// by the length of the pause. So do packets that the network delayed. The two are distinguished by
///
/// - the delay of the other track: if that is usual, the network is not slower;
/// - time: what the network delayed catches up, and within moments if it arrives in one burst.
struct StandstillDetector: Sendable {
  /// The least lateness that is noticed, if arrivals are regular.
  static let minimumLateness = Duration.milliseconds(30)
  /// Frames whose lateness differs from the mean by less than this, times the mean difference, may be so by chance.
  private static let spreadFactor = 5
  /// The time over which the means are formed.
  private static let spreadTime = 5.0
  /// A pause in the arrivals that is evidence by itself.
  static let longPause = Duration.milliseconds(550)
  /// No network delays packets for longer than this.
  static let maximumDelay = Duration.seconds(15)
  /// How long to observe audio before it is decided: a few packets, or packets for some time if there are few.
  static let observation = Duration.milliseconds(240)
  static let fewestPackets = 12
  static let sparseObservation = Duration.milliseconds(1_200)
  static let fewestSparsePackets = 4
  /// How long audio waits for the decision before it is written.
  static let hold = Duration.milliseconds(400)
  /// Lateness that lasts for this long is the network's.
  static let maximumLateness = Duration.seconds(30)
  /// The length of the steps in which lateness is compared with itself, and how many must agree: of video whose network
  /// delay is known, and of a track of which nothing else is known.
  private static let step = Duration.milliseconds(500)
  private static let fewestSteps = 3
  private static let manySteps = 8
  private static let maximumChange = Duration.milliseconds(300)

  /// Frames in a row that are all late.
  struct Late: Sendable {
    /// When the first of them arrived, and its media time.
    var since: MonotonicInstant
    var time: MediaTime
    /// How many there are, including generated ones, and how many of them arrived.
    var frames = 0
    var arrived = 0
    /// The least lateness.
    var least: Duration
    /// The lateness right after the last long pause in the arrivals, or at the beginning.
    var initial: Duration
    /// The longest pause in the arrivals.
    var pause: Duration
    /// When the newest step began.
    fileprivate var stepBegan: MonotonicInstant
    /// What was usual before.
    fileprivate var spreadBefore: Spread
    fileprivate var threshold: Duration
  }

  /// The mean lateness, and the mean difference from it.
  fileprivate struct Spread: Sendable {
    var mean = Duration.zero
    var difference = Duration.zero
    var frames = 0
    var newest: MonotonicInstant?

    mutating func add(_ lateness: Duration, at arrival: MonotonicInstant) {
      let elapsed = newest.map { min(max(.zero, arrival - $0), .seconds(1)).seconds } ?? 0
      newest = arrival
      frames = min(frames + 1, 1_000)
      let weight = max(elapsed / StandstillDetector.spreadTime, 1 / Double(frames))
      let error = lateness - mean
      mean += error * weight
      difference += ((error < .zero ? .zero - error : error) - difference) * weight
    }
  }

  private(set) var late: Late?
  /// The least lateness of each of the last steps of `late`.
  private var steps: [Duration] = []
  private var spread = Spread()

  /// The lateness that the present frames may have because of a pause in the arrivals.
  var allowance: Duration { late?.initial ?? .zero }

  /// Adds the next frame.
  ///
  /// - Parameters:
  ///   - lateness: how much later than the fastest ones it arrived.
  ///   - pause: how much more time passed since the frame before it arrived than its media clock counted.
  mutating func add(_ entry: TrackTimeline.Entry, lateness: Duration, pause: Duration) {
    let threshold = late?.threshold ?? max(Self.minimumLateness, spread.difference * Self.spreadFactor)
    let spreadBefore = spread
    spread.add(lateness, at: entry.arrival)
    guard lateness > threshold else {
      late = nil
      return
    }
    guard var late else {
      steps = [lateness]
      self.late = Late(
        since: entry.arrival, time: entry.time, frames: 1, arrived: 1, least: lateness,
        initial: lateness, pause: pause, stepBegan: entry.arrival, spreadBefore: spreadBefore,
        threshold: threshold)
      return
    }
    late.frames += 1
    late.arrived += 1
    late.least = min(late.least, lateness)
    late.pause = max(late.pause, pause)
    if pause > Self.longPause { late.initial = max(late.initial, lateness) }
    if entry.arrival - late.stepBegan >= Self.step {
      if steps.count == Self.manySteps { steps.removeFirst() }
      steps.append(lateness)
      late.stepBegan = entry.arrival
    } else if let last = steps.last {
      steps[steps.count - 1] = min(last, lateness)
    }
    self.late = late
  }

  /// Counts a frame whose arrival says nothing: it was generated, or is shown before an earlier one.
  mutating func addGenerated() { late?.frames += 1 }

  /// Ends the observation, because the lateness is known to be the network's.
  mutating func end() { late = nil }

  /// Ends the observation, because the lateness was the clock's: it says nothing about the network.
  mutating func clockStoodStill() {
    if let late { spread = late.spreadBefore }
    late = nil
  }

  /// Returns for how long the clock stood still, once it is certain.
  ///
  /// - Parameters:
  ///   - other: the lateness of the other track since the frames are late; nil if nothing of it arrived.
  func standstill(at entry: TrackTimeline.Entry, other: FastestDelay.Excess?) -> Duration? {
    guard let late, late.arrived >= Self.fewestSparsePackets else { return nil }
    let elapsed = entry.arrival - late.since
    let isAudio = entry.length != nil
    if let other {
      let length = late.least - other.least
      let isSteady =
        isAudio
        ? elapsed >= Self.observation && late.arrived >= Self.fewestPackets || elapsed >= Self.sparseObservation
        : isSteady(Self.fewestSteps + 1, within: late.threshold)
      if length > late.threshold, late.least > other.usual, isSteady, !isCatchingUp(late, at: entry, elapsed: elapsed) {
        return length
      }
    }
    guard late.pause > Self.longPause else { return nil }
    let isCertain =
      isAudio && other == nil
      ? elapsed >= Self.observation && !isCatchingUp(late, at: entry, elapsed: elapsed)
      : isSteady(Self.manySteps, within: Self.maximumChange)
    return isCertain ? late.least : nil
  }

  private func isCatchingUp(_ late: Late, at entry: TrackTimeline.Entry, elapsed: Duration) -> Bool {
    entry.time.duration(since: late.time) > elapsed * 1.5 + .milliseconds(100)
  }

  /// Whether the lateness changed little for some time; the newest step is not complete.
  private func isSteady(_ count: Int, within limit: Duration) -> Bool {
    let steps = self.steps.suffix(count)
    guard steps.count == count, let least = steps.min(), let most = steps.max() else { return false }
    return most - least <= limit
  }
}

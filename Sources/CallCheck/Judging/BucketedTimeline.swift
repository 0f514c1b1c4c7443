/// The measurements in each step of the timeline. After ten minutes, pairs of steps are merged, and so on, so that
/// memory stays constant.
struct BucketedTimeline: Sendable {
  /// The maximum number of steps.
  static let maximumSteps = 3_000

  /// One step.
  struct Bucket: Sendable {
    var videoBytes = 0
    var audioBytes = 0
    var frames = 0
    var keyframes = 0
    var keyframeRequests = 0
    /// Packets that were sent, and those that did not arrive at the first attempt.
    var packets = 0.0
    var missing = 0.0
    /// The frozen time in seconds.
    var frozen = 0.0
    /// The mean square of the samples.
    var energy = Mean()
    var skew = Mean()
    var videoDelay = Mean()
    var audioDelay = Mean()
    var sentBitrate = Mean()
    var targetBitrate = Mean()

    static func + (one: Bucket, other: Bucket) -> Bucket {
      var sum = one
      sum.videoBytes += other.videoBytes
      sum.audioBytes += other.audioBytes
      sum.frames += other.frames
      sum.keyframes += other.keyframes
      sum.keyframeRequests += other.keyframeRequests
      sum.packets += other.packets
      sum.missing += other.missing
      sum.frozen += other.frozen
      sum.energy += other.energy
      sum.skew += other.skew
      sum.videoDelay += other.videoDelay
      sum.audioDelay += other.audioDelay
      sum.sentBitrate += other.sentBitrate
      sum.targetBitrate += other.targetBitrate
      return sum
    }
  }

  /// A running mean.
  struct Mean: Sendable {
    var sum = 0.0
    var count = 0.0

    mutating func add(_ value: Double, weight: Double = 1) {
      sum += value * weight
      count += weight
    }

    var value: Double? { count > 0 ? sum / count : nil }

    static func += (one: inout Mean, other: Mean) {
      one.sum += other.sum
      one.count += other.count
    }
  }

  /// Distributes bytes of frames evenly over an interval.
  mutating func addVideo(bytes: Int, from start: Double, to end: Double) {
    let parts = max(1, min(Self.maximumSteps, Int(((end - start) / step).rounded(.up))))
    for part in 0..<parts {
      let share = bytes * (part + 1) / parts - bytes * part / parts
      self[start + (end - start) * Double(part) / Double(parts)].videoBytes += share
    }
  }

  private(set) var step: Double
  private(set) var buckets: [Bucket] = []

  init(step: Double) {
    self.step = max(0.01, step)
  }

  /// The step that contains a time.
  subscript(time: Double) -> Bucket {
    get {
      let index = Int(max(0, time) / step)
      return buckets.indices.contains(index) ? buckets[index] : Bucket()
    }
    set {
      // A check lasts less than a year.
      let time = min(max(0, time), 3e7)
      while Int(time / step) >= Self.maximumSteps { merge() }
      let index = Int(time / step)
      while buckets.count <= index { buckets.append(Bucket()) }
      buckets[index] = newValue
    }
  }

  /// Returns the steps of the last second before a time, or one step if they are longer.
  func lastSecond(before time: Double) -> [Bucket] {
    (1...max(1, Int(1 / step))).map { self[max(0, time - Double($0) * step)] }
  }

  /// Merges steps until they are as long as those of another timeline, which is rounded.
  mutating func align(toStep other: Double) {
    while step * 1.5 < other { merge() }
  }

  /// Adds a frozen interval.
  mutating func addFrozen(start: Double, duration: Double) {
    var time = max(0, start)
    let end = start + duration
    while time < end {
      let next = min(end, (Double(Int(time / step)) + 1) * step)
      // Without progress, because two numbers are too close, the loop must end.
      guard next > time else { break }
      self[time].frozen += next - time
      time = next
    }
  }

  private mutating func merge() {
    buckets = stride(from: 0, to: buckets.count, by: 2).map { index in
      index + 1 < buckets.count ? buckets[index] + buckets[index + 1] : buckets[index]
    }
    step *= 2
  }
}

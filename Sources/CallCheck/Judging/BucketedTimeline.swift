/// What happened in each step of the time line. After ten minutes two steps become one, and so on, so that the memory stays the same.
struct BucketedTimeline: Sendable {
  /// How many steps there are at most.
  static let most = 3_000

  /// One step.
  struct Bucket: Sendable {
    var videoBytes = 0
    var audioBytes = 0
    var frames = 0
    var keyframes = 0
    var keyframeRequests = 0
    /// Packets that were sent, and those that did not come at the first try.
    var packets = 0.0
    var missing = 0.0
    /// Seconds that were frozen.
    var frozen = 0.0
    /// Squares of samples.
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

  /// A mean that is being made.
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

  /// Spreads bytes of frames evenly over a stretch of time.
  mutating func addVideo(bytes: Int, from start: Double, to end: Double) {
    let parts = max(1, min(Self.most, Int(((end - start) / step).rounded(.up))))
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

  /// The step of a time.
  subscript(time: Double) -> Bucket {
    get {
      let index = Int(max(0, time) / step)
      return buckets.indices.contains(index) ? buckets[index] : Bucket()
    }
    set {
      // A check lasts less than a year.
      let time = min(max(0, time), 3e7)
      while Int(time / step) >= Self.most { merge() }
      let index = Int(time / step)
      while buckets.count <= index { buckets.append(Bucket()) }
      buckets[index] = newValue
    }
  }

  /// A stretch was frozen.
  mutating func addFrozen(start: Double, duration: Double) {
    var time = max(0, start)
    let end = start + duration
    while time < end {
      let next = min(end, (Double(Int(time / step)) + 1) * step)
      // Where two numbers are as near as they can be, the next step is taken.
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

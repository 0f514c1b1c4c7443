import Media
import PeerEngine

extension SharedPath {
  /// Returns the seconds since the start.
  func seconds(_ time: MonotonicInstant) -> Double { (time - start) / .seconds(1) }

  /// Returns the target bitrate of a flow at a time.
  func target(of position: Int = 0, at time: MonotonicInstant) -> Int {
    flows[position].targets.last { $0.time <= time }?.bitrate ?? 0
  }

  /// Returns how many seconds after `moment` a flow's target first satisfies a condition, or nil if it does not before
  /// `end`.
  func settled(
    of position: Int = 0, from moment: MonotonicInstant, until end: MonotonicInstant,
    _ holds: (Int) -> Bool
  ) -> Double? {
    let later = flows[position].targets.filter { $0.time > moment && $0.time <= end }
    return later.first { holds($0.bitrate) }.map { ($0.time - moment) / .seconds(1) }
  }

  /// Returns the longest queue in an interval, and the longest time for which the queue stayed above 200 ms.
  func queue(from: MonotonicInstant, until end: MonotonicInstant) -> (worst: Duration, above: Duration) {
    var worst = Duration.zero
    var above = Duration.zero
    var began: MonotonicInstant?
    for sample in waits where sample.time >= from && sample.time <= end {
      worst = max(worst, sample.wait)
      if sample.wait > .milliseconds(200) {
        began = began ?? sample.time
        if let began { above = max(above, sample.time - began) }
      } else {
        began = nil
      }
    }
    return (worst, above)
  }

  /// Returns the bitrate at which a flow's media arrived in a range of seconds since the start, in bits a second.
  func bitrate(of position: Int = 0, _ seconds: Range<Int>) -> Double {
    let bytes = seconds.reduce(0) { $0 + (flows[position].delivered[$1] ?? 0) }
    return Double(bytes) * 8 / Double(seconds.count)
  }

  /// Returns the delay of each frame from the source to the receiver, and the numbers of the frames that arrived.
  func videoFrames(of position: Int = 0) -> (ages: [Duration], numbers: [Int]) {
    var ages: [Duration] = []
    var numbers: [Int] = []
    for (time, frame) in flows[position].frames where frame.codec == .vp8 {
      guard let number = SyntheticSource.number(of: frame), let given = flows[position].given[number] else { continue }
      ages.append(time - given)
      numbers.append(number)
    }
    return (ages, numbers)
  }

  /// Returns whether each frame that arrived is a keyframe or directly follows the frame before it.
  func isUnbroken(_ position: Int = 0) -> Bool {
    var last: Int?
    for (_, frame) in flows[position].frames where frame.codec == .vp8 {
      guard let number = SyntheticSource.number(of: frame) else { return false }
      guard frame.isKeyframe || number == last.map({ $0 + 1 }) else { return false }
      last = number
    }
    return true
  }
}

extension SharedPath {
  func trace() {
    for position in flows.indices {
      for (time, bitrate) in flows[position].targets { print("T", seconds(time), bitrate, position) }
    }
  }
}

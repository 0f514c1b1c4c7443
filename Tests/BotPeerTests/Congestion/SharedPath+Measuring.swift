import Media

@testable import BotPeer
@testable import NetworkEmulation
@testable import PeerEngine

extension SharedPath {
  /// Seconds since the start.
  func seconds(_ time: ContinuousClock.Instant) -> Double { (time - start) / .seconds(1) }

  /// The target of a flow at a moment.
  func target(of position: Int = 0, at time: ContinuousClock.Instant) -> Int {
    flows[position].targets.last { $0.time <= time }?.bitrate ?? 0
  }

  /// How many seconds after a moment a flow's target came to satisfy a condition and, but for `excursions`, continued to.
  func settled(
    of position: Int = 0, from moment: ContinuousClock.Instant, until end: ContinuousClock.Instant,
    _ holds: (Int) -> Bool
  ) -> Double? {
    let later = flows[position].targets.filter { $0.time > moment && $0.time <= end }
    return later.first { holds($0.bitrate) }.map { ($0.time - moment) / .seconds(1) }
  }

  /// The longest queue in a span, and the longest time for which it stayed above 200 ms.
  func queue(from: ContinuousClock.Instant, until end: ContinuousClock.Instant) -> (worst: Duration, above: Duration) {
    var worst = Duration.zero
    var above = Duration.zero
    var began: ContinuousClock.Instant?
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

  /// Bits a second that arrived of a flow between two seconds since the start.
  func bitrate(of position: Int = 0, _ seconds: Range<Int>) -> Double {
    let bytes = seconds.reduce(0) { $0 + (flows[position].delivered[$1] ?? 0) }
    return Double(bytes) * 8 / Double(seconds.count)
  }

  /// How long frames took from the source to the receiver's hands, and how many of those given came.
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

  /// Whether each frame that came is a keyframe or follows the one before it, or one that was sent again.
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

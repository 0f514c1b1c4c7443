/// Assigns Opus packets consecutive times, exact to the sample.
///
/// A WebM file rounds each packet's time to a millisecond or so, and the times of a live recording have even more
/// jitter. A receiver plays sample by sample, and would turn each deviation into an audible gap. So a packet begins
/// where the previous one ends, unless the container has a real gap.
package struct AudioTimeline {
  /// The tick of 48 kHz at which the next packet begins if there is no gap.
  private var next: Int64?

  package init() {}

  /// The smallest deviation that is a real gap: 10 ms, in ticks.
  static let minimumGap: Int64 = 480
  /// A packet that begins more than this too early overlaps earlier ones and is skipped: 60 ms, in ticks.
  static let maximumOverlap: Int64 = 2880
  /// Gaps are multiples of the shortest Opus frame: 2.5 ms, in ticks.
  static let gapStep: Int64 = 120

  /// Returns the start of a packet.
  ///
  /// - Parameters:
  ///   - time: its time in the container, in 48 kHz ticks; nil if it has none.
  ///   - length: the packet's own length in ticks.
  /// - Returns: the start in ticks; nil if earlier packets overlap it, so that it must be skipped.
  package mutating func position(_ time: Int64?, length: Int64) -> Int64? {
    guard let expected = next else {
      let start = time ?? 0
      next = start + length
      return start
    }
    let time = time ?? expected
    let deviation = time - expected
    if deviation < -Self.maximumOverlap { return nil }
    var start = expected
    if deviation >= Self.minimumGap {
      start += (deviation + Self.gapStep / 2) / Self.gapStep * Self.gapStep
    }
    next = start + length
    return start
  }
}

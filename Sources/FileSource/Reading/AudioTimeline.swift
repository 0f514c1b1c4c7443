/// Places Opus packets one behind the other, exact to the sample.
///
/// A WebM file rounds each packet's time to a millisecond or so, and a live recording's times jitter by more; but a
/// receiver plays at the sample, and would hear each deviation as a tiny hole. So a packet begins where the one before it
/// ends, as long as the container does not report a real gap.
struct AudioTimeline {
  /// 48 kHz ticks at which the next packet begins if nothing is missing.
  private var next: Int64?

  /// A gap from here on is real: 10 ms, in ticks.
  static let smallestGap: Int64 = 480
  /// A packet that begins this much too early finds its time already taken: 60 ms, in ticks.
  static let maximumOverlap: Int64 = 2880
  /// Gaps are whole numbers of the shortest Opus frame: 2.5 ms, in ticks.
  static let gapStep: Int64 = 120

  /// Places a packet.
  ///
  /// - Parameters:
  ///   - time: the container's word, in 48 kHz ticks; nil when it says nothing.
  ///   - length: the packet's own length in ticks.
  /// - Returns: its place in ticks; nil when its time is already taken and it is to be skipped.
  mutating func position(_ time: Int64?, length: Int64) -> Int64? {
    guard let expected = next else {
      let start = time ?? 0
      next = start + length
      return start
    }
    let time = time ?? expected
    let deviation = time - expected
    if deviation < -Self.maximumOverlap { return nil }
    var start = expected
    if deviation >= Self.smallestGap {
      start += (deviation + Self.gapStep / 2) / Self.gapStep * Self.gapStep
    }
    next = start + length
    return start
  }
}

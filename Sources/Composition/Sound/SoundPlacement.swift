/// Places the decoded packets of one recording to the sample.
///
/// What a decoder returns for a packet is later than what was encoded, by the delay of codec and resampling. So it is placed
/// earlier by that delay, and what is before the first packet is left out:
///
/// ```
///   packets      │ A        │ B        │   gap    │ C        │
///   decoded   ▒▒│ A        │ B       │    gap   │ C        │        ▒▒ left out
/// ```
package struct SoundPlacement {
  /// By how many samples decoded sound is later than the packet's time.
  private var delay: Int64 = 0
  /// How many samples of what is decoded next are left out.
  private var skipped: Int64 = 0
  /// The number of the sample after the last one that was placed; nothing is placed before it.
  private var end: Int64 = .min

  package init() {}

  /// Notes that what follows comes from a decoder without memory, whose first samples are its delay.
  ///
  /// - Parameter delay: in samples; a negative one counts as 0, and one of more than a second as a second.
  package mutating func begin(delay: Int64) {
    self.delay = min(max(0, delay), Int64(SoundClock.rate))
    skipped = self.delay
  }

  /// Places what a packet was decoded to.
  ///
  /// - Parameters:
  ///   - samples: two channels, interleaved.
  ///   - start: the sample of the packet's time, from the composition's zero.
  /// - Returns: nil if all of it is left out. What overlaps earlier sound is left out as well.
  package mutating func place(_ samples: [Float], at start: Int64) -> SoundRun? {
    let count = Int64(samples.count / SoundClock.channels)
    let beginning = start - delay
    let left = min(count, max(skipped, end > beginning ? end - beginning : 0))
    skipped -= min(skipped, count)
    guard left < count else { return nil }
    let run = SoundRun(
      start: beginning + left, samples: left == 0 ? samples : Array(samples.dropFirst(Int(left) * SoundClock.channels)))
    end = run.end
    return run
  }
}

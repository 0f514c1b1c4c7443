/// The clock of a composition's sound: 48 kHz, so that a sample is a whole number of units of `MediaTimebase.rate`.
package enum SoundClock {
  package static let rate = 48_000
  package static let channels = 2
  package static let unitsPerSample: Int64 = 15

  /// The sample at a time, rounded down, also before the composition's zero.
  package static func sample(at time: Int64) -> Int64 {
    let whole = time / unitsPerSample
    return time % unitsPerSample < 0 ? whole - 1 : whole
  }

  /// The time of a sample in units of `MediaTimebase.rate`, clamped to 64 bits.
  package static func time(ofSample sample: Int64) -> Int64 {
    let (time, isTooLarge) = sample.multipliedReportingOverflow(by: unitsPerSample)
    return isTooLarge ? (sample < 0 ? .min : .max) : time
  }
}

/// Sound without a gap: two channels at 48 kHz, interleaved, each sample from -1 to 1.
package struct SoundRun: Sendable, Hashable {
  /// The number of the first sample, counted from the composition's zero.
  package var start: Int64
  package private(set) var samples: [Float]

  /// - Parameter samples: left and right in turn; half a pair at the end is left out.
  package init(start: Int64, samples: [Float]) {
    self.start = start
    self.samples = samples.count.isMultiple(of: SoundClock.channels) ? samples : Array(samples.dropLast())
  }

  /// The number of samples in each channel.
  package var count: Int { samples.count / SoundClock.channels }
  /// The number of the sample after the last one.
  package var end: Int64 { start + Int64(count) }

  /// Returns what is within a range; nil if nothing is.
  package func clamped(to range: Range<Int64>) -> SoundRun? {
    guard start < range.upperBound, end > range.lowerBound, start < end, !range.isEmpty else { return nil }
    if start >= range.lowerBound, end <= range.upperBound { return self }
    let first = Int(max(start, range.lowerBound) - start)
    let last = Int(min(end, range.upperBound) - start)
    return SoundRun(
      start: start + Int64(first),
      samples: Array(samples[first * SoundClock.channels..<last * SoundClock.channels]))
  }
}

/// Measures whether a publisher sends more than it may: the average over some seconds counts, so that keyframes and
/// packets that arrive late together are allowed.
package struct BitrateLimit: Sendable {
  /// The maximum average, in bits of media a second.
  package static let bitsPerSecond = 20_000_000
  /// The time over which the average is taken.
  package static let window = Duration.seconds(5)
  /// More samples in a window are not kept.
  private static let maximumSamples = 64

  private var samples: [(time: ContinuousClock.Instant, bytes: UInt64)] = []

  package init() {}

  /// Adds the number of bytes that have arrived so far.
  ///
  /// - Returns: the average in bits a second if it exceeds the limit, else nil.
  package mutating func add(bytes: UInt64, now: ContinuousClock.Instant) -> Int? {
    // The counters of a new connection begin at 0.
    if let last = samples.last, bytes < last.bytes { samples = [] }
    // The first sample is the newest one that is as old as the window.
    while samples.count > 1, now - samples[1].time >= Self.window { samples.removeFirst() }
    if samples.count < Self.maximumSamples { samples.append((now, bytes)) }
    guard let first = samples.first, now - first.time >= Self.window else { return nil }
    let bitrate = Double(bytes - first.bytes) * 8 / ((now - first.time) / .seconds(1))
    return bitrate > Double(Self.bitsPerSecond) ? Int(min(bitrate, 1e15)) : nil
  }
}

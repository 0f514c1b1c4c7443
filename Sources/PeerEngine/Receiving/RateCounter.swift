package import Media

/// Measures a bitrate over the last second or so, in ten buckets of 100 ms.
package struct RateCounter: Sendable {
  private static let bucketCount = 10
  private static let bucketLength: Duration = .milliseconds(100)

  private var buckets = [Int](repeating: 0, count: RateCounter.bucketCount)
  private var sum = 0
  private var current = 0
  private var start: MonotonicInstant?
  private var bucketEnd: MonotonicInstant?

  private let minimumWindow: Duration

  /// - Parameter minimumWindow: the minimum time over which the bitrate is averaged at the beginning, so that a first
  ///   packet does not look like a burst.
  package init(minimumWindow: Duration = .milliseconds(200)) {
    self.minimumWindow = minimumWindow
  }

  package mutating func add(bytes: Int, now: MonotonicInstant) {
    advance(to: now)
    buckets[current] += bytes
    sum += bytes
  }

  /// Returns the bitrate in bits a second over the last second; at the beginning, over the time that has passed.
  package mutating func bitrate(now: MonotonicInstant) -> Double {
    advance(to: now)
    guard let start, let bucketEnd else { return 0 }
    let filled = Self.bucketLength * Self.bucketCount - (bucketEnd - now)
    let window = max(min(now - start, filled), minimumWindow)
    return Double(sum) * 8 / window.seconds
  }

  private mutating func advance(to now: MonotonicInstant) {
    guard var end = bucketEnd else {
      start = now
      bucketEnd = now + Self.bucketLength
      return
    }
    guard now >= end else { return }
    if now - end >= Self.bucketLength * Self.bucketCount {
      for index in buckets.indices { buckets[index] = 0 }
      sum = 0
      bucketEnd = now + Self.bucketLength
      return
    }
    while now >= end {
      current = (current + 1) % Self.bucketCount
      sum -= buckets[current]
      buckets[current] = 0
      end += Self.bucketLength
    }
    bucketEnd = end
  }
}

/// The smoothed round-trip time, by the filter of RFC 6298, 2.
package struct RoundTripTime: Sendable, Hashable {
  /// The value that is assumed before the first measurement.
  package static let assumed: Duration = .milliseconds(100)

  /// The smoothed time; nil before the first measurement.
  package private(set) var smoothed: Duration?
  /// The last measurement, not smoothed.
  package private(set) var latest: Duration?
  private var variation: Duration = .milliseconds(25)

  package init() {}

  /// Adds a measurement. Negative ones and those above 30 s are measurement errors and ignored.
  package mutating func measured(_ sample: Duration) {
    guard sample >= .zero, sample <= .seconds(30) else { return }
    latest = sample
    guard let before = smoothed else {
      smoothed = sample
      variation = sample / 2
      return
    }
    let deviation = before > sample ? before - sample : sample - before
    variation = (variation * 3 + deviation) / 4
    smoothed = (before * 7 + sample) / 8
  }

  /// The smoothed time or, before the first measurement, the assumed one.
  package var estimate: Duration { smoothed ?? Self.assumed }

  /// How long to wait for an answer before requesting again: the estimate and a margin for jitter, within 30 ms and 1.5 s.
  package var retryInterval: Duration {
    let margin = max(.milliseconds(10), variation * 2)
    return min(max(.milliseconds(30), estimate + margin), .milliseconds(1_500))
  }
}

/// The smoothed time from a question to its answer, by the filter of RFC 6298, 2.
package struct RoundTripTime: Sendable, Hashable {
  /// What is assumed until something was measured.
  package static let assumed: Duration = .milliseconds(100)

  /// The smoothed time, once measured.
  package private(set) var smoothed: Duration?
  /// The last measurement as it was.
  package private(set) var latest: Duration?
  private var variation: Duration = .milliseconds(25)

  package init() {}

  /// Takes in one measurement. Negative ones and those above 30 s are errors of measuring and ignored.
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

  /// The smoothed time or, before any measurement, a guess.
  package var estimate: Duration { smoothed ?? Self.assumed }

  /// How long to wait for an answer before asking again: the estimate and a margin for jitter, within 30 ms and 1.5 s.
  package var retryInterval: Duration {
    let margin = max(.milliseconds(10), variation * 2)
    return min(max(.milliseconds(30), estimate + margin), .milliseconds(1_500))
  }
}

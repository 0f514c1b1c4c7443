package import Media

/// Counts failed attempts to authenticate for each address: after ten within a minute it is refused. Pure.
package struct FailureLimiter: Sendable {
  package static let interval = Duration.seconds(60)
  /// The maximum number of addresses that are remembered; then all are forgotten.
  package static let maximumAddresses = 10_000

  private let maximumFailures: Int

  private struct Failures {
    /// The newest at the end.
    var times: [MonotonicInstant] = []
  }

  private var failures: [String: Failures] = [:]

  /// - Parameter maximumFailures: within a minute; at least 1.
  package init(maximumFailures: Int = 10) {
    self.maximumFailures = max(1, maximumFailures)
  }

  /// Returns after which time the address may try again; nil if it may now.
  package func wait(_ address: String, now: MonotonicInstant) -> Duration? {
    guard let times = failures[address]?.times, times.count >= maximumFailures else { return nil }
    let end = times[0] + Self.interval
    return end > now ? end - now : nil
  }

  package mutating func failed(_ address: String, now: MonotonicInstant) {
    if failures.count >= Self.maximumAddresses, failures[address] == nil { forget(now: now) }
    var times = failures[address, default: Failures()].times.filter { $0 + Self.interval > now }
    times.append(now)
    failures[address] = Failures(times: Array(times.suffix(maximumFailures)))
  }

  private mutating func forget(now: MonotonicInstant) {
    failures = failures.filter { $0.value.times.last.map { $0 + Self.interval > now } ?? false }
    if failures.count >= Self.maximumAddresses { failures = [:] }
  }
}

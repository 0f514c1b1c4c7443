package import Media

/// Decides when to ask the sender for a keyframe: at once when one is wanted, and again until one has come, since a
/// request can be lost like any packet; but never more often than the interval allows.
package struct KeyframeRequester: Sendable {
  /// The least time between two requests.
  package let interval: Duration
  /// The requests made so far.
  package private(set) var requests: UInt64 = 0

  private var earliest: MonotonicInstant?

  package init(interval: Duration = .milliseconds(500)) {
    self.interval = interval
  }

  /// Whether to send a request now; if so, it counts as sent.
  ///
  /// - Parameter wanted: whether a keyframe is wanted and none is on its way.
  package mutating func poll(wanted: Bool, now: MonotonicInstant) -> Bool {
    guard wanted else { return false }
    if let earliest, now < earliest { return false }
    earliest = now + interval
    requests += 1
    return true
  }

  /// When a request may be sent, provided that a keyframe is still wanted then.
  package func deadline(wanted: Bool, now: MonotonicInstant) -> MonotonicInstant? {
    guard wanted else { return nil }
    return earliest.map { max($0, now) } ?? now
  }
}

import Media

/// The retransmission timeout (RTO) of the path (RFC 9260, 6.3.1). ``BackoffTimer`` doubles it.
struct RetransmissionTimeout: Sendable {
  /// The smoothed round-trip time; nil before the first measurement.
  private(set) var smoothed: Duration?
  private var variation = Duration.zero
  private(set) var current = SCTPTiming.initialRTO

  /// How long an acknowledgement may stay away before the newest chunk is sent again: two round trips (RFC 8985, 7.2),
  /// or more if the round trips vary. Nil before the first measurement.
  ///
  /// The delay of a SACK is not added: the last chunk that is sent requests one at once. A peer that does not comply
  /// has longer measured round trips.
  var probe: Duration? {
    smoothed.map { max($0 * 2, $0 + variation * 4, SCTPTiming.minimumProbeTimeout) }
  }

  mutating func measured(_ roundTrip: Duration) {
    let roundTrip = max(.zero, min(roundTrip, .seconds(60)))
    if let former = smoothed {
      let difference = former > roundTrip ? former - roundTrip : roundTrip - former
      variation = (variation * 3 + difference) / 4
      smoothed = (former * 7 + roundTrip) / 8
    } else {
      variation = roundTrip / 2
      smoothed = roundTrip
    }
    let timeout = (smoothed ?? roundTrip) + variation * 4
    current = max(SCTPTiming.minimumRTO, min(timeout, SCTPTiming.maximumRTO))
  }
}

/// A timer that repeats with a doubled interval. Starting it again ends the doubling: the peer has shown that the path
/// works.
struct BackoffTimer: Sendable {
  private(set) var deadline: MonotonicInstant?
  /// How often the timer expired since it was started.
  private(set) var expirations = 0
  private var interval = Duration.zero

  mutating func start(_ interval: Duration, now: MonotonicInstant) {
    self.interval = interval
    expirations = 0
    deadline = now + interval
  }

  mutating func stop() {
    deadline = nil
    expirations = 0
  }

  /// Ends the doubling, and does not delay the expiration.
  mutating func endBackoff(_ interval: Duration, now: MonotonicInstant) {
    guard let former = deadline else { return }
    self.interval = interval
    expirations = 0
    deadline = min(former, now + interval)
  }

  /// Returns whether the timer expired; if so, it runs again with twice the interval, up to the maximum RTO.
  mutating func expires(now: MonotonicInstant) -> Bool {
    guard let deadline, deadline <= now else { return false }
    expirations += 1
    interval = min(interval * 2, SCTPTiming.maximumRTO)
    self.deadline = now + interval
    return true
  }
}

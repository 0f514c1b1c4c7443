package import Media

/// Briefly tests whether the path carries more: sends a few packets at a higher rate and measures how fast they arrive
/// (draft-ietf-rmcat-gcc-02 leaves this open; libwebrtc's ProbeController and ProbeBitrateEstimator).
///
/// ```
///           due, and a frame leaves           all sent              acknowledged, or timed out
///   idle ──────────────────────────► sending ───────────► awaiting ──────────────────────────────► idle
/// ```
package struct BandwidthProbe: Sendable {
  /// The length of a probe in seconds, and its minimum number of packets.
  private static let length = 0.025
  private static let minimumPackets = 5
  /// The share of a probe's packets that must be acknowledged.
  private static let minimumAcknowledgedShare = 0.8
  private static let maximumWait: Duration = .milliseconds(800)
  private static let minimumPause: Duration = .seconds(1)
  private static let maximumPause: Duration = .seconds(5)

  private struct Burst: Sendable {
    var number: Int
    var rate: Double
    var bytesLeft: Int
    var packets = 0
    /// Whether some packets were sent only for the probe.
    var isFilled = false
    var begun: MonotonicInstant
    var arrivals: [SentPacketLog.Arrival] = []
  }

  private enum State: Sendable {
    case idle
    case sending(Burst)
    case awaiting(Burst)
  }

  private var state = State.idle
  private var number = 0
  private var lastWasFilled = false
  private var pause = BandwidthProbe.minimumPause
  private var next: MonotonicInstant?
  /// When the last probe was evaluated, or the path was congested.
  private var last: MonotonicInstant?

  package init() {}

  /// The number and rate, in bits a second, of the probe to which packets that leave now belong.
  package var active: (number: Int, rate: Double)? {
    if case .sending(let burst) = state { (burst.number, burst.rate) } else { nil }
  }

  /// Returns whether a probe may begin.
  ///
  /// - Parameter isUrgent: whether more bandwidth is known to be needed, which justifies the cost of a probe.
  package func isDue(isUrgent: Bool, now: MonotonicInstant) -> Bool {
    guard case .idle = state else { return false }
    if isUrgent, let last, now - last >= Self.minimumPause { return true }
    return next.map { $0 <= now } ?? true
  }

  /// Begins a probe at a rate.
  package mutating func begin(rate: Double, now: MonotonicInstant) {
    number += 1
    state = .sending(
      Burst(number: number, rate: rate, bytesLeft: Int(rate / 8 * Self.length), begun: now))
  }

  /// Notes that a packet of the probe leaves.
  ///
  /// - Parameter isFiller: whether it is sent only for the probe.
  package mutating func sent(size: Int, isFiller: Bool, now: MonotonicInstant) {
    guard case .sending(var burst) = state else { return }
    if isFiller { burst.isFilled = true }
    burst.bytesLeft -= size
    burst.packets += 1
    state = burst.bytesLeft > 0 || burst.packets < Self.minimumPackets ? .sending(burst) : .awaiting(burst)
  }

  /// Evaluates the arrived packets; returns the measured bitrate in bits a second when a probe has ended with a result.
  package mutating func received(_ arrivals: [SentPacketLog.Arrival], now: MonotonicInstant) -> Double? {
    guard case .awaiting(var burst) = state else {
      if case .sending(var burst) = state {
        burst.arrivals += arrivals.filter { $0.probe == burst.number }
        state = .sending(burst)
        giveUp(burst, now: now)
      }
      return nil
    }
    burst.arrivals += arrivals.filter { $0.probe == burst.number }
    state = .awaiting(burst)
    guard Double(burst.arrivals.count) >= Double(burst.packets) * Self.minimumAcknowledgedShare else {
      giveUp(burst, now: now)
      return nil
    }
    state = .idle
    lastWasFilled = burst.isFilled
    next = now + pause
    // The result is at most the rate that was tried, although the beginning of a burst may have been faster.
    return Self.rate(of: burst.arrivals).map { min($0, burst.rate) }
  }

  /// Schedules the next probe: after one that proved more it may follow at once, after others with growing pauses, unless
  /// they cost nothing because their packets had to be sent anyway.
  package mutating func judged(wasUseful: Bool, now: MonotonicInstant) {
    pause = wasUseful || !lastWasFilled ? Self.minimumPause : min(pause * 2, Self.maximumPause)
    next = wasUseful ? now : now + pause
    last = now
  }

  /// Postpones the next probe, because the path has just been congested.
  package mutating func postpone(now: MonotonicInstant) {
    next = max(next ?? now, now + Self.minimumPause)
    last = now
  }

  /// Ends the probe early, because there is nothing left to send.
  package mutating func abandon(now: MonotonicInstant) {
    guard case .sending(let burst) = state else { return }
    if burst.packets >= Self.minimumPackets {
      state = .awaiting(burst)
    } else {
      state = .idle
      next = now + Self.minimumPause
    }
  }

  private mutating func giveUp(_ burst: Burst, now: MonotonicInstant) {
    guard now - burst.begun > Self.maximumWait else { return }
    state = .idle
    judged(wasUseful: false, now: now)
  }

  /// Returns the measured bitrate: the rate of sending, or somewhat less than the rate of arrival if the path was the
  /// limit.
  private static func rate(of arrivals: [SentPacketLog.Arrival]) -> Double? {
    guard let firstSent = arrivals.min(by: { $0.sent < $1.sent }),
      let lastSent = arrivals.max(by: { $0.sent < $1.sent }),
      let first = arrivals.min(by: { $0.arrived < $1.arrived }),
      let last = arrivals.max(by: { $0.arrived < $1.arrived })
    else { return nil }
    let bytes = arrivals.reduce(0) { $0 + $1.size }
    let sending = (lastSent.sent - firstSent.sent).seconds
    let receiving = Double(last.arrived - first.arrived) / 1e6
    guard sending > 0.001, receiving > 0.001 else { return nil }
    let sent = Double(bytes - lastSent.size) * 8 / sending
    let received = Double(bytes - first.size) * 8 / receiving
    // Packets that arrived much closer together than they left were queued together somewhere.
    guard received < sent * 2 else { return nil }
    return received < sent * 0.9 ? received * 0.85 : min(sent, received)
  }
}

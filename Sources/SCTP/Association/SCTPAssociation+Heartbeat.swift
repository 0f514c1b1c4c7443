import Media
import NIOCore

/// The probing of the path while nothing else shows that it works (RFC 9260, 8.3).
struct Heartbeat: Sendable {
  private(set) var deadline: MonotonicInstant?
  /// The number in the HEARTBEAT that was not answered yet, and when it was sent.
  private(set) var pending: (nonce: UInt64, sent: MonotonicInstant)?

  mutating func start(
    timeout: Duration, now: MonotonicInstant, using generator: inout any RandomNumberGenerator & Sendable
  ) {
    pending = nil
    schedule(timeout: timeout, now: now, using: &generator)
  }

  mutating func stop() {
    pending = nil
    deadline = nil
  }

  /// Plans the next one, HB.interval and a random part of the RTO later.
  mutating func schedule(
    timeout: Duration, now: MonotonicInstant, using generator: inout any RandomNumberGenerator & Sendable
  ) {
    let share = Double(generator.next() >> 11) / Double(1 << 53)
    deadline = now + SCTPTiming.heartbeatInterval + timeout * (0.5 + share)
  }

  mutating func sent(nonce: UInt64, timeout: Duration, now: MonotonicInstant) {
    pending = (nonce, now)
    deadline = now + timeout
  }

  /// Returns the round-trip time if `nonce` is that of the pending heartbeat.
  mutating func answered(nonce: UInt64, now: MonotonicInstant) -> Duration? {
    guard let pending, pending.nonce == nonce else { return nil }
    self.pending = nil
    return now - pending.sent
  }

  /// Returns whether a heartbeat was not answered in time.
  mutating func takeUnanswered() -> Bool {
    defer { pending = nil }
    return pending != nil
  }
}

extension SCTPAssociation {
  mutating func checkHeartbeat(now: MonotonicInstant) {
    guard let deadline = heartbeat.deadline, deadline <= now else { return }
    guard state == .established || state == .shutdownPending || state == .shutdownReceived else {
      heartbeat.stop()
      return
    }
    if heartbeat.takeUnanswered() {
      heartbeat.schedule(timeout: timeout.current, now: now, using: &generator)
      countError(now: now)
      return
    }
    let nonce = generator.next()
    pend(.heartbeat(ByteBuffer(integer: nonce)))
    heartbeat.sent(nonce: nonce, timeout: timeout.current, now: now)
  }

  mutating func heartbeatAcknowledged(_ information: ByteBuffer, now: MonotonicInstant) {
    guard let nonce = information.getInteger(at: information.readerIndex, as: UInt64.self),
      let roundTrip = heartbeat.answered(nonce: nonce, now: now)
    else {
      counted.unexpectedChunks += 1
      return
    }
    timeout.measured(roundTrip)
    errorCount = 0
    heartbeat.schedule(timeout: timeout.current, now: now, using: &generator)
  }
}

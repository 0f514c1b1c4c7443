import Media
import NIOCore

/// A connectivity check in progress: a Binding request and, over UDP, its retransmissions (RFC 8489, 6.2.1).
struct CheckTransaction: Sendable {
  let id: STUNTransactionID
  let pair: Int
  let path: Path
  /// The agent's role in the request.
  let role: ICEAgent.Role
  /// Whether the request has USE-CANDIDATE.
  let nominates: Bool
  /// Whether this is a consent check. It is sent once; the next one is another transaction (RFC 7675, 5.1).
  let isConsent: Bool
  let datagram: ByteBuffer
  let firstSent: MonotonicInstant
  private(set) var lastSent: MonotonicInstant
  private(set) var transmissions = 1
  private var timeout: Duration
  private let maximumTimeout: Duration
  private let lifetime: Duration
  private(set) var nextTransmission: MonotonicInstant?

  init(
    id: STUNTransactionID, pair: Int, path: Path, role: ICEAgent.Role, nominates: Bool, isConsent: Bool,
    datagram: ByteBuffer, timeout: Duration, maximumTimeout: Duration, lifetime: Duration, now: MonotonicInstant
  ) {
    self.id = id
    self.pair = pair
    self.path = path
    self.role = role
    self.nominates = nominates
    self.isConsent = isConsent
    self.datagram = datagram
    self.timeout = timeout
    self.maximumTimeout = maximumTimeout
    self.lifetime = lifetime
    firstSent = now
    lastSent = now
    // TCP retransmits by itself (RFC 8489, 6.2.2).
    nextTransmission = isConsent || path.local.transport == .tcp ? nil : now + timeout
  }

  /// The time at which the check counts as unanswered.
  var expiry: MonotonicInstant {
    firstSent + lifetime
  }

  var deadline: MonotonicInstant { min(expiry, nextTransmission ?? expiry) }

  /// Records a retransmission and doubles the timeout up to its limit.
  mutating func sentAgain(now: MonotonicInstant) {
    transmissions += 1
    lastSent = now
    timeout = max(timeout, min(timeout * 2, maximumTimeout))
    nextTransmission = now + timeout
  }

  /// Shortens the wait for the next retransmission, because the remote peer has just shown that the path works.
  mutating func retransmitSoon() {
    guard let next = nextTransmission else { return }
    nextTransmission = min(next, lastSent + ICETiming.triggeredRetransmissionDelay)
  }
}

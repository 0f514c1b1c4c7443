internal import Media

/// How many STUN messages of a participant are verified. Each costs some µs: parsing, a checksum and an HMAC.
///
/// A browser sends at most some 20 checks a second; a participant that sends more delays only their own.
struct ParticipantSTUNAllowance: Sendable {
  /// For messages on paths that the participant's checks have validated, and for responses to ours.
  private var known = TokenBucket(burst: 100, interval: .milliseconds(10))
  /// For checks on other paths: who knows the participant's fragment can send them from any address.
  private var unknown = TokenBucket(burst: 100, interval: .milliseconds(20))

  mutating func takeKnown(now: MonotonicInstant) -> Bool { known.consume(now: now) }

  mutating func takeUnknown(now: MonotonicInstant) -> Bool { unknown.consume(now: now) }
}

/// The two ends of a path.
struct Path: Sendable, Hashable {
  /// The base that we send from.
  var local: TransportAddress
  var remote: TransportAddress
}

/// A path to be checked, and what is known of it (RFC 8445, 6.1.2).
///
/// A server-reflexive candidate's packets leave from its base, so its pairs would be those of the host candidate
/// (RFC 8445, 6.1.2.4 prunes them): the local end is always a base.
struct CandidatePair: Sendable {
  /// RFC 8445, 6.1.2.6.
  ///
  /// ```
  ///  frozen ──► waiting ──► inProgress ──► succeeded
  ///                ▲            └────────► failed
  ///                └─── the other side checks it ┘
  /// ```
  enum State: Sendable, Hashable {
    case frozen
    case waiting
    case inProgress
    case succeeded
    case failed
  }

  let id: Int
  let path: Path
  let localPriority: UInt32
  let localFoundation: String
  var remote: RemoteCandidate
  /// By RFC 8445, 6.1.2.3, for our present role.
  var priority: UInt64
  var state = State.frozen

  /// Both sides know that this pair is to be used.
  var isNominated = false
  /// The controlling side has nominated it, but no check of ours has succeeded lately (RFC 8445, 7.3.1.5).
  var isNominatedOnSuccess = false
  /// When the controlling side last said so.
  var lastRemoteNomination: ContinuousClock.Instant?

  /// A request with the right MESSAGE-INTEGRITY came this way.
  var hasAuthenticRequest = false
  /// Consent ran out: nothing is sent here or taken from here again (RFC 7675, 5.1).
  var isRevoked = false
  /// Bytes of authentic requests that came this way, and of answers and checks that went there before a check was answered.
  var bytesHeard = 0
  var bytesSentUnanswered = 0
  /// When a check of ours was last answered.
  var lastAnswer: ContinuousClock.Instant?
  /// Smoothed over the answers (RFC 6298, 2).
  var roundTripTime: Duration?
  /// What the other side sees us as.
  var mapped: TransportAddress?

  init(
    id: Int, path: Path, localPriority: UInt32, localFoundation: String, remote: RemoteCandidate, role: ICEAgent.Role
  ) {
    self.id = id
    self.path = path
    self.localPriority = localPriority
    self.localFoundation = localFoundation
    self.remote = remote
    priority = Self.priority(local: localPriority, remote: remote.priority, role: role)
  }

  /// A check of ours has succeeded.
  var isValid: Bool { state == .succeeded && !isRevoked }

  /// Whether a check of so many bytes may be sent. To an address that nobody has named at most three times goes what came
  /// from there, until it answers: the sender of a request may have borrowed the address (RFC 9000, 8 has the same rule).
  func allowsCheck(ofBytes size: Int) -> Bool {
    lastAnswer != nil || remote.type != .peerReflexive || bytesSentUnanswered + size <= 3 * bytesHeard
  }

  /// Packets from there are trusted to come from the other peer.
  var isOpen: Bool { !isRevoked && (state == .succeeded || hasAuthenticRequest && state != .failed) }

  /// Whether it was answered so lately that it can be used at once.
  func isFresh(at now: ContinuousClock.Instant) -> Bool {
    guard isValid, let lastAnswer else { return false }
    return lastAnswer + ICETiming.silence > now
  }

  /// Whether both pairs' candidates have the same foundations.
  func isAlike(_ other: CandidatePair) -> Bool {
    localFoundation == other.localFoundation && remote.foundation == other.remote.foundation
  }

  mutating func updatePriority(role: ICEAgent.Role) {
    priority = Self.priority(local: localPriority, remote: remote.priority, role: role)
  }

  mutating func measured(_ sample: Duration) {
    roundTripTime = roundTripTime.map { ($0 * 7 + sample) / 8 } ?? sample
  }

  private static func priority(local: UInt32, remote: UInt32, role: ICEAgent.Role) -> UInt64 {
    // Priorities have 31 bits (RFC 8445, 5.1.2); one with more would overflow below.
    let (ours, theirs) = (UInt64(local & 0x7FFF_FFFF), UInt64(min(remote, 0x7FFF_FFFF)))
    let (controlling, controlled) = role == .controlling ? (ours, theirs) : (theirs, ours)
    return min(controlling, controlled) << 32 + 2 * max(controlling, controlled) + (controlling > controlled ? 1 : 0)
  }
}

/// An address of the other peer.
struct RemoteCandidate: Sendable, Hashable {
  let address: TransportAddress
  var priority: UInt32
  var foundation: String
  var type: ICECandidateType
}

import Media

/// The local and the remote transport address of a candidate pair.
struct Path: Sendable, Hashable {
  /// The base that the agent sends from.
  var local: TransportAddress
  var remote: TransportAddress
}

/// A candidate pair and the state of its connectivity checks (RFC 8445, 6.1.2).
///
/// The local end is always a base. A server-reflexive candidate sends from its base, so its pairs would duplicate those
/// of the host candidate, and RFC 8445, 6.1.2.4 prunes them.
struct CandidatePair: Sendable {
  /// The state of a pair (RFC 8445, 6.1.2.6).
  ///
  /// ```
  ///  frozen ──► waiting ──► inProgress ──► succeeded
  ///                ▲            └────────► failed
  ///                └── the remote peer checks it ┘
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
  /// The pair priority for the agent's current role (RFC 8445, 6.1.2.3).
  var priority: UInt64
  var state = State.frozen

  /// Whether both sides have agreed to use this pair.
  var isNominated = false
  /// Whether the controlling side has nominated this pair, but no check by this agent has succeeded recently (RFC 8445,
  /// 7.3.1.5).
  var isNominatedOnSuccess = false
  /// The time of the controlling side's last nomination of this pair.
  var lastRemoteNomination: MonotonicInstant?

  /// Whether a request with a valid MESSAGE-INTEGRITY has arrived on this pair.
  var hasAuthenticRequest = false
  /// Whether consent expired: the agent neither sends nor accepts anything on this pair again (RFC 7675, 5.1).
  var isRevoked = false
  /// Bytes of authenticated requests received on this pair, and bytes of responses and checks sent on it before a check
  /// was answered.
  var bytesReceived = 0
  var bytesSentUnanswered = 0
  /// The time of the last response to a check by this agent.
  var lastAnswer: MonotonicInstant?
  /// The round-trip time, smoothed over the responses (RFC 6298, 2).
  var roundTripTime: Duration?
  /// The agent's address as the remote peer sees it.
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

  /// Whether a check by this agent has succeeded and consent has not expired.
  var isValid: Bool { state == .succeeded && !isRevoked }

  /// Whether the agent may send a check of `size` bytes. Until an address that was not signalled has answered, the
  /// agent sends it at most three times the bytes that were received from there: the sender of a request may have
  /// spoofed its address (RFC 9000, 8 has the same rule).
  func allowsCheck(ofBytes size: Int) -> Bool {
    lastAnswer != nil || remote.type != .peerReflexive || bytesSentUnanswered + size <= 3 * bytesReceived
  }

  /// Whether packets on this pair are trusted to come from the remote peer.
  var isOpen: Bool { !isRevoked && (state == .succeeded || hasAuthenticRequest && state != .failed) }

  /// Whether the last response is recent enough to use the pair immediately.
  func isFresh(at now: MonotonicInstant) -> Bool {
    guard isValid, let lastAnswer else { return false }
    return lastAnswer + ICETiming.disconnectedTimeout > now
  }

  /// Whether the candidates of both pairs have the same foundations.
  func hasSameFoundation(_ other: CandidatePair) -> Bool {
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

/// A candidate of the remote peer.
struct RemoteCandidate: Sendable, Hashable {
  let address: TransportAddress
  var priority: UInt32
  var foundation: String
  var type: ICECandidateType
  /// Whether the address stands for an IPv4 address behind a NAT64.
  var isSynthesized = false
}

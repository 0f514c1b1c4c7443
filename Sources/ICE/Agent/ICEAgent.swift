package import Media
package import NIOCore

/// A full ICE agent (RFC 8445) for one component and one remote peer. It finds the paths that work, agrees with the
/// remote peer on one, and verifies that it continues to work.
///
/// A pure value without I/O or clock: datagrams, candidates and the time are inputs; `poll` returns the datagrams to
/// send and the changes, and `deadline` is the time of the next poll. Poll after every other call as well.
///
/// ```
///                                       ┌───────── a pair works ─────────┐
///  new ─ remote credentials ─► checking ─┤                               ▼
///                                 │      └─► connected ─ nominated ─► completed
///                40 s without one │              │                        │ 8 s without a response
///                                 ▼              └──► disconnected ◄──────┘
///                               failed ◄── 30 s ─────────┘  └─ answered, or another pair works ─► connected, completed
/// ```
///
/// Candidates may trickle at any time in both directions, also before the credentials (RFC 8838). The agent uses
/// regular nomination and understands the aggressive nomination of RFC 5245. Consent follows RFC 7675.
///
/// Left out on purpose:
/// - The TURN protocol (RFC 8656): `TURNClient` speaks it. To the agent a relayed address is one that it sends from, like
///   that of a socket.
/// - More than one component or stream: everything is bundled and multiplexed.
/// - Of ICE over TCP (RFC 6544): simultaneous-open and server-reflexive candidates.
/// - Multicast DNS (RFC 6762): `MDNSResolver` speaks it. The caller looks up the names of remote candidates.
/// - The lite role; lite remote agents are supported.
/// - Responses 400 and 401: a request that fails authentication is dropped without a response.
/// - MESSAGE-INTEGRITY-SHA256: RFC 8445 uses short-term credentials with SHA-1.
/// - IPv6 link-local addresses: a candidate cannot carry their scope.
package struct ICEAgent: Sendable {
  package enum Role: Sendable, Hashable {
    /// Nominates the pair; usually the side that sent the offer.
    case controlling
    case controlled

    var other: Role { self == .controlling ? .controlled : .controlling }
  }

  package enum State: String, Sendable, Hashable {
    /// The remote credentials are unknown.
    case new
    /// No pair works yet, or none of the new session after a restart.
    case checking
    /// A pair works; media may flow.
    case connected
    /// Both sides have agreed on the selected pair.
    case completed
    /// The selected pair has not answered for 8 s; media may still be sent.
    case disconnected
    /// No pair worked within 40 s, or consent expired after 30 s. A check by the remote peer on another path, or a
    /// restart, can still lead to a connection.
    case failed
  }

  package enum Action: Sendable, Hashable {
    case send(ByteBuffer, from: TransportAddress, to: TransportAddress)
    /// Media must be sent on this path from now on.
    case selected(local: TransportAddress, remote: TransportAddress)
    case state(State)
  }

  /// The pair on which media is sent.
  package struct SelectedPair: Sendable, Hashable {
    /// The base that the agent sends from.
    package let local: TransportAddress
    package let remote: TransportAddress
    /// The type of the candidate as which the remote peer sees the base; host when there is no address translation.
    package let localType: ICECandidateType
    package let remoteType: ICECandidateType
    package let isNominated: Bool
    /// The smoothed round-trip time, or nil until a check was answered without retransmission.
    package let roundTripTime: Duration?
  }

  /// A local address that datagrams are sent from: that of a socket or of a relay, with the properties of its candidate.
  struct Base: Sendable {
    let address: TransportAddress
    /// Host or relayed.
    let type: ICECandidateType
    let localPreference: UInt16
    let foundation: String

    var priority: UInt32 { type.priority(localPreference: localPreference, transport: address.transport) }
    /// Whether no further pairs with signalled candidates are made with it: see ``ICEAgent/retireLocal(_:)``.
    var isRetired = false
  }

  /// The selected pair and the state of its consent.
  struct Selection: Sendable {
    let pair: Int
    /// The time of the next consent check.
    var consentDue: MonotonicInstant
    /// The time of the last consent check.
    var lastConsentCheck: MonotonicInstant?
    /// The time at which an unanswered consent check is followed by an ordinary check.
    var consentResponseDue: MonotonicInstant?
    /// The time since which the pair counts as disconnected.
    var disconnectedSince: MonotonicInstant?
  }

  /// How many local addresses for UDP, for TCP and of relays there are.
  static let maximumBases = 16
  static let maximumServerReflexive = 16
  static let maximumRemoteCandidates = 50
  /// Enough for the paths of a browser with four addresses before and after a restart.
  static let maximumEarlyChecks = 32
  static let maximumFormerSessions = 3
  static let maximumTransactions = 256
  /// A limit on unpolled datagrams; it is reached only if the caller stops polling.
  static let maximumActions = 256

  package internal(set) var role: Role
  package internal(set) var state = State.new
  package internal(set) var statistics = ICEStatistics()
  /// The local candidates to signal: host, server-reflexive and relayed.
  package internal(set) var localCandidates: [ICECandidate] = []

  /// Whether the agent checks candidates that lead into this machine or into a network without public addresses. If
  /// not, the remote peer can still reach the agent from such addresses.
  package var allowsLocalCandidates = true
  /// Whether the caller looks up the names of remote candidates. If not, such candidates are counted and ignored.
  package var resolvesNames = false
  /// The NAT64 prefix of an IPv6-only network.
  package internal(set) var nat64: NAT64Prefix?

  var unanswered = UnansweredCheckLimiter()

  /// Continues the check limit of another agent of the same participant.
  package mutating func inheritAllowance(of former: ICEAgent) { unanswered = former.unanswered }

  var tieBreaker: UInt64
  var generator: any RandomNumberGenerator & Sendable
  var bases: [Base] = []
  /// The number of bases so far, so that no two candidates have the same preference.
  var basesAdded: UInt16 = 0

  // The session: the state that a restart resets.
  var local: ICECredentials
  var remote: ICECredentials?
  /// The time at which the remote credentials arrived.
  var started: MonotonicInstant?
  var remoteCandidates: [RemoteCandidate] = []
  var checkList = CheckList()
  var transactions: [CheckTransaction] = []
  var selection: Selection?
  /// The pair that the agent is nominating, until the nomination is answered.
  var nominated: Int?
  /// The time at which the first check succeeded.
  var firstValid: MonotonicInstant?
  var hasLostConsent = false

  // What remains of the sessions before restarts.
  /// The local credentials of an offer that restarts ICE and is not answered yet.
  var offered: ICECredentials?
  /// The former sessions that the remote peer may still use, the newest last.
  var formerSessions: [FormerSession] = []
  var formerSelection: FormerSelection?
  var earlyChecks: [EarlyCheck] = []

  /// Candidates that arrived before the credentials of their session.
  var waitingCandidates: [ICECandidate] = []
  var named = NamedCandidates()
  /// The earliest time of the next new check.
  var nextCheck: MonotonicInstant?
  /// Whether `nextCheck` is a time slot that the shared pacer has reserved for this agent.
  var hasReservedSlot = false
  var actions: [Action] = []
  /// The time of the first input since the last poll, or nil.
  var wake: MonotonicInstant?
  var lastPoll: MonotonicInstant?
  /// When an authentic check or response last arrived.
  package internal(set) var lastHeard: MonotonicInstant?
  /// When a check by this agent was last answered, on any pair and in any session.
  package internal(set) var lastAnswered: MonotonicInstant?
  /// When the first check of this session was sent on the selected pair, or on any pair while none is selected, since a check
  /// was answered; nil while no answer is awaited.
  package internal(set) var unansweredSince: MonotonicInstant?
  var announcedPath: Path?

  /// - Parameters:
  ///   - role: `controlling` for the side that offers.
  ///   - credentials: the local credentials, as signalled in the SDP.
  ///   - tieBreaker: decides a role conflict; random when nil.
  ///   - generator: the source of transaction ids, tie-breakers and consent times.
  package init(
    role: Role, credentials: ICECredentials, tieBreaker: UInt64? = nil,
    generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.role = role
    local = credentials
    var generator = generator
    self.tieBreaker = tieBreaker ?? .random(in: .min ... .max, using: &generator)
    self.generator = generator
  }

  /// The local credentials of the current session.
  package var localCredentials: ICECredentials { local }

  /// The username fragments of requests for this agent: that of the current session, that of an unanswered offer, and,
  /// for a while after a restart, those of former sessions.
  package var localUsernameFragments: [String] { localFragments.map(\.usernameFragment) }

  /// The same fragments as they stand in USERNAME.
  package var localFragmentBytes: [ByteBuffer] { localFragments.map(\.fragmentBytes) }

  private var localFragments: [ICECredentials] {
    let others = [offered].compactMap(\.self) + formerSessions.reversed().map(\.credentials)
    return [local] + others.filter { $0.fragmentBytes != local.fragmentBytes }
  }

  /// The pair on which media is sent; after a restart the old one until a new one works.
  package var selectedPair: SelectedPair? {
    guard let selection, let index = checkList.index(of: selection.pair) else { return formerSelection?.pair }
    return describe(checkList[index])
  }

  /// Checks the selected pair now, with retransmissions: nothing is heard on it.
  package mutating func checkSelectedPair(now: MonotonicInstant) {
    guard let selection, !isBeingChecked(selection.pair) else { return }
    wake = wake ?? now
    checkList.trigger(selection.pair)
  }

  /// The round-trip time of the selected pair.
  package var roundTripTime: Duration? { selectedPair?.roundTripTime }

  /// Whether packets on this path are trusted to come from the remote peer: a check by this agent succeeded on it, or a
  /// request with the right password arrived on it and no check by this agent has failed since. The password is that of the
  /// session, of an offer that is not answered yet, or of a session before a restart.
  package func isValidated(local: TransportAddress, remote: TransportAddress) -> Bool {
    let path = Path(local: local, remote: remote)
    if let index = checkList.index(of: path) {
      if checkList[index].isOpen { return true }
      if checkList[index].isRevoked { return false }
    }
    return isValidatedOutsideSession(path)
  }

  /// Whether a check by this agent was answered on this path: only then may it send anything but checks (RFC 7675, 5).
  package func hasAnswered(local: TransportAddress, remote: TransportAddress) -> Bool {
    let path = Path(local: local, remote: remote)
    if let index = checkList.index(of: path), checkList[index].isValid { return true }
    return formerSelection?.path == path
  }

  /// Whether the selected pair, or after a restart that of the former session, has this local address.
  package func uses(_ address: TransportAddress) -> Bool {
    let selected = selection.flatMap { checkList.index(of: $0.pair) }.map { checkList[$0].path.local }
    return selected == address || formerSelection?.path.local == address
  }

  /// Whether a response with this transaction id answers a check by this agent.
  package func owns(transactionID: STUNTransactionID) -> Bool {
    transactions.contains { $0.id == transactionID }
  }

  func describe(_ pair: CandidatePair) -> SelectedPair {
    let seen = pair.mapped ?? pair.path.local
    // The port of a connection that we open is in no candidate.
    let isKnown: (ICECandidate) -> Bool =
      pair.path.local.isActiveTCP
      ? { $0.tcpType == .active && $0.address?.ip == seen.ip } : { $0.address == seen }
    let known = localCandidates.first(where: isKnown)?.type ?? bases.first { $0.address == seen }?.type
    return SelectedPair(
      local: pair.path.local, remote: pair.path.remote, localType: known ?? .peerReflexive,
      remoteType: pair.remote.type, isNominated: pair.isNominated, roundTripTime: pair.roundTripTime)
  }
}

/// Counters of an agent since its creation; enough to explain why a connection was not established.
package struct ICEStatistics: Sendable, Hashable {
  /// Checks sent, including retransmissions and consent checks.
  package var checksSent: UInt64 = 0
  /// Checks that were not sent, because their addresses have never answered and have reached their limit.
  package var checksHeldBack: UInt64 = 0
  /// Checks that were answered with success.
  package var checksAnswered: UInt64 = 0
  /// Received checks with the agent's username fragment.
  package var requestsReceived: UInt64 = 0
  /// Received checks that were dropped: malformed, wrong password, wrong fingerprint, or to an unknown local address.
  package var requestsRejected: UInt64 = 0
  /// Responses to checks that were dropped: malformed, wrong password, or from another address than the request was
  /// sent to.
  package var responsesRejected: UInt64 = 0
  /// Remote candidates that were accepted, including peer-reflexive ones.
  package var remoteCandidates: UInt64 = 0
  /// Remote candidates with a name instead of an address (`.local`) that was not answered, is not looked up, or exceeded a
  /// limit.
  package var unresolvableCandidates: UInt64 = 0
  /// Remote candidates with a name that was resolved.
  package var resolvedCandidates: UInt64 = 0
  /// Remote candidates that cannot be used: TCP, another component, an unreachable address, too many.
  package var ignoredCandidates: UInt64 = 0

  package init() {}
}

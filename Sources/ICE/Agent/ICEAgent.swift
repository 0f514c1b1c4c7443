package import NIOCore

/// One component's full ICE agent (RFC 8445) for one remote peer: it finds the paths that work, agrees with the other
/// side on one, and makes sure that it continues working.
///
/// A pure value: datagrams, candidates and the time come in; `poll` gives what is to be sent and what has changed, and
/// `deadline` says when to poll next. Poll after every other call as well.
///
/// ```
///                                       ┌───────── a pair works ─────────┐
///  new ─ remote credentials ─► checking ─┤                               ▼
///                                 │      └─► connected ─ nominated ─► completed
///                40 s without one │              │                        │ 8 s without an answer
///                                 ▼              └──► disconnected ◄──────┘
///                               failed ◄── 30 s ─────────┘  └─ answered, or another pair works ─► connected, completed
/// ```
///
/// Trickled candidates may come at any time in both directions (RFC 8838), before the credentials as well. Regular
/// nomination is spoken; aggressive nomination of RFC 5245 is understood. Consent is that of RFC 7675.
///
/// Skipped on purpose:
/// - TURN (RFC 8656): we gather no relayed candidates. The other side's are addresses like any other.
/// - More than one component or stream: everything is bundled and multiplexed.
/// - ICE over TCP (RFC 6544), mDNS names (RFC 8828): such candidates are counted and skipped.
/// - Being a lite agent ourselves; lite remote agents are served.
/// - Answers 400 and 401: a request that cannot be authenticated is dropped in silence.
/// - MESSAGE-INTEGRITY-SHA256: RFC 8445 uses short-term credentials with SHA-1.
/// - IPv6 link-local addresses: a candidate cannot carry their scope.
package struct ICEAgent: Sendable {
  package enum Role: Sendable, Hashable {
    /// Nominates the pair to be used; usually who offered.
    case controlling
    case controlled

    var other: Role { self == .controlling ? .controlled : .controlling }
  }

  package enum State: String, Sendable, Hashable {
    /// The other side's credentials are not known.
    case new
    /// No pair works yet, or after a restart: none of the new ones.
    case checking
    /// A pair works; media may flow.
    case connected
    /// The pair in use is agreed with the other side.
    case completed
    /// The pair in use has not answered for 8 s; media may still be sent.
    case disconnected
    /// No pair was found in 40 s, or consent ran out after 30 s. A check of the other side on another path, or a
    /// restart, still leads out of it.
    case failed
  }

  package enum Action: Sendable, Hashable {
    case send(ByteBuffer, from: TransportAddress, to: TransportAddress)
    /// From now on send media this way.
    case selected(local: TransportAddress, remote: TransportAddress)
    case state(State)
  }

  /// The pair that is to be sent on.
  package struct SelectedPair: Sendable, Hashable {
    /// The base that we send from.
    package let local: TransportAddress
    package let remote: TransportAddress
    /// What the other side sees our base as; a host candidate where no address translation lies between.
    package let localType: ICECandidateType
    package let remoteType: ICECandidateType
    package let isNominated: Bool
    /// Smoothed; nil until a check was answered without retransmission.
    package let roundTripTime: Duration?
  }

  /// A local address that datagrams leave from, by its host candidate.
  struct Base: Sendable {
    let address: TransportAddress
    let localPreference: UInt16
    let foundation: String
  }

  /// A check that came before the credentials of its sender.
  struct EarlyCheck: Sendable {
    let path: Path
    let senderFragment: String
    let priority: UInt32
    /// Bytes of all requests of its kind, and of our answers.
    var size: Int
    var answered: Int
    var usesCandidate: Bool
  }

  /// The pair in use and the state of its consent.
  struct Selection: Sendable {
    let pair: Int
    /// When to request consent.
    var consentDue: ContinuousClock.Instant
    /// When consent was last requested.
    var consentAsked: ContinuousClock.Instant?
    /// When to doubt that question's answer.
    var doubtDue: ContinuousClock.Instant?
    /// Since when it counts as disconnected.
    var disconnectedSince: ContinuousClock.Instant?
  }

  /// What outlives a restart until the new session works (RFC 8445, 9).
  struct Retired: Sendable {
    let credentials: ICECredentials
    let selected: SelectedPair?
    let open: Set<Path>
    var expiry: ContinuousClock.Instant
  }

  static let maximumBases = 16
  static let maximumServerReflexive = 16
  static let maximumRemoteCandidates = 50
  static let maximumEarlyChecks = 16
  static let maximumTransactions = 256
  /// More datagrams than this wait for `poll` only if nobody polls.
  static let maximumActions = 256

  package internal(set) var role: Role
  package internal(set) var state = State.new
  package internal(set) var statistics = ICEStatistics()
  /// Our candidates to be told to the other side: host and server-reflexive.
  package internal(set) var localCandidates: [ICECandidate] = []

  /// Whether candidates are checked that lead into this machine or into a network that has no public addresses. Where they are
  /// not, the other side can still call us from there.
  package var allowsLocalCandidates = true

  var unanswered = UnansweredCheckLimiter()

  /// Counts the checks of another agent of the same participant as this one's.
  package mutating func inheritAllowance(of former: ICEAgent) { unanswered = former.unanswered }

  var tieBreaker: UInt64
  var generator: any RandomNumberGenerator & Sendable
  var bases: [Base] = []

  // The session: everything that a restart starts again.
  var local: ICECredentials
  var remote: ICECredentials?
  /// When the remote credentials became known.
  var started: ContinuousClock.Instant?
  var remoteCandidates: [RemoteCandidate] = []
  var checkList = CheckList()
  var transactions: [CheckTransaction] = []
  var earlyChecks: [EarlyCheck] = []
  var selection: Selection?
  /// The pair that we are nominating, until it is answered.
  var nominated: Int?
  /// When the first check succeeded.
  var firstValid: ContinuousClock.Instant?
  var hasLostConsent = false

  var retired: Retired?
  /// Candidates that came before the credentials of their session.
  var waitingCandidates: [ICECandidate] = []
  /// When the next new check may be sent.
  var nextCheck: ContinuousClock.Instant?
  /// Whether `nextCheck` is a moment that the shared pace has given to this agent.
  var hasBookedCheck = false
  var actions: [Action] = []
  /// Something has come in since the last poll.
  var wake: ContinuousClock.Instant?
  var lastPoll: ContinuousClock.Instant?
  var announcedPath: Path?

  /// - Parameters:
  ///   - role: `controlling` for the side that offers.
  ///   - credentials: our own, as our SDP tells them.
  ///   - tieBreaker: decides a conflict of roles; drawn when nil.
  ///   - generator: for transaction ids, tie-breakers and consent times.
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

  /// Our credentials in the present session.
  package var localCredentials: ICECredentials { local }

  /// The user fragments by which requests for this agent are known: the present one and, for a while after a restart,
  /// the one before.
  package var localUsernameFragments: [String] {
    [local.usernameFragment] + (retired.map { [$0.credentials.usernameFragment] } ?? [])
  }

  /// The pair to send on; after a restart the old one until a new one works.
  package var selectedPair: SelectedPair? {
    guard let selection, let index = checkList.index(of: selection.pair) else { return retired?.selected }
    return describe(checkList[index])
  }

  /// The round-trip time of the selected pair.
  package var roundTripTime: Duration? { selectedPair?.roundTripTime }

  /// Whether packets that come this way may be trusted to be the other peer's: a check of ours succeeded there, or a
  /// request with the right password came from there and no check of ours has failed since.
  package func isValidated(local: TransportAddress, remote: TransportAddress) -> Bool {
    let path = Path(local: local, remote: remote)
    if let index = checkList.index(of: path) {
      if checkList[index].isOpen { return true }
      if checkList[index].isRevoked { return false }
    }
    return retired?.open.contains(path) == true || earlyChecks.contains { $0.path == path }
  }

  /// Whether a check of ours has been answered there: only then may anything but checks be sent (RFC 7675, 5).
  package func hasAnswered(local: TransportAddress, remote: TransportAddress) -> Bool {
    let path = Path(local: local, remote: remote)
    if let index = checkList.index(of: path), checkList[index].isValid { return true }
    return retired?.selected.map { $0.local == local && $0.remote == remote } ?? false
  }

  /// Whether a response with this id answers one of our checks.
  package func owns(transactionID: STUNTransactionID) -> Bool {
    transactions.contains { $0.id == transactionID }
  }

  func describe(_ pair: CandidatePair) -> SelectedPair {
    let seen = pair.mapped ?? pair.path.local
    let known = localCandidates.first { $0.address == seen }?.type
    return SelectedPair(
      local: pair.path.local, remote: pair.path.remote, localType: known ?? .peerReflexive,
      remoteType: pair.remote.type, isNominated: pair.isNominated, roundTripTime: pair.roundTripTime)
  }
}

/// What an agent has counted since it was made; enough to say why a connection did not be established.
package struct ICEStatistics: Sendable, Hashable {
  /// Checks sent, retransmissions and questions for consent included.
  package var checksSent: UInt64 = 0
  /// Checks that were not sent, because their addresses have never answered and have had enough.
  package var checksHeldBack: UInt64 = 0
  /// Checks that were answered with success.
  package var checksAnswered: UInt64 = 0
  /// Checks of the other side that came with our user fragment.
  package var requestsReceived: UInt64 = 0
  /// Those that were dropped: malformed, wrong password, wrong fingerprint, or to an address that is not ours.
  package var requestsRejected: UInt64 = 0
  /// Responses to our checks that were dropped: malformed, wrong password, or from elsewhere than we asked.
  package var responsesRejected: UInt64 = 0
  /// Remote candidates that were taken, the peer-reflexive ones included.
  package var remoteCandidates: UInt64 = 0
  /// Remote candidates with a name instead of an address (`.local`), which cannot be resolved here.
  package var unresolvableCandidates: UInt64 = 0
  /// Remote candidates of no use: TCP, another component, no possible address, too many.
  package var ignoredCandidates: UInt64 = 0

  package init() {}
}

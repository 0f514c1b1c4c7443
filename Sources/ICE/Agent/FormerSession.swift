package import Media
import NIOCore

extension ICEAgent {
  /// The local credentials of a session before a restart, and its paths. The remote peer may use both until it has the
  /// credentials of the new session, and as long as it does if it never gets them (RFC 8445, 9 and 12.2).
  struct FormerSession: Sendable {
    let credentials: ICECredentials
    /// The paths that were validated when the session ended. An ``EarlyCheck`` keeps one open for longer.
    private(set) var open: Set<Path>
    /// When a request with the credentials last arrived.
    private(set) var lastRequest: MonotonicInstant?
    private let end: MonotonicInstant

    init(credentials: ICECredentials, open: Set<Path>, end: MonotonicInstant) {
      self.credentials = credentials
      self.open = open
      self.end = end
    }

    var expiry: MonotonicInstant {
      (lastRequest ?? end) + ICETiming.consentExpiry
    }

    /// The next time at which ``expirePaths(now:)`` or the end of the session is due.
    var deadline: MonotonicInstant { open.isEmpty ? expiry : min(expiry, end + ICETiming.consentExpiry) }

    /// Notes an authentic request.
    mutating func requestArrived(now: MonotonicInstant) { lastRequest = now }

    mutating func expirePaths(now: MonotonicInstant) {
      if end + ICETiming.consentExpiry <= now { open = [] }
    }

    mutating func forgetPaths(where isGone: (Path) -> Bool) { open = open.filter { !isGone($0) } }
  }

  /// The pair on which media was sent before a restart. It stays in use until a pair of the new session works.
  struct FormerSelection: Sendable {
    let pair: SelectedPair
    var expiry: MonotonicInstant

    var path: Path { Path(local: pair.local, remote: pair.remote) }
  }

  /// A check that belongs to no pair of the session: it arrived before the credentials of its sender, or its sender uses
  /// credentials of a former session. It validates its path for as long as consent lasts.
  struct EarlyCheck: Sendable {
    let path: Path
    let senderFragment: String
    let priority: UInt32
    /// Bytes of all requests with this path and sender, and of the agent's responses.
    var size: Int
    var answered: Int
    var usesCandidate: Bool
    var lastArrival: MonotonicInstant

    var expiry: MonotonicInstant { lastArrival + ICETiming.consentExpiry }
  }
}

/// ICE restart: a new session with new credentials, while media continues on the old paths (RFC 8445, 9).
extension ICEAgent {
  /// Sets the local credentials of an offer that restarts ICE, until it is answered; nil if there is none.
  ///
  /// The remote peer uses them as soon as it has the offer. Its checks are answered and validate their paths, but the agent
  /// sends none of its own there before the answer brings the remote credentials.
  package mutating func setOffered(_ credentials: ICECredentials?) {
    offered = credentials == local ? nil : credentials
  }

  /// Begins a new session with new local credentials. Call `setRemote` as soon as the remote credentials are known.
  ///
  /// The selected pair stays in use until a pair of the new session works, or for 30 s after its last response. Local
  /// candidates stay; the remote peer signals its candidates again.
  package mutating func restart(with credentials: ICECredentials, now: MonotonicInstant) {
    wake = wake ?? now
    beginSession(with: credentials, now: now)
  }

  /// Keeps the current session as a former one, and resets the state.
  mutating func beginSession(with credentials: ICECredentials, now: MonotonicInstant) {
    if let selection, let index = checkList.index(of: selection.pair), let lastAnswer = checkList[index].lastAnswer {
      formerSelection = FormerSelection(
        pair: describe(checkList[index]), expiry: lastAnswer + ICETiming.consentExpiry)
    }
    keepSession(now: now)
    local = credentials
    if offered == credentials { offered = nil }
    remote = nil
    started = nil
    hasReservedSlot = false
    remoteCandidates = []
    checkList = CheckList()
    transactions = []
    selection = nil
    nominated = nil
    firstValid = nil
    hasLostConsent = false
    unansweredSince = nil
  }

  /// Adds the current session to the former ones.
  private mutating func keepSession(now: MonotonicInstant) {
    if formerSessions.count >= Self.maximumFormerSessions {
      // The newest session was in use a moment ago. Of the others, one may be the last that the remote peer knows.
      let victim = formerSessions.dropLast().indices.min {
        guard let other = formerSessions[$1].lastRequest else { return false }
        return formerSessions[$0].lastRequest.map { $0 < other } ?? true
      }
      formerSessions.remove(at: victim ?? 0)
    }
    let open = Set(checkList.pairs.filter(\.isOpen).map(\.path))
    formerSessions.append(FormerSession(credentials: local, open: open, end: now))
  }

  /// Discards what is left of former sessions when it has expired.
  mutating func expireFormerSessions(now: MonotonicInstant) {
    if let formerSelection, formerSelection.expiry <= now { self.formerSelection = nil }
    formerSessions.removeAll { $0.expiry <= now }
    for index in formerSessions.indices { formerSessions[index].expirePaths(now: now) }
    earlyChecks.removeAll { $0.expiry <= now }
  }

  /// The time at which ``expireFormerSessions(now:)`` has something to do.
  var formerDeadline: MonotonicInstant? {
    [
      formerSelection?.expiry, formerSessions.lazy.map(\.deadline).min(), earlyChecks.lazy.map(\.expiry).min(),
    ].compactMap(\.self).min()
  }

  /// Returns the credentials that a request names: those of the session, of an offer, or of a former session.
  ///
  /// - Parameter fragment: the bytes of the username fragment.
  func credentials(of fragment: ByteBuffer) -> ICECredentials? {
    if fragment == local.fragmentBytes { return local }
    if let offered, fragment == offered.fragmentBytes { return offered }
    return formerSessions.last { $0.credentials.fragmentBytes == fragment }?.credentials
  }

  /// Notes that the remote peer uses the credentials of a former session.
  mutating func noteUse(of credentials: ICECredentials, now: MonotonicInstant) {
    // New credentials of the remote peer alone begin a session with the same ones of ours.
    guard credentials != local else { return }
    for index in formerSessions.indices where formerSessions[index].credentials == credentials {
      formerSessions[index].requestArrived(now: now)
    }
  }

  /// Stores a check that belongs to no pair, one entry for each path and sender.
  mutating func keep(_ check: EarlyCheck) {
    if let index = earlyChecks.firstIndex(where: { $0.path == check.path && $0.senderFragment == check.senderFragment })
    {
      earlyChecks[index].usesCandidate = earlyChecks[index].usesCandidate || check.usesCandidate
      earlyChecks[index].size += check.size
      earlyChecks[index].answered += check.answered
      earlyChecks[index].lastArrival = check.lastArrival
      return
    }
    if earlyChecks.count >= Self.maximumEarlyChecks { dropEarlyCheck() }
    earlyChecks.append(check)
  }

  /// Discards the check that is the least likely to be of use: media flows where the remote peer has nominated a path.
  private mutating func dropEarlyCheck() {
    let unused = earlyChecks.indices.filter { !earlyChecks[$0].usesCandidate }
    let victim = (unused.isEmpty ? Array(earlyChecks.indices) : unused)
      .min { earlyChecks[$0].lastArrival < earlyChecks[$1].lastArrival }
    if let victim { earlyChecks.remove(at: victim) }
  }

  /// Learns from the checks whose sender has become known.
  mutating func learnFromEarlyChecks(of fragment: String, now: MonotonicInstant) {
    let known = earlyChecks.filter { $0.senderFragment == fragment }
    earlyChecks.removeAll { $0.senderFragment == fragment }
    for check in known { learn(from: check, now: now) }
  }

  /// Discards the paths of former sessions and early checks for which a condition holds.
  mutating func forgetFormerPaths(where isGone: (Path) -> Bool) {
    earlyChecks.removeAll { isGone($0.path) }
    for index in formerSessions.indices { formerSessions[index].forgetPaths(where: isGone) }
    if let path = formerSelection?.path, isGone(path) { formerSelection = nil }
  }

  /// Whether a check outside the session has validated a path.
  func isValidatedOutsideSession(_ path: Path) -> Bool {
    formerSelection?.path == path || formerSessions.contains { $0.open.contains(path) }
      || earlyChecks.contains { $0.path == path }
  }
}

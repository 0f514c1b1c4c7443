/// A new session with new credentials, while media continues in the old way (RFC 8445, 9).
extension ICEAgent {
  /// Begins a new session with other credentials of ours. Follow with `setRemote` as soon as the other side's are known.
  ///
  /// The pair in use stays selected until one of the new session works, or 30 s after its last answer. Candidates of ours
  /// stay; the other side tells its own again.
  package mutating func restart(with credentials: ICECredentials, now: ContinuousClock.Instant) {
    wake = wake ?? now
    beginSession(with: credentials, now: now)
  }

  /// Puts the present session aside, if it works, and starts from nothing.
  mutating func beginSession(with credentials: ICECredentials, now: ContinuousClock.Instant) {
    if let selection, let index = checkList.index(of: selection.pair), let lastAnswer = checkList[index].lastAnswer {
      retired = Retired(
        credentials: local, selected: describe(checkList[index]),
        open: Set(checkList.pairs.filter(\.isOpen).map(\.path)), expiry: lastAnswer + ICETiming.consentExpiry)
    }
    local = credentials
    remote = nil
    started = nil
    hasBookedCheck = false
    remoteCandidates = []
    checkList = CheckList()
    transactions = []
    earlyChecks = []
    selection = nil
    nominated = nil
    firstValid = nil
    hasLostConsent = false
  }

  /// Forgets the old session when its time has come.
  mutating func expireRetired(now: ContinuousClock.Instant) {
    if let retired, retired.expiry <= now { self.retired = nil }
  }
}

/// ICE restart: a new session with new credentials, while media continues on the old path (RFC 8445, 9).
extension ICEAgent {
  /// Begins a new session with new local credentials. Call `setRemote` as soon as the remote credentials are known.
  ///
  /// The selected pair stays in use until a pair of the new session works, or for 30 s after its last response. Local
  /// candidates stay; the remote peer signals its candidates again.
  package mutating func restart(with credentials: ICECredentials, now: ContinuousClock.Instant) {
    wake = wake ?? now
    beginSession(with: credentials, now: now)
  }

  /// Retires the current session if it works, and resets the state.
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

  /// Discards the old session when it has expired.
  mutating func expireRetired(now: ContinuousClock.Instant) {
    if let retired, retired.expiry <= now { self.retired = nil }
  }
}

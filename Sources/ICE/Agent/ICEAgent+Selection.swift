import Media

/// Selection of a valid pair, and reporting of changes (RFC 8445, 8).
extension ICEAgent {
  /// Selects the best pair that works now, but keeps a nominated pair that works.
  mutating func updateSelection(now: MonotonicInstant) {
    guard let best = bestFreshPair(now: now) else { return }
    guard let selection, let current = checkList.index(of: selection.pair) else {
      select(best, now: now)
      return
    }
    guard best != current else { return }
    if let since = selection.disconnectedSince {
      // The selected pair does not answer; a pair that has answered since then is better.
      if let answer = checkList[best].lastAnswer, answer > since { select(best, now: now) }
    } else if checkList[current].isNominated {
      if checkList[best].isNominated { select(best, now: now) }
    } else if nominated == nil {
      select(best, now: now)
    }
  }

  /// The best pair with a recent response: nominated pairs first, then by priority.
  private func bestFreshPair(now: MonotonicInstant) -> Int? {
    func rank(_ index: Int) -> (Int, UInt64) {
      (checkList[index].isNominated ? 1 : 0, checkList[index].priority)
    }
    return checkList.indices.filter { checkList[$0].isFresh(at: now) }.max { rank($0) < rank($1) }
  }

  private mutating func select(_ index: Int, now: MonotonicInstant) {
    // The last response may be some seconds old, so the next consent check is counted from there.
    let lastAnswer = checkList[index].lastAnswer ?? now
    selection = Selection(pair: checkList[index].id, consentDue: nextConsent(after: lastAnswer))
    hasLostConsent = false
    if nominated != checkList[index].id { nominated = nil }
    if let expiry = formerSelection?.expiry {
      formerSelection?.expiry = min(expiry, now + ICETiming.formerSelectionLifetime)
    }
    if checkList[index].isNominated { conclude() }
  }

  /// Stops checks once a pair is nominated, except those that the remote peer triggered (RFC 8445, 8.1.2).
  mutating func conclude() {
    let asked = Set(checkList.pairs.filter(\.hasAuthenticRequest).map(\.id))
    transactions.removeAll { transaction in
      guard !asked.contains(transaction.pair), transaction.pair != selection?.pair,
        let index = checkList.index(of: transaction.pair)
      else { return false }
      if checkList[index].state == .inProgress { checkList[index].state = .waiting }
      return true
    }
  }

  // MARK: Reporting

  mutating func announce(now: MonotonicInstant) {
    let path = selectedPair.map { Path(local: $0.local, remote: $0.remote) }
    if let path, path != announcedPath { actions.append(.selected(local: path.local, remote: path.remote)) }
    announcedPath = path
    let current = currentState(now: now)
    if current != state { actions.append(.state(current)) }
    state = current
  }

  private func currentState(now: MonotonicInstant) -> State {
    if let selection, let index = checkList.index(of: selection.pair) {
      if selection.disconnectedSince != nil { return .disconnected }
      return checkList[index].isNominated ? .completed : .connected
    }
    if hasLostConsent { return .failed }
    guard let started else { return .new }
    let isBusy = checkList.hasNext(onlyTriggered: false) || !transactions.isEmpty
    return now >= started + ICETiming.pacTimeout && !isBusy ? .failed : .checking
  }

  /// The time at which the agent fails if it has found no pair.
  var pacDeadline: MonotonicInstant? {
    guard selection == nil, !hasLostConsent, let started else { return nil }
    let end = started + ICETiming.pacTimeout
    return lastPoll.map { $0 >= end } == true ? nil : end
  }
}

/// Consent freshness (RFC 7675) and detection of a disconnected pair.
extension ICEAgent {
  mutating func updateConsent(now: MonotonicInstant) {
    guard var selection, let index = checkList.index(of: selection.pair),
      let lastAnswer = checkList[index].lastAnswer
    else { return }
    if lastAnswer + ICETiming.consentExpiry <= now {
      loseConsent(index)
      return
    }
    if selection.consentDue <= now {
      sendCheck(index, isConsent: true, now: now)
      selection.lastConsentCheck = now
      selection.consentDue = nextConsent(after: now)
      selection.consentResponseDue = selection.consentResponseDue ?? now + ICETiming.consentResponseTimeout
    }
    if let consentResponseDue = selection.consentResponseDue, consentResponseDue <= now {
      selection.consentResponseDue = nil
      if let lastCheck = selection.lastConsentCheck, lastAnswer < lastCheck, !isBeingChecked(selection.pair) {
        checkList.trigger(selection.pair)
      }
    }
    if let since = selection.disconnectedSince {
      if lastAnswer > since { selection.disconnectedSince = nil }
    } else if lastAnswer + ICETiming.disconnectedTimeout <= now {
      selection.disconnectedSince = now
      checkList.wakeAll()
    }
    self.selection = selection
  }

  var consentDeadline: MonotonicInstant? {
    guard let selection, let index = checkList.index(of: selection.pair),
      let lastAnswer = checkList[index].lastAnswer
    else { return nil }
    let disconnectedDeadline = selection.disconnectedSince == nil ? lastAnswer + ICETiming.disconnectedTimeout : nil
    return [
      selection.consentDue, selection.consentResponseDue, disconnectedDeadline, lastAnswer + ICETiming.consentExpiry,
    ].compactMap { $0 }.min()
  }

  /// Returns a time 4 to 6 s later, randomized so that many peers do not send their checks at once.
  mutating func nextConsent(after now: MonotonicInstant) -> MonotonicInstant {
    now + .milliseconds(Int64.random(in: ICETiming.consentMilliseconds, using: &generator))
  }

  /// Closes the path for the credentials of this session: only another path or a restart helps (RFC 7675, 5.1).
  private mutating func loseConsent(_ index: Int) {
    checkList[index].isRevoked = true
    checkList[index].state = .failed
    checkList[index].isNominated = false
    let id = checkList[index].id
    transactions.removeAll { $0.pair == id }
    selection = nil
    nominated = nil
    hasLostConsent = true
  }
}

/// Which of the valid pairs is used, and what the outside is told (RFC 8445, 8).
extension ICEAgent {
  /// Takes the best pair that works now; one that is agreed and works is kept.
  mutating func updateSelection(now: ContinuousClock.Instant) {
    guard let best = bestFreshPair(now: now) else { return }
    guard let selection, let current = checkList.index(of: selection.pair) else {
      select(best, now: now)
      return
    }
    guard best != current else { return }
    if let since = selection.disconnectedSince {
      // The pair in use is silent; those who have answered since then is better.
      if let answer = checkList[best].lastAnswer, answer > since { select(best, now: now) }
    } else if checkList[current].isNominated {
      if checkList[best].isNominated { select(best, now: now) }
    } else if nominated == nil {
      select(best, now: now)
    }
  }

  /// Nominated ones first, then by priority.
  private func bestFreshPair(now: ContinuousClock.Instant) -> Int? {
    func rank(_ index: Int) -> (Int, UInt64) {
      (checkList[index].isNominated ? 1 : 0, checkList[index].priority)
    }
    return checkList.indices.filter { checkList[$0].isFresh(at: now) }.max { rank($0) < rank($1) }
  }

  private mutating func select(_ index: Int, now: ContinuousClock.Instant) {
    // Its last answer may be some seconds old, so the next question counts from there.
    let lastAnswer = checkList[index].lastAnswer ?? now
    selection = Selection(pair: checkList[index].id, consentDue: nextConsent(after: lastAnswer))
    hasLostConsent = false
    if nominated != checkList[index].id { nominated = nil }
    if let expiry = retired?.expiry { retired?.expiry = min(expiry, now + ICETiming.retirement) }
    if checkList[index].isNominated { conclude() }
  }

  /// A pair is agreed: nothing else needs to be found out, unless the other side requests it (RFC 8445, 8.1.2).
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

  // MARK: What the outside is told

  mutating func announce(now: ContinuousClock.Instant) {
    let path = selectedPair.map { Path(local: $0.local, remote: $0.remote) }
    if let path, path != announcedPath { actions.append(.selected(local: path.local, remote: path.remote)) }
    announcedPath = path
    let current = currentState(now: now)
    if current != state { actions.append(.state(current)) }
    state = current
  }

  private func currentState(now: ContinuousClock.Instant) -> State {
    if let selection, let index = checkList.index(of: selection.pair) {
      if selection.disconnectedSince != nil { return .disconnected }
      return checkList[index].isNominated ? .completed : .connected
    }
    if hasLostConsent { return .failed }
    guard let started else { return .new }
    let isBusy = checkList.hasNext(onlyTriggered: false) || !transactions.isEmpty
    return now >= started + ICETiming.patience && !isBusy ? .failed : .checking
  }

  /// When patience ends, for those who have found nothing.
  var patienceDeadline: ContinuousClock.Instant? {
    guard selection == nil, !hasLostConsent, let started else { return nil }
    let end = started + ICETiming.patience
    return lastPoll.map { $0 >= end } == true ? nil : end
  }
}

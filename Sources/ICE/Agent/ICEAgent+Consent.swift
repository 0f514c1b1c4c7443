/// Consent freshness (RFC 7675) and detection of a disconnected pair.
extension ICEAgent {
  mutating func updateConsent(now: ContinuousClock.Instant) {
    guard var selection, let index = checkList.index(of: selection.pair),
      let lastAnswer = checkList[index].lastAnswer
    else { return }
    if lastAnswer + ICETiming.consentExpiry <= now {
      loseConsent(index)
      return
    }
    if selection.consentDue <= now {
      sendCheck(index, isConsent: true, now: now)
      selection.consentAsked = now
      selection.consentDue = nextConsent(after: now)
      selection.doubtDue = selection.doubtDue ?? now + ICETiming.consentDoubt
    }
    if let doubtDue = selection.doubtDue, doubtDue <= now {
      selection.doubtDue = nil
      if let asked = selection.consentAsked, lastAnswer < asked, !isBeingChecked(selection.pair) {
        checkList.trigger(selection.pair)
      }
    }
    if let since = selection.disconnectedSince {
      if lastAnswer > since { selection.disconnectedSince = nil }
    } else if lastAnswer + ICETiming.silence <= now {
      selection.disconnectedSince = now
      checkList.wakeAll()
    }
    self.selection = selection
  }

  var consentDeadline: ContinuousClock.Instant? {
    guard let selection, let index = checkList.index(of: selection.pair),
      let lastAnswer = checkList[index].lastAnswer
    else { return nil }
    let silence = selection.disconnectedSince == nil ? lastAnswer + ICETiming.silence : nil
    return [selection.consentDue, selection.doubtDue, silence, lastAnswer + ICETiming.consentExpiry]
      .compactMap { $0 }.min()
  }

  /// Returns a time 4 to 6 s later, randomized so that many peers do not send their checks at once.
  mutating func nextConsent(after now: ContinuousClock.Instant) -> ContinuousClock.Instant {
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

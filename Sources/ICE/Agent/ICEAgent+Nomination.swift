import Media

/// Nomination of a pair (RFC 8445, 8.1).
extension ICEAgent {
  // MARK: Controlling

  /// Nominates the selected pair: immediately when no better pair is possible, otherwise some round trips after the
  /// first valid pair.
  ///
  /// The nominating check is repeated until it is answered. The agent abandons a nomination only when its pair stops
  /// answering: a nomination whose response was lost is in force on the remote side, which must not receive two.
  mutating func updateNomination(now: MonotonicInstant) {
    guard let selection, let due = nominationDeadline, due <= now else { return }
    nominated = selection.pair
    checkList.trigger(selection.pair)
  }

  /// The time at which to nominate the selected pair; nil when the agent is controlled or the pair is nominated.
  var nominationDeadline: MonotonicInstant? {
    guard role == .controlling, nominated == nil, let selection, selection.disconnectedSince == nil, let firstValid,
      let index = checkList.index(of: selection.pair), !checkList[index].isNominated
    else { return nil }
    let priority = checkList[index].priority
    let isBest = checkList.pairs.allSatisfy { $0.priority <= priority || $0.state == .failed || $0.isRevoked }
    return isBest ? firstValid : firstValid + nominationDelay(of: checkList[index])
  }

  /// Returns how long to wait for a better pair than the valid one; the upper bound when its round-trip time is
  /// unknown.
  private func nominationDelay(of pair: CandidatePair) -> Duration {
    let bounds = ICETiming.nominationDelay
    guard let roundTrip = pair.roundTripTime, roundTrip < bounds.upperBound else { return bounds.upperBound }
    return min(max(roundTrip * ICETiming.nominationRoundTrips, bounds.lowerBound), bounds.upperBound)
  }

  // MARK: Controlled

  /// Handles a check with USE-CANDIDATE on a pair (RFC 8445, 7.3.1.5).
  ///
  /// A peer with aggressive nomination sets it on every pair and means the one of highest priority. A browser that
  /// moves to another path sets it there and stops setting it on the old one: then the later nomination holds.
  mutating func nominatedByRemote(_ index: Int, now: MonotonicInstant) {
    checkList[index].lastRemoteNomination = now
    if checkList[index].isFresh(at: now) {
      nominate(index, now: now)
    } else {
      checkList[index].isNominatedOnSuccess = true
      if !isBeingChecked(checkList[index].id) { checkList.trigger(checkList[index].id) }
    }
  }

  // MARK: Both roles

  /// Marks a pair as nominated. It replaces every pair that was nominated long before, and every pair that this agent
  /// nominated.
  mutating func nominate(_ index: Int, now: MonotonicInstant) {
    for other in checkList.indices where checkList[other].isNominated {
      let age = checkList[other].lastRemoteNomination.map { now - $0 }
      if role == .controlling || age.map({ $0 > ICETiming.renominationAge }) ?? true {
        checkList[other].isNominated = false
      }
    }
    checkList[index].isNominated = true
    checkList[index].isNominatedOnSuccess = false
    if checkList[index].id == selection?.pair { conclude() }
  }
}

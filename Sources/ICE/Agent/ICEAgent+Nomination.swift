/// How both sides agree on a pair (RFC 8445, 8.1).
extension ICEAgent {
  // MARK: Controlling

  /// Nominates the selected pair: at once when none can be better, otherwise some round trips after the first one that worked.
  ///
  /// The check that says so is repeated until it is answered. Only a pair that has fallen silent is abandoned for another:
  /// a nomination whose answer got lost holds on the other side, which must not be told two.
  mutating func updateNomination(now: ContinuousClock.Instant) {
    guard let selection, let due = nominationDeadline, due <= now else { return }
    nominated = selection.pair
    checkList.trigger(selection.pair)
  }

  /// When the selected pair is to be nominated; nil when it is not for us, or done.
  var nominationDeadline: ContinuousClock.Instant? {
    guard role == .controlling, nominated == nil, let selection, selection.disconnectedSince == nil, let firstValid,
      let index = checkList.index(of: selection.pair), !checkList[index].isNominated
    else { return nil }
    let priority = checkList[index].priority
    let isBest = checkList.pairs.allSatisfy { $0.priority <= priority || $0.state == .failed || $0.isRevoked }
    return isBest ? firstValid : firstValid + nominationDelay(of: checkList[index])
  }

  /// How long to look for something better than a pair that works; at the longest where its round trip is not measured.
  private func nominationDelay(of pair: CandidatePair) -> Duration {
    let bounds = ICETiming.nominationDelay
    guard let roundTrip = pair.roundTripTime, roundTrip < bounds.upperBound else { return bounds.upperBound }
    return min(max(roundTrip * ICETiming.nominationRoundTrips, bounds.lowerBound), bounds.upperBound)
  }

  // MARK: Controlled

  /// A check with USE-CANDIDATE came on a pair (RFC 8445, 7.3.1.5).
  ///
  /// An aggressively nominating side sends it on every pair and means the one of highest priority. A browser that moves
  /// to another path sends it there, and stops sending it on the old one: then the younger nomination holds.
  mutating func nominatedByRemote(_ index: Int, now: ContinuousClock.Instant) {
    checkList[index].lastRemoteNomination = now
    if checkList[index].isFresh(at: now) {
      nominate(index, now: now)
    } else {
      checkList[index].isNominatedOnSuccess = true
      if !isBeingChecked(checkList[index].id) { checkList.trigger(checkList[index].id) }
    }
  }

  // MARK: Either

  /// Both sides know now. The pair replaces every one that was nominated long before, and every one of ours.
  mutating func nominate(_ index: Int, now: ContinuousClock.Instant) {
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

internal import ICE
internal import Media

extension ICESettings {
  /// Returns the text of a local candidate as the participant learns it; nil if they do not learn it.
  func signalledText(of candidate: ICECandidate) -> String? {
    guard let hostNames else {
      return (hidesRelatedAddresses ? candidate.withoutRelatedAddress : candidate).attributeValue
    }
    return hostNames.hide(candidate)?.attributeValue
  }
}

/// Candidates with names instead of addresses.
extension PeerConnection {
  /// Returns the names of the participant's candidates to look up; each is followed by ``resolved(_:to:now:)``.
  func takeNamesToResolve() -> [String] { isOpen ? agent.takeNamesToResolve() : [] }

  /// Handles the addresses of a name in lowercase letters, none if nobody answered.
  ///
  /// - Returns: whether a candidate waited for the name.
  func resolved(_ name: String, to addresses: [IPAddress], now: ContinuousClock.Instant) -> Bool {
    guard isOpen, agent.resolved(name, to: addresses, now: MonotonicInstant(now)) else { return false }
    timing.agentIsTouched = true
    return true
  }
}

package import ICE

/// Which candidates are signalled and checked, and when ICE restarts.
package struct ICESettings: Sendable {
  /// Whether candidates inside this machine or in private networks are checked.
  package var allowsLocalCandidates = true
  /// Whether the owner of the engines looks up the names of candidates.
  package var resolvesNames = false
  /// The names that participants learn instead of our addresses; nil if they learn the addresses.
  package var hostNames: HostNames?
  /// Whether candidates are signalled without the addresses that they are based on. With ``hostNames`` they always are.
  package var hidesRelatedAddresses = false
  /// Whether we restart ICE when the path is silent or a local address vanishes. Not every signalling system carries an
  /// offer during a call.
  package var restartsICE = true

  package init() {}
}

extension ICESettings {
  /// Returns the text of a local candidate as the participant learns it; nil if they do not learn it.
  func signalledText(of candidate: ICECandidate) -> String? {
    guard let hostNames else {
      return (hidesRelatedAddresses ? candidate.withoutRelatedAddress : candidate).attributeValue
    }
    return hostNames.hide(candidate)?.attributeValue
  }
}

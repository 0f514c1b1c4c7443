internal import ICE

/// How far connecting has got, in words, so that a person can find the cause.
extension ICETransport {
  /// How far connecting has got after the descriptions were exchanged, as a clause.
  var progress: String {
    if selected.path != nil { return "ICE found a path, but the DTLS handshake did not finish" }
    return unreachableReason.map { "no ICE check was answered, because \($0)" }
      ?? "no ICE check was answered; \(candidateSummary)\(relayClause)"
  }

  /// Why the participant cannot reach us, as a clause; nil if we have an address.
  var unreachableReason: String? {
    ice.agent.localCandidates.isEmpty ? "we have no address for the participant\(relayClause)" : nil
  }

  /// Why no TURN server relays to us, as the end of a clause.
  private var relayClause: String {
    guard let relayFailure else { return "" }
    return "; \(relayFailure.hasSuffix(".") ? String(relayFailure.dropLast()) : relayFailure)"
  }

  private var candidateSummary: String {
    let seen = ice.agent.statistics
    if seen.remoteCandidates > 0 { return "\(seen.remoteCandidates) address(es) of the participant were tried" }
    if seen.unresolvableCandidates > 0 { return "the participant sent only mDNS names, which were not resolved" }
    return "the participant sent no address"
  }
}

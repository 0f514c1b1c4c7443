package import Media

/// TCP connections of the candidate pairs (RFC 6544, 7).
extension ICEAgent {
  /// Notes that the connection of a path was not established or has ended.
  ///
  /// The pair has failed. If media was sent on it, the agent looks for another one, as long as it would at the beginning,
  /// and tries once to open the connection again.
  package mutating func connectionEnded(
    local: TransportAddress, remote: TransportAddress, now: MonotonicInstant
  ) {
    let path = Path(local: local, remote: remote)
    forgetFormerPaths { $0 == path }
    guard let index = checkList.index(of: path) else { return }
    wake = wake ?? now
    let pair = checkList[index]
    transactions.removeAll { $0.pair == pair.id }
    checkList[index].state = .failed
    checkList[index].isNominated = false
    checkList[index].isNominatedOnSuccess = false
    checkList[index].hasAuthenticRequest = false
    if nominated == pair.id { nominated = nil }
    guard selection?.pair == pair.id else { return }
    selection = nil
    nominated = nil
    if started != nil { started = now }
    checkList.wakeAll()
    // Nobody can connect to the remote peer's port again.
    if local.tcpType == .passive { checkList[index].state = .failed }
  }
}

package import Media

/// IPv4 participants of an agent in an IPv6-only network with NAT64 (RFC 6052).
///
/// A remote IPv4 candidate gets a second one of the same type, whose address is the IPv6 address that stands for it. It forms
/// pairs with the IPv6 addresses of this machine. What the remote peer sends through the NAT64 arrives from that address.
extension ICEAgent {
  /// Sets the prefix of the network; nil if it has none or this machine has an IPv4 address. Pairs with addresses of a
  /// former prefix are removed when there is another one, except the selected pair.
  package mutating func setNAT64(_ prefix: NAT64Prefix?, now: MonotonicInstant) {
    guard prefix != nat64 else { return }
    wake = wake ?? now
    nat64 = prefix
    guard prefix != nil else { return }
    let selected = selection.flatMap { checkList.index(of: $0.pair) }.map { checkList[$0].path.remote }
    for candidate in remoteCandidates where candidate.isSynthesized && candidate.address != selected {
      checkList.removePairs(with: candidate.address)
    }
    remoteCandidates.removeAll { $0.isSynthesized && $0.address != selected }
    if let nominated, checkList.index(of: nominated) == nil { self.nominated = nil }
    for candidate in remoteCandidates { insertSynthesized(of: candidate) }
  }

  /// Adds the candidate with the IPv6 address that stands for a signalled IPv4 candidate.
  mutating func insertSynthesized(of candidate: RemoteCandidate) {
    guard candidate.type != .peerReflexive, let address = nat64?.synthesized(from: candidate.address) else { return }
    var synthesized = RemoteCandidate(
      address: address, priority: candidate.priority, foundation: candidate.foundation, type: candidate.type)
    synthesized.isSynthesized = true
    insertRemote(synthesized)
  }

  /// Whether an address stands for an IPv4 address of a network without public addresses.
  func leadsIntoLocalNetwork(_ address: IPAddress) -> Bool {
    address.isLocal || (nat64?.embedded(in: address)?.isLocal ?? false)
  }
}

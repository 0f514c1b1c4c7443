package import Media

/// Remote candidates with a name instead of an address (draft-ietf-mmusic-mdns-ice-candidates, 3.2).
///
/// The caller looks the names up: it calls `resolved` for each name that `takeNamesToResolve` returns. The candidates are
/// then added as if they had arrived with the addresses.
extension ICEAgent {
  /// A candidate whose name is being looked up.
  struct NamedCandidate: Sendable {
    let name: MDNSName
    let candidate: ICECandidate
    /// The remote username fragment of the session that the candidate belongs to; nil when that is decided later.
    let session: String?
  }

  /// The names of the remote peer: what was asked for, and what waits for an answer.
  struct NamedCandidates: Sendable {
    /// The candidates that wait for an answer.
    var waiting: [NamedCandidate] = []
    /// All names that were asked for since the creation of the agent.
    var names: Set<MDNSName> = []
    /// The names that the caller has not taken yet.
    var new: [MDNSName] = []
  }

  static let maximumNames = 16
  static let maximumNamedCandidates = 50

  /// Returns the names to look up, each in lowercase letters. At most 16 different names of a remote peer are returned; a
  /// name is returned again when it arrives again after its answer.
  package mutating func takeNamesToResolve() -> [String] {
    guard !named.new.isEmpty else { return [] }
    defer { named.new = [] }
    return named.new.map(\.description)
  }

  /// Keeps a candidate with a name, or counts it as unresolvable.
  ///
  /// Only names that begin with a UUID are looked up: the remote peer must not learn or use the names of other machines
  /// on the local network, such as those of printers.
  mutating func addNamed(_ candidate: ICECandidate) {
    guard candidate.port > 0 else {
      statistics.ignoredCandidates += 1
      return
    }
    guard resolvesNames, case .name(let text) = candidate.host, let name = MDNSName(text), name.beginsWithUUID,
      named.waiting.count < Self.maximumNamedCandidates,
      named.names.contains(name) || named.names.count < Self.maximumNames
    else {
      statistics.unresolvableCandidates += 1
      return
    }
    named.names.insert(name)
    if !named.waiting.contains(where: { $0.name == name }) { named.new.append(name) }
    let current = remote?.usernameFragment
    let belongsToCurrent = candidate.usernameFragment.map { $0 == current } ?? true
    named.waiting.append(
      NamedCandidate(name: name, candidate: candidate, session: belongsToCurrent ? current : nil))
  }

  /// Adds the candidates that wait for a name. Those of a session that has ended meanwhile are dropped.
  ///
  /// - Parameters:
  ///   - name: in lowercase letters.
  ///   - addresses: empty when the name was not answered; at most four are used.
  /// - Returns: whether a candidate waited for this name.
  package mutating func resolved(_ name: String, to addresses: [IPAddress], now: MonotonicInstant) -> Bool {
    let found = named.waiting.filter { $0.name.description == name }
    guard !found.isEmpty else { return false }
    named.waiting.removeAll { $0.name.description == name }
    for item in found {
      guard !addresses.isEmpty else {
        statistics.unresolvableCandidates += 1
        continue
      }
      if let session = item.session, session != remote?.usernameFragment { continue }
      statistics.resolvedCandidates += 1
      var candidate = item.candidate
      for address in addresses.prefix(4) {
        candidate.host = .address(address)
        addRemoteCandidate(candidate, now: now)
      }
    }
    return true
  }
}

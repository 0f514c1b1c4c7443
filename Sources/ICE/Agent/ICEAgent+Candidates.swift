package import Media

/// Candidates and credentials, which may arrive in any order.
extension ICEAgent {
  /// Adds the address of a local socket. Earlier addresses have higher preference, and loopback addresses the lowest.
  ///
  /// A TCP address with the port 9 becomes an active candidate: the caller opens connections for it. Every other one
  /// becomes a passive candidate, at which the caller accepts connections.
  ///
  /// - Parameter now: needed for an address that is added during a call.
  /// - Returns: the candidate to signal, or nil when the address is known, is unusable or is the 17th of its kind.
  @discardableResult
  package mutating func addLocalHost(
    _ address: TransportAddress, now: MonotonicInstant? = nil
  ) -> ICECandidate? {
    guard address.isReachable, canAdd(address, .host) else { return nil }
    if let now { wake = wake ?? now }
    let base = Base(
      address: address, type: .host, localPreference: preference(ofHost: address),
      foundation: Self.foundation(.host, base: address.ip, transport: address.transport))
    var candidate = ICECandidate(
      foundation: base.foundation, transport: address.transport.rawValue, priority: base.priority,
      host: .address(address.ip), port: address.port, type: .host)
    if let type = address.tcpType { candidate.extensions.append(.init(name: "tcptype", value: type.rawValue)) }
    add(base, candidate)
    return candidate
  }

  private func preference(ofHost address: TransportAddress) -> UInt16 {
    guard let type = address.tcpType else {
      return (address.ip.isLoopback ? 10_000 : 60_000) - basesAdded % 5_000
    }
    // RFC 6544, 4.2: three bits for the direction, and thirteen that distinguish the addresses.
    return type.directionPreference << 13 | (address.ip.isLoopback ? 4_000 : 8_000) - basesAdded % 2_000
  }

  /// Adds a relayed address. The caller sends what the agent sends from it through its server.
  ///
  /// - Returns: the candidate to signal, or nil when the address is known, is unusable or is the 17th of its kind.
  @discardableResult
  package mutating func addRelayed(_ relay: RelayedAddress, now: MonotonicInstant) -> ICECandidate? {
    let address = relay.address
    guard address.isReachable, canAdd(address, .relayed) else { return nil }
    wake = wake ?? now
    let preference = 30_000 + min(relay.preference, 1_000) * 20 - basesAdded % 5_000
    // Of the allocation, not of the server: the checks of a new one do not wait for those of one that is gone.
    let foundation = Self.foundation(.relayed, base: address.ip, port: address.port)
    let candidate = ICECandidate(
      foundation: foundation, priority: ICECandidateType.relayed.priority(localPreference: preference),
      host: .address(address.ip), port: address.port, type: .relayed,
      related: .init(address: relay.mapped.ip.description, port: relay.mapped.port))
    add(Base(address: address, type: .relayed, localPreference: preference, foundation: foundation), candidate)
    return candidate
  }

  /// Whether an address is unknown and can be added: each kind has a limit of its own.
  private func canAdd(_ address: TransportAddress, _ type: ICECandidateType) -> Bool {
    let alike = bases.filter { $0.type == type && $0.address.transport == address.transport }
    return alike.count < Self.maximumBases && !bases.contains { $0.address == address }
  }

  private mutating func add(_ base: Base, _ candidate: ICECandidate) {
    bases.append(base)
    basesAdded &+= 1
    localCandidates.append(candidate)
    for remote in remoteCandidates { _ = pair(base, with: remote, isProven: false) }
  }

  /// Removes a local address, of a socket or of a relay, that exists no more. If the selected pair used it, the agent looks
  /// for another one, as long as it would at the beginning.
  ///
  /// - Returns: the removed candidates with their indices in `localCandidates`, in ascending order.
  @discardableResult
  package mutating func removeLocal(
    _ address: TransportAddress, now: MonotonicInstant
  ) -> [(index: Int, candidate: ICECandidate)] {
    guard bases.contains(where: { $0.address == address }) else { return [] }
    wake = wake ?? now
    bases.removeAll { $0.address == address }
    let removed = removeCandidates(basedOn: address)
    transactions.removeAll { $0.path.local == address }
    forgetFormerPaths { $0.local == address }
    let selected = selection.flatMap { checkList.index(of: $0.pair) }.map { checkList[$0].path.local }
    checkList.removePairs(from: address)
    if let nominated, checkList.index(of: nominated) == nil { self.nominated = nil }
    guard selected == address else { return removed }
    selection = nil
    nominated = nil
    if started != nil { started = now }
    checkList.wakeAll()
    return removed
  }

  /// Leaves a local address out of what comes: its candidates are not signalled any more, and no further pairs are made with
  /// it. Existing pairs stay, also the selected one, until a restart or ``removeLocal(_:now:)``.
  ///
  /// - Returns: the candidates, as from ``removeLocal(_:now:)``.
  package mutating func retireLocal(_ address: TransportAddress) -> [(index: Int, candidate: ICECandidate)] {
    guard let index = bases.firstIndex(where: { $0.address == address }) else { return [] }
    bases[index].isRetired = true
    return removeCandidates(basedOn: address)
  }

  private mutating func removeCandidates(
    basedOn address: TransportAddress
  ) -> [(index: Int, candidate: ICECandidate)] {
    let removed = localCandidates.enumerated().filter { $0.element.isBased(on: address) }
      .map { (index: $0.offset, candidate: $0.element) }
    localCandidates.removeAll { $0.isBased(on: address) }
    return removed
  }

  /// Adds the address that a STUN server reported for a base.
  ///
  /// - Returns: the candidate to signal, or nil when the address is known (no address translation), its base is
  ///   unknown, or it is the 17th.
  @discardableResult
  package mutating func addServerReflexive(mapped: TransportAddress, base: TransportAddress) -> ICECandidate? {
    guard let base = bases.first(where: { $0.address == base }), mapped.isReachable,
      mapped.isMapping(of: base.address), !localCandidates.contains(where: { $0.address == mapped }),
      localCandidates.count < bases.count + Self.maximumServerReflexive
    else { return nil }
    let candidate = ICECandidate(
      foundation: Self.foundation(.serverReflexive, base: base.address.ip),
      priority: ICECandidateType.serverReflexive.priority(localPreference: base.localPreference),
      host: .address(mapped.ip), port: mapped.port, type: .serverReflexive,
      related: .init(address: base.address.ip.description, port: base.address.port))
    localCandidates.append(candidate)
    return candidate
  }

  /// Sets the remote peer's credentials. Credentials that differ from the previous ones begin a new session, because
  /// the remote peer has restarted ICE.
  package mutating func setRemote(
    usernameFragment: String, password: String, isLite: Bool, now: MonotonicInstant
  ) {
    wake = wake ?? now
    // A lite agent never nominates (RFC 8445, 6.1.1).
    if isLite, role == .controlled { switchRole(now: now) }
    let credentials = ICECredentials(usernameFragment: usernameFragment, password: password)
    guard remote != credentials else { return }
    if remote != nil { beginSession(with: local, now: now) }
    remote = credentials
    started = now
    nextCheck = max(nextCheck ?? now, now)

    let candidates = waitingCandidates
    waitingCandidates = []
    for candidate in candidates
    where candidate.usernameFragment == nil || candidate.usernameFragment == usernameFragment {
      addRemoteCandidate(candidate, now: now)
    }
    learnFromEarlyChecks(of: usernameFragment, now: now)
  }

  /// Adds a remote candidate, trickled or from the SDP. An unusable candidate is counted and ignored.
  ///
  /// The agent does not need the end-of-candidates indication: checks continue for 40 s in any case (RFC 8863).
  package mutating func addRemoteCandidate(_ candidate: ICECandidate, now: MonotonicInstant) {
    wake = wake ?? now
    guard candidate.component == 1, candidate.isUDP || candidate.tcpType == .passive else {
      // The remote peer's active candidates connect to us; they become peer-reflexive ones.
      if candidate.tcpType != .active || !acceptsConnections { statistics.ignoredCandidates += 1 }
      return
    }
    guard let address = candidate.address else {
      addNamed(candidate)
      return
    }
    guard address.isReachable, allowsLocalCandidates || !leadsIntoLocalNetwork(address.ip),
      address.transport == .udp
        || opensConnections
          && address.mayBeConnectedTo(isLocal: leadsIntoLocalNetwork(address.ip))
    else {
      statistics.ignoredCandidates += 1
      return
    }
    guard let remote, candidate.usernameFragment.map({ $0 == remote.usernameFragment }) ?? true else {
      if waitingCandidates.count >= Self.maximumRemoteCandidates { waitingCandidates.removeFirst() }
      waitingCandidates.append(candidate)
      return
    }
    let accepted = RemoteCandidate(
      address: address, priority: candidate.priority, foundation: candidate.foundation, type: candidate.type)
    insertRemote(accepted)
    insertSynthesized(of: accepted)
  }

  /// Adds a remote candidate and its pairs, or updates a known one.
  ///
  /// - Parameter isProven: whether the remote peer has just sent from this address. When the list is full, such a
  ///   candidate replaces one from which nothing was ever received.
  /// - Returns: whether the candidate is in the list now.
  @discardableResult
  mutating func insertRemote(_ candidate: RemoteCandidate, isProven: Bool = false) -> Bool {
    if let index = remoteCandidates.firstIndex(where: { $0.address == candidate.address }) {
      // A signalled candidate says more than a peer-reflexive one.
      if remoteCandidates[index].type == .peerReflexive, candidate.type != .peerReflexive {
        remoteCandidates[index] = candidate
        checkList.update(candidate, role: role)
        for base in bases where !base.isRetired { _ = pair(base, with: candidate, isProven: false) }
      }
      return true
    }
    if remoteCandidates.count >= Self.maximumRemoteCandidates {
      guard
        let useless = remoteCandidates.firstIndex(where: isUseless)
          ?? (isProven ? lowestPriorityUnresponsiveCandidate : nil)
      else {
        statistics.ignoredCandidates += 1
        return false
      }
      checkList.removePairs(with: remoteCandidates.remove(at: useless).address)
    }
    statistics.remoteCandidates += 1
    remoteCandidates.append(candidate)
    // The check that revealed a peer-reflexive candidate also creates its only pair (RFC 8445, 7.3.1.4).
    if candidate.type != .peerReflexive {
      for base in bases where !base.isRetired { _ = pair(base, with: candidate, isProven: false) }
    }
    return true
  }

  /// Creates the pair of a base and a remote candidate, unless it exists, the address families or transport protocols
  /// differ or the list is full. A passive base has pairs only with addresses that have connected to it (RFC 6544, 6.2).
  ///
  /// - Returns: the pair's index.
  mutating func pair(_ base: Base, with remote: RemoteCandidate, isProven: Bool) -> Int? {
    guard base.address.family == remote.address.family, base.address.transport == remote.address.transport,
      isProven || base.address.tcpType != .passive
    else { return nil }
    return checkList.insert(
      Path(local: base.address, remote: remote.address), localPriority: base.priority,
      localFoundation: base.foundation, remote: remote, role: role, isProven: isProven, keeping: selection?.pair)
  }

  private var acceptsConnections: Bool { bases.contains { $0.address.tcpType == .passive } }
  private var opensConnections: Bool { bases.contains { $0.address.tcpType == .active } }

  /// Whether a candidate is peer-reflexive and all its pairs have failed: an old NAT mapping.
  private func isUseless(_ candidate: RemoteCandidate) -> Bool {
    candidate.type == .peerReflexive
      && checkList.pairs.allSatisfy {
        $0.path.remote != candidate.address || $0.state == .failed && !$0.isRevoked
      }
  }

  /// The candidate of lowest priority among those from which nothing was ever received.
  private var lowestPriorityUnresponsiveCandidate: Int? {
    let responsive = Set(
      checkList.pairs.filter {
        $0.hasAuthenticRequest || $0.state == .succeeded || $0.isRevoked || $0.id == selection?.pair
      }
      .map(\.path.remote))
    return remoteCandidates.indices.filter { !responsive.contains(remoteCandidates[$0].address) }
      .min { remoteCandidates[$0].priority < remoteCandidates[$1].priority }
  }

  /// Returns the foundation, which is equal for candidates of one type from one base address and transport protocol (RFC
  /// 8445, 5.1.1.3): FNV-1a over them, and over a port if that distinguishes candidates.
  private static func foundation(
    _ type: ICECandidateType, base: IPAddress, port: UInt16 = 0, transport: TransportProtocol = .udp
  ) -> String {
    let ending =
      (port == 0 ? [] : [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)])
      + (transport == .udp ? [] : Array(transport.rawValue.utf8))
    let hash = (Array(type.rawValue.utf8) + base.bytes + ending).reduce(0x811C_9DC5 as UInt32) {
      ($0 ^ UInt32($1)) &* 0x0100_0193
    }
    return String(hash)
  }
}

extension ICECandidate {
  /// Whether a local candidate is an address, or that of a NAT in front of it.
  fileprivate func isBased(on base: TransportAddress) -> Bool {
    if address == base { return true }
    return type == .serverReflexive && related == Related(address: base.ip.description, port: base.port)
  }
}

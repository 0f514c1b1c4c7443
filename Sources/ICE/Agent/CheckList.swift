/// The pairs in hand and the order in which they are checked (RFC 8445, 6.1.2 and 6.1.4).
struct CheckList: Sendable {
  private(set) var pairs: [CandidatePair] = []
  /// The ids of pairs to be checked before all others, first come first.
  private var triggered: [Int] = []
  private var nextID = 0

  static let maximumPairs = 100

  func index(of path: Path) -> Int? { pairs.firstIndex { $0.path == path } }
  func index(of id: Int) -> Int? { pairs.firstIndex { $0.id == id } }

  subscript(index: Int) -> CandidatePair {
    get { pairs[index] }
    set { pairs[index] = newValue }
  }

  var indices: Range<Int> { pairs.indices }

  /// Adds a pair for a path that has none.
  ///
  /// - Parameters:
  ///   - isProven: the other side has just used the path: when the list is full, any idle pair makes room for it;
  ///     otherwise only one of lower priority does.
  ///   - keeping: the id of the pair in use.
  /// - Returns: the pair's index; nil when the list is full.
  mutating func insert(
    _ path: Path, localPriority: UInt32, localFoundation: String, remote: RemoteCandidate, role: ICEAgent.Role,
    isProven: Bool, keeping: Int?
  ) -> Int? {
    if let index = index(of: path) { return index }
    var pair = CandidatePair(
      id: nextID, path: path, localPriority: localPriority, localFoundation: localFoundation, remote: remote, role: role
    )
    if pairs.count >= Self.maximumPairs {
      guard let victim = idlePair(below: isProven ? nil : pair.priority, keeping: keeping) else { return nil }
      remove(at: victim)
    }
    // One pair of each kind goes ahead; the others wait to learn from it (RFC 8445, 6.1.2.6).
    let alike = pairs.filter(pair.isAlike)
    let isHeldBack = alike.contains { $0.state == .waiting || $0.state == .inProgress }
    pair.state = isHeldBack && !alike.contains { $0.state == .succeeded } ? .frozen : .waiting
    nextID += 1
    pairs.append(pair)
    return pairs.endIndex - 1
  }

  /// The least of the pairs that nothing depends on.
  private func idlePair(below priority: UInt64?, keeping: Int?) -> Int? {
    pairs.indices.filter { index in
      let pair = pairs[index]
      let isIdle = pair.state == .failed || !pair.hasAuthenticRequest && pair.state != .succeeded
      // A revoked pair is the memory that its path must not be used: it stays.
      return isIdle && !pair.isRevoked && pair.id != keeping && (priority.map { pair.priority < $0 } ?? true)
    }.min { pairs[$0].priority < pairs[$1].priority }
  }

  private mutating func remove(at index: Int) {
    let id = pairs.remove(at: index).id
    triggered.removeAll { $0 == id }
  }

  /// Removes what belongs to a remote candidate that made room for another.
  mutating func removePairs(with remote: TransportAddress) {
    for index in pairs.indices.reversed() where pairs[index].path.remote == remote { remove(at: index) }
  }

  // MARK: Order

  /// Puts a pair at the end of the triggered-check queue (RFC 8445, 6.1.4.1).
  mutating func trigger(_ id: Int) {
    if !triggered.contains(id) { triggered.append(id) }
  }

  /// Whether `takeNext` would give a pair.
  func hasNext(onlyTriggered: Bool) -> Bool {
    !triggered.isEmpty || !onlyTriggered && nextOrdinary != nil
  }

  /// Takes the pair that is to be checked next (RFC 8445, 6.1.4.2).
  mutating func takeNext(onlyTriggered: Bool) -> Int? {
    while let id = triggered.first {
      triggered.removeFirst()
      if let index = index(of: id), !pairs[index].isRevoked { return index }
    }
    return onlyTriggered ? nil : nextOrdinary
  }

  /// The waiting pair of highest priority; without one, the highest frozen pair of a kind that nobody is checking.
  private var nextOrdinary: Int? {
    if let waiting = highest(where: { $0.state == .waiting }) { return waiting }
    let busy = pairs.filter { $0.state == .inProgress }
    return highest { pair in pair.state == .frozen && !busy.contains(where: pair.isAlike) }
  }

  private func highest(where isWanted: (CandidatePair) -> Bool) -> Int? {
    pairs.indices.filter { isWanted(pairs[$0]) && !pairs[$0].isRevoked }
      .max { pairs[$0].priority < pairs[$1].priority }
  }

  /// Lets the frozen pairs of a kind go, one of which has succeeded (RFC 8445, 7.2.5.3.3).
  mutating func unfreezePairs(like pair: CandidatePair) {
    for index in pairs.indices where pairs[index].state == .frozen && pairs[index].isAlike(pair) {
      pairs[index].state = .waiting
    }
  }

  /// Makes every pair a candidate for checking again: those that once worked first.
  mutating func wakeAll() {
    for index in pairs.indices where !pairs[index].isRevoked {
      switch pairs[index].state {
      case .succeeded: trigger(pairs[index].id)
      case .failed, .frozen: pairs[index].state = .waiting
      case .waiting, .inProgress: break
      }
    }
  }

  /// Gives the pairs of a remote candidate what has been learnt of it.
  mutating func update(_ remote: RemoteCandidate, role: ICEAgent.Role) {
    for index in pairs.indices where pairs[index].path.remote == remote.address {
      pairs[index].remote = remote
      pairs[index].updatePriority(role: role)
    }
  }
}

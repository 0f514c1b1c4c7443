/// The candidate pairs and the order of their checks (RFC 8445, 6.1.2 and 6.1.4).
struct CheckList: Sendable {
  private(set) var pairs: [CandidatePair] = []
  /// The triggered-check queue: the ids of pairs that are checked before all others, first in, first out.
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
  ///   - isProven: whether the remote peer has just used the path. When the list is full, such a pair replaces any idle
  ///     pair; other pairs replace only one of lower priority.
  ///   - keeping: the id of the selected pair, which is never replaced.
  /// - Returns: the pair's index, or nil when the list is full.
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
    // One pair of each foundation is checked first; the others stay frozen until it has a result (RFC 8445, 6.1.2.6).
    let alike = pairs.filter(pair.hasSameFoundation)
    let isHeldBack = alike.contains { $0.state == .waiting || $0.state == .inProgress }
    pair.state = isHeldBack && !alike.contains { $0.state == .succeeded } ? .frozen : .waiting
    nextID += 1
    pairs.append(pair)
    return pairs.endIndex - 1
  }

  /// Returns the idle pair of lowest priority: one that has failed, or that neither side has used.
  private func idlePair(below priority: UInt64?, keeping: Int?) -> Int? {
    pairs.indices.filter { index in
      let pair = pairs[index]
      let isIdle = pair.state == .failed || !pair.hasAuthenticRequest && pair.state != .succeeded
      // A revoked pair records that its path must not be used, so it stays.
      return isIdle && !pair.isRevoked && pair.id != keeping && (priority.map { pair.priority < $0 } ?? true)
    }.min { pairs[$0].priority < pairs[$1].priority }
  }

  private mutating func remove(at index: Int) {
    let id = pairs.remove(at: index).id
    triggered.removeAll { $0 == id }
  }

  /// Removes the pairs of a remote candidate that was replaced.
  mutating func removePairs(with remote: TransportAddress) {
    for index in pairs.indices.reversed() where pairs[index].path.remote == remote { remove(at: index) }
  }

  /// Removes the pairs of a local address that exists no more.
  mutating func removePairs(from local: TransportAddress) {
    for index in pairs.indices.reversed() where pairs[index].path.local == local { remove(at: index) }
  }

  // MARK: Order

  /// Appends a pair to the triggered-check queue (RFC 8445, 6.1.4.1).
  mutating func trigger(_ id: Int) {
    if !triggered.contains(id) { triggered.append(id) }
  }

  /// Whether `takeNext` would return a pair.
  func hasNext(onlyTriggered: Bool) -> Bool {
    !triggered.isEmpty || !onlyTriggered && nextOrdinary != nil
  }

  /// Removes and returns the pair to check next (RFC 8445, 6.1.4.2).
  mutating func takeNext(onlyTriggered: Bool) -> Int? {
    while let id = triggered.first {
      triggered.removeFirst()
      if let index = index(of: id), !pairs[index].isRevoked { return index }
    }
    return onlyTriggered ? nil : nextOrdinary
  }

  /// The waiting pair of highest priority; if there is none, the frozen pair of highest priority whose foundations no
  /// check in progress shares.
  private var nextOrdinary: Int? {
    if let waiting = highest(where: { $0.state == .waiting }) { return waiting }
    let busy = pairs.filter { $0.state == .inProgress }
    return highest { pair in pair.state == .frozen && !busy.contains(where: pair.hasSameFoundation) }
  }

  private func highest(where isWanted: (CandidatePair) -> Bool) -> Int? {
    pairs.indices.filter { isWanted(pairs[$0]) && !pairs[$0].isRevoked }
      .max { pairs[$0].priority < pairs[$1].priority }
  }

  /// Unfreezes the pairs with the same foundations as a pair that has succeeded (RFC 8445, 7.2.5.3.3).
  mutating func unfreezePairs(like pair: CandidatePair) {
    for index in pairs.indices where pairs[index].state == .frozen && pairs[index].hasSameFoundation(pair) {
      pairs[index].state = .waiting
    }
  }

  /// Schedules every pair for another check, those that have worked before first.
  mutating func wakeAll() {
    for index in pairs.indices where !pairs[index].isRevoked {
      switch pairs[index].state {
      case .succeeded: trigger(pairs[index].id)
      case .failed, .frozen: pairs[index].state = .waiting
      case .waiting, .inProgress: break
      }
    }
  }

  /// Updates the pairs of a remote candidate with its new properties.
  mutating func update(_ remote: RemoteCandidate, role: ICEAgent.Role) {
    for index in pairs.indices where pairs[index].path.remote == remote.address {
      pairs[index].remote = remote
      pairs[index].updatePriority(role: role)
    }
  }
}

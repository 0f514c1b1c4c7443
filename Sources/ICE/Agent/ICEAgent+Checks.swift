package import Media
import NIOCore

/// Timers and connectivity checks (RFC 8445, 6.1.4.2 and 14).
extension ICEAgent {
  /// The time of the next `poll`, or nil when nothing is scheduled.
  package var deadline: MonotonicInstant? {
    if let wake { return wake }
    let check = checkList.hasNext(onlyTriggered: isConcluded) && remote != nil ? nextCheck : nil
    return [
      transactions.lazy.map(\.deadline).min(), check, consentDeadline, nominationDeadline, pacDeadline,
      formerDeadline,
    ].compactMap { $0 }.min()
  }

  /// Returns the actions that are due, in order.
  ///
  /// - Parameter pace: the pacer that all agents of the process share.
  package mutating func poll(now: MonotonicInstant, pace: CheckPacer) -> [Action] {
    expireFormerSessions(now: now)
    serviceTransactions(now: now)
    updateConsent(now: now)
    updateSelection(now: now)
    updateNomination(now: now)
    startCheck(now: now, pace: pace)
    announce(now: now)
    wake = nil
    lastPoll = now
    defer { actions = [] }
    return actions
  }

  /// Whether the nominated pair works. Then the agent checks only pairs that the remote peer checks.
  var isConcluded: Bool {
    guard let selection, selection.disconnectedSince == nil, let index = checkList.index(of: selection.pair) else {
      return false
    }
    return checkList[index].isNominated
  }

  mutating func send(_ datagram: ByteBuffer, _ path: Path) {
    guard actions.count < Self.maximumActions else { return }
    actions.append(.send(datagram, from: path.local, to: path.remote))
  }

  /// Sends a check, unless its address has never answered and has reached its limit.
  private mutating func transmitCheck(_ datagram: ByteBuffer, _ path: Path, now: MonotonicInstant) {
    if let index = checkList.index(of: path), checkList[index].lastAnswer == nil {
      let size = datagram.readableBytes
      guard checkList[index].allowsCheck(ofBytes: size), unanswered.take(now: now) else {
        statistics.checksHeldBack += 1
        return
      }
      checkList[index].bytesSentUnanswered += size
    }
    statistics.checksSent += 1
    send(datagram, path)
  }

  // MARK: New checks

  private mutating func startCheck(now: MonotonicInstant, pace: CheckPacer) {
    guard remote != nil, let due = nextCheck, due <= now, checkList.hasNext(onlyTriggered: isConcluded) else { return }
    if !hasReservedSlot {
      let moment = pace.reserveSlot(now: now)
      guard moment <= now else {
        nextCheck = moment
        hasReservedSlot = true
        return
      }
    }
    hasReservedSlot = false
    guard let index = checkList.takeNext(onlyTriggered: isConcluded) else { return }
    sendCheck(index, isConsent: false, now: now)
    nextCheck = now + ICETiming.checkInterval
  }

  /// Sends a Binding request on a pair (RFC 8445, 7.2.4) and starts its transaction.
  mutating func sendCheck(_ index: Int, isConsent: Bool, now: MonotonicInstant) {
    let pair = checkList[index]
    guard let remote, transactions.count < Self.maximumTransactions,
      let base = bases.first(where: { $0.address == pair.path.local })
    else { return }
    let nominates = role == .controlling && !isConsent && nominated == pair.id
    if !isConsent {
      // The new check replaces the one in progress.
      transactions.removeAll { $0.pair == pair.id && !$0.isConsent }
      if pair.state != .succeeded { checkList[index].state = .inProgress }
    }
    var request = STUNMessage(.request, transactionID: .random(using: &generator))
    request.username = "\(remote.usernameFragment):\(local.usernameFragment)"
    request.priority = ICECandidateType.peerReflexive.priority(
      localPreference: base.localPreference, transport: base.address.transport)
    switch role {
    case .controlling: request.iceControlling = tieBreaker
    case .controlled: request.iceControlled = tieBreaker
    }
    // Repeated in every consent check, because the remote peer may know this agent by a new address by now.
    request.usesCandidate = nominates || role == .controlling && pair.isNominated
    let datagram = request.encoded(integrityKey: remote.key)
    transactions.append(
      CheckTransaction(
        id: request.transactionID, pair: pair.id, path: pair.path, role: role, nominates: nominates,
        isConsent: isConsent, datagram: datagram, timeout: timeoutOfNewCheck,
        maximumTimeout: pair.id == selection?.pair ? ICETiming.maximumSelectedPairRTO : ICETiming.maximumTimeout,
        lifetime: lifetime(ofCheckOf: pair.id, isConsent: isConsent), now: now))
    if selection == nil || selection?.pair == pair.id { unansweredSince = unansweredSince ?? now }
    transmitCheck(datagram, pair.path, now: now)
  }

  /// Returns how long a check is retransmitted.
  ///
  /// Once a pair is nominated, the agent checks another pair only because a request arrived on it, and will check it
  /// again at the next request. The short lifetime keeps an attacker with a spoofed address from making the agent send
  /// there for long.
  private func lifetime(ofCheckOf pair: Int, isConsent: Bool) -> Duration {
    if isConsent { return ICETiming.disconnectedTimeout }
    return isConcluded && pair != selection?.pair ? ICETiming.nonNominatedLifetime : ICETiming.checkLifetime
  }

  /// The timeout grows with the number of active pairs, so that retransmissions keep the pace too (RFC 8445, 14.3).
  private var timeoutOfNewCheck: Duration {
    let busy = checkList.pairs.count { $0.state == .waiting || $0.state == .inProgress }
    return max(ICETiming.firstTimeout, ICETiming.checkInterval * busy)
  }

  // MARK: Checks in progress

  private mutating func serviceTransactions(now: MonotonicInstant) {
    for index in transactions.indices.reversed() where transactions[index].deadline <= now {
      if transactions[index].expiry <= now {
        expired(transactions.remove(at: index))
      } else {
        transactions[index].sentAgain(now: now)
        transmitCheck(transactions[index].datagram, transactions[index].path, now: now)
      }
    }
  }

  private mutating func expired(_ transaction: CheckTransaction) {
    guard !transaction.isConsent, let index = checkList.index(of: transaction.pair) else { return }
    let hasAnsweredSince = checkList[index].lastAnswer.map { $0 >= transaction.firstSent } ?? false
    if !hasAnsweredSince, transaction.pair != selection?.pair { checkList[index].state = .failed }
  }

  /// Retransmits a pair's check in progress soon.
  mutating func retransmitSoon(_ id: Int) {
    for index in transactions.indices where transactions[index].pair == id { transactions[index].retransmitSoon() }
  }

  /// Whether a check of the pair other than a consent check is in progress.
  func isBeingChecked(_ id: Int) -> Bool {
    transactions.contains { $0.pair == id && !$0.isConsent }
  }
}

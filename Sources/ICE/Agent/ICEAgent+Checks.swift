import NIOCore

/// The clock's work: what is sent when (RFC 8445, 6.1.4.2 and 14).
extension ICEAgent {
  /// When `poll` is next needed; nil while there is nothing to wait for.
  package var deadline: ContinuousClock.Instant? {
    if let wake { return wake }
    let check = checkList.hasNext(onlyTriggered: isConcluded) && remote != nil ? nextCheck : nil
    return [
      transactions.lazy.map(\.deadline).min(), check, consentDeadline, nominationDeadline, patienceDeadline,
      retired?.expiry,
    ].compactMap { $0 }.min()
  }

  /// Everything that is to be done now, in order.
  ///
  /// - Parameter pace: shared by all agents of the program.
  package mutating func poll(now: ContinuousClock.Instant, pace: CheckPacer) -> [Action] {
    expireRetired(now: now)
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

  /// The agreed pair works: only what the other side requests is checked.
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

  /// Sends a check, unless it goes to an address that has never answered and may not be sent any more.
  private mutating func transmitCheck(_ datagram: ByteBuffer, _ path: Path, now: ContinuousClock.Instant) {
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

  private mutating func startCheck(now: ContinuousClock.Instant, pace: CheckPacer) {
    guard remote != nil, let due = nextCheck, due <= now, checkList.hasNext(onlyTriggered: isConcluded) else { return }
    if !hasBookedCheck {
      let moment = pace.book(now: now)
      guard moment <= now else {
        nextCheck = moment
        hasBookedCheck = true
        return
      }
    }
    hasBookedCheck = false
    guard let index = checkList.takeNext(onlyTriggered: isConcluded) else { return }
    sendCheck(index, isConsent: false, now: now)
    nextCheck = now + ICETiming.checkInterval
  }

  /// Sends a Binding request on a pair (RFC 8445, 7.2.4) and waits for its answer.
  mutating func sendCheck(_ index: Int, isConsent: Bool, now: ContinuousClock.Instant) {
    let pair = checkList[index]
    guard let remote, transactions.count < Self.maximumTransactions,
      let base = bases.first(where: { $0.address == pair.path.local })
    else { return }
    let nominates = role == .controlling && !isConsent && nominated == pair.id
    if !isConsent {
      // The new check takes the place of one that is still on its way.
      transactions.removeAll { $0.pair == pair.id && !$0.isConsent }
      if pair.state != .succeeded { checkList[index].state = .inProgress }
    }
    var request = STUNMessage(.request, transactionID: .random(using: &generator))
    request.username = "\(remote.usernameFragment):\(local.usernameFragment)"
    request.priority = ICECandidateType.peerReflexive.priority(localPreference: base.localPreference)
    switch role {
    case .controlling: request.iceControlling = tieBreaker
    case .controlled: request.iceControlled = tieBreaker
    }
    // Said again with every question for consent, because the other side may know us by a new address by now.
    request.usesCandidate = nominates || role == .controlling && pair.isNominated
    let datagram = request.sealed(key: remote.key)
    transactions.append(
      CheckTransaction(
        id: request.transactionID, pair: pair.id, path: pair.path, role: role, nominates: nominates,
        isConsent: isConsent, datagram: datagram, timeout: timeoutOfNewCheck,
        maximumTimeout: pair.id == selection?.pair ? ICETiming.maximumDoubtTimeout : ICETiming.maximumTimeout,
        lifetime: lifetime(ofCheckOf: pair.id, isConsent: isConsent), now: now))
    transmitCheck(datagram, pair.path, now: now)
  }

  /// How long a check is sent again and again.
  ///
  /// Once a pair is agreed, another one is checked because a request came from there, and will be again with the next: nobody
  /// shall make us send for long to an address that they borrowed.
  private func lifetime(ofCheckOf pair: Int, isConsent: Bool) -> Duration {
    if isConsent { return ICETiming.silence }
    return isConcluded && pair != selection?.pair ? ICETiming.besidesLifetime : ICETiming.checkLifetime
  }

  /// Grows with the number of pairs in hand, so that retransmissions keep the pace too (RFC 8445, 14.3).
  private var timeoutOfNewCheck: Duration {
    let busy = checkList.pairs.count { $0.state == .waiting || $0.state == .inProgress }
    return max(ICETiming.firstTimeout, ICETiming.checkInterval * busy)
  }

  // MARK: Checks on their way

  private mutating func serviceTransactions(now: ContinuousClock.Instant) {
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

  /// Sends a pair's running check again soon.
  mutating func hurry(_ id: Int) {
    for index in transactions.indices where transactions[index].pair == id { transactions[index].hurry() }
  }

  /// Whether an ordinary check of the pair is on its way.
  func isBeingChecked(_ id: Int) -> Bool {
    transactions.contains { $0.pair == id && !$0.isConsent }
  }
}

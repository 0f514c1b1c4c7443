package import Media
package import NIOCore

/// Received checks, and responses to the agent's checks (RFC 8445, 7.2.5 and 7.3).
extension ICEAgent {
  /// Processes a datagram that arrived at a local socket.
  ///
  /// Nothing is trusted before FINGERPRINT and MESSAGE-INTEGRITY are verified. Datagrams for other agents are
  /// recognised by the STUN header and USERNAME, which costs almost nothing.
  ///
  /// - Parameter local: the address that the datagram was sent to: one of the added host addresses.
  /// - Returns: whether the datagram was STUN for this agent, rejected or not.
  package mutating func received(
    _ datagram: ByteBuffer, from source: TransportAddress, to local: TransportAddress, now: MonotonicInstant
  ) -> Bool {
    guard let routing = STUNRouting(datagram), routing.method == .binding else { return false }
    let path = Path(local: local, remote: source)
    switch routing.kind {
    case .request:
      guard let recipient = routing.localUsernameFragment.flatMap(credentials) else { return false }
      receivedRequest(datagram, path, to: recipient, now: now)
    case .success, .errorResponse:
      guard let index = transactions.firstIndex(where: { $0.id == routing.transactionID }) else { return false }
      receivedResponse(datagram, path, to: index, now: now)
    case .indication:
      // A keepalive (RFC 8445, 11) needs no response.
      return isValidated(local: local, remote: source)
    }
    return true
  }

  // MARK: Requests

  /// Answers a request that was sent with certain credentials of ours, and remembers its path.
  ///
  /// The credentials of a former session are those of a remote peer that has not received our answer yet, and uses new
  /// ports already; those of an offer, of one whose answer has not arrived.
  private mutating func receivedRequest(
    _ datagram: ByteBuffer, _ path: Path, to recipient: ICECredentials, now: MonotonicInstant
  ) {
    statistics.requestsReceived += 1
    let key = recipient.key
    guard let message = authenticRequest(datagram, path, key: key),
      checkList.index(of: path).map({ !checkList[$0].isRevoked }) ?? true
    else {
      statistics.requestsRejected += 1
      return
    }
    wake = wake ?? now
    lastHeard = now
    noteUse(of: recipient, now: now)
    guard message.attributesNotUnderstood.isEmpty else {
      refuse(message, .unknownAttribute, path, key: key)
      return
    }
    // The roles may change with the session.
    guard recipient != local || resolveRoleConflict(message, now: now) else {
      refuse(message, .roleConflict, path, key: key)
      return
    }
    let answered = accept(message, path, key: key)
    let check = EarlyCheck(
      path: path, senderFragment: message.senderUsernameFragment ?? "",
      priority: message.priority
        ?? ICECandidateType.peerReflexive.priority(localPreference: 0, transport: path.local.transport),
      size: datagram.readableBytes, answered: answered, usesCandidate: message.usesCandidate, lastArrival: now)
    if let remote, check.senderFragment == remote.usernameFragment {
      learn(from: check, now: now)
    } else {
      keep(check)
    }
  }

  private func authenticRequest(_ datagram: ByteBuffer, _ path: Path, key: [UInt8]) -> STUNMessage? {
    guard bases.contains(where: { $0.address == path.local }), path.remote.isReachable,
      let message = try? STUNMessage(parsing: datagram), message.hasValidFingerprint == true,
      message.isAuthentic(key: key)
    else { return nil }
    return message
  }

  /// - Returns: the size of the response in bytes.
  private mutating func accept(_ request: STUNMessage, _ path: Path, key: [UInt8]) -> Int {
    var response = STUNMessage(.success, transactionID: request.transactionID)
    response.xorMappedAddress = path.remote
    let datagram = response.encoded(integrityKey: key)
    send(datagram, path)
    return datagram.readableBytes
  }

  private mutating func refuse(_ request: STUNMessage, _ error: STUNErrorCode, _ path: Path, key: [UInt8]) {
    var response = STUNMessage(.errorResponse, transactionID: request.transactionID)
    response.errorCode = error
    if error == .unknownAttribute { response.unknownAttributes = request.attributesNotUnderstood }
    send(response.encoded(integrityKey: key), path)
  }

  /// Handles an authenticated check: its path may work, so the agent checks it in turn (RFC 8445, 7.3.1.3 to 7.3.1.5).
  mutating func learn(from check: EarlyCheck, now: MonotonicInstant) {
    guard let base = bases.first(where: { $0.address == check.path.local }) else { return }
    var candidate = remoteCandidates.first { $0.address == check.path.remote }
    if candidate == nil {
      let discovered = RemoteCandidate(
        address: check.path.remote, priority: check.priority, foundation: "prflx/\(check.path.remote)",
        type: .peerReflexive)
      if insertRemote(discovered, isProven: true) { candidate = discovered }
    }
    guard let candidate, let index = pair(base, with: candidate, isProven: true), !checkList[index].isRevoked else {
      return
    }
    checkList[index].hasAuthenticRequest = true
    checkList[index].bytesReceived += check.size
    checkList[index].bytesSentUnanswered += check.answered
    switch checkList[index].state {
    case .frozen, .waiting, .failed:
      checkList[index].state = .waiting
      checkList.trigger(checkList[index].id)
    case .inProgress, .succeeded:
      retransmitSoon(checkList[index].id)
    }
    if check.usesCandidate, role == .controlled { nominatedByRemote(index, now: now) }
  }

  // MARK: Responses

  private mutating func receivedResponse(
    _ datagram: ByteBuffer, _ path: Path, to index: Int, now: MonotonicInstant
  ) {
    let transaction = transactions[index]
    // The addresses of the response must mirror those of the request (RFC 8445, 7.2.5.2.1).
    guard let remote, path == transaction.path, let message = try? STUNMessage(parsing: datagram),
      message.hasValidFingerprint == true, message.isAuthentic(key: remote.key),
      message.attributesNotUnderstood.isEmpty
    else {
      statistics.responsesRejected += 1
      return
    }
    wake = wake ?? now
    lastHeard = now
    transactions.remove(at: index)
    guard let index = checkList.index(of: transaction.pair), !checkList[index].isRevoked else { return }
    if message.kind == .success {
      // FFmpeg's publisher names no address, which RFC 8445, 7.2.5.2.1 requires; like libwebrtc we then take our own.
      var mapped = message.xorMappedAddress ?? message.mappedAddress ?? path.local
      mapped.transport = path.local.transport
      succeeded(index, transaction, mapped: mapped, now: now)
    } else if message.errorCode?.code == STUNErrorCode.roleConflict.code {
      if transaction.role == role { switchRole(now: now) }
      if checkList[index].state == .inProgress { checkList[index].state = .waiting }
      checkList.trigger(checkList[index].id)
    } else if checkList[index].state == .inProgress {
      checkList[index].state = .failed
    }
  }

  private mutating func succeeded(
    _ index: Int, _ transaction: CheckTransaction, mapped: TransportAddress, now: MonotonicInstant
  ) {
    statistics.checksAnswered += 1
    firstValid = firstValid ?? now
    // It is unknown which of several transmissions was answered, so only the first is measured (Karn's rule).
    if transaction.transmissions == 1 { checkList[index].measured(now - transaction.firstSent) }
    checkList[index].state = .succeeded
    checkList[index].lastAnswer = now
    lastAnswered = now
    unansweredSince = nil
    checkList[index].mapped = mapped
    checkList.unfreezePairs(like: checkList[index])
    // Other checks of the pair have nothing left to verify, except a nomination.
    transactions.removeAll { $0.pair == transaction.pair && !$0.nominates }
    if transaction.nominates, nominated == transaction.pair {
      nominated = nil
      nominate(index, now: now)
    } else if checkList[index].isNominatedOnSuccess, role == .controlled {
      nominate(index, now: now)
    }
  }
}

/// Role conflicts: both sides are controlling, or both controlled (RFC 8445, 7.3.1.1 and 7.2.5.1).
extension ICEAgent {
  /// Compares the roles of both sides and resolves a conflict: the side with the higher tie-breaker is controlling.
  ///
  /// - Returns: false when the request must be refused because the remote peer has to switch its role.
  mutating func resolveRoleConflict(_ request: STUNMessage, now: MonotonicInstant) -> Bool {
    switch role {
    case .controlling:
      guard let theirs = request.iceControlling else { return true }
      if tieBreaker >= theirs { return false }
    case .controlled:
      guard let theirs = request.iceControlled else { return true }
      if tieBreaker < theirs { return false }
    }
    switchRole(now: now)
    return true
  }

  /// Switches the role. Nominations by the wrong side are dropped, and checks in progress start again.
  mutating func switchRole(now: MonotonicInstant) {
    role = role.other
    tieBreaker = .random(in: .min ... .max, using: &generator)
    nominated = nil
    transactions = []
    for index in checkList.indices {
      checkList[index].updatePriority(role: role)
      checkList[index].isNominated = false
      checkList[index].isNominatedOnSuccess = false
      if checkList[index].state == .inProgress {
        checkList[index].state = .waiting
        if checkList[index].hasAuthenticRequest { checkList.trigger(checkList[index].id) }
      }
    }
    wake = wake ?? now
  }
}

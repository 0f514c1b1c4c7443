package import Media
package import NIOCore

/// Messages from the server.
extension TURNClient {
  /// Processes a datagram from `server`. Only for UDP.
  ///
  /// - Returns: whether the datagram was for this client: ChannelData, a Data indication, or a response to one of its
  ///   requests.
  @discardableResult
  package mutating func received(_ datagram: ByteBuffer, now: MonotonicInstant) -> Bool {
    TURNChannelData.isChannelData(datagram)
      ? receivedChannelData(datagram, now: now) : receivedMessage(datagram, now: now)
  }

  /// Processes bytes of the connection to `server`, in order. Only for streams.
  package mutating func received(stream bytes: ByteBuffer, now: MonotonicInstant) {
    var chunk = bytes
    do throws(TURNStreamError) {
      while let frame = try splitter.next(from: &chunk) {
        received(frame, now: now)
        // After a loss the rest belongs to the former connection.
        if needsConnection || state == .ended { return }
      }
    } catch {
      interrupted(loss: .brokenStream(error), failure: .brokenStream(error), now: now)
    }
  }

  // MARK: Data

  private mutating func receivedChannelData(_ frame: ByteBuffer, now: MonotonicInstant) -> Bool {
    guard state == .allocated, let (number, payload) = TURNChannelData.parse(frame), payload.readableBytes > 0,
      let address = channels[number], let index = peers.index(forKey: address),
      let channel = peers.values[index].channel, channel.isBound(now)
    else {
      statistics.dataDropped += 1
      return false
    }
    peers.values[index].lastUsed = now
    lease?.lastHeard = now
    statistics.receivedOnChannels += 1
    emit(.received(payload, from: address), now: now)
    return true
  }

  private mutating func receivedData(_ message: STUNMessage, now: MonotonicInstant) -> Bool {
    guard state == .allocated, let address = message.xorPeerAddress, let payload = message.data,
      payload.readableBytes > 0, let permission = permissions[address.ip],
      // The response that confirms the permission may arrive after the data.
      permission.isInstalled(now) || permission.isInFlight
    else {
      statistics.dataDropped += 1
      return false
    }
    if let index = peers.index(forKey: address) { peers.values[index].lastUsed = now }
    lease?.lastHeard = now
    statistics.receivedInIndications += 1
    emit(.received(payload, from: address), now: now)
    return true
  }

  // MARK: Responses

  private mutating func receivedMessage(_ datagram: ByteBuffer, now: MonotonicInstant) -> Bool {
    guard let header = try? STUNMessage.Header(parsing: datagram) else {
      statistics.messagesRejected += 1
      return false
    }
    if header.kind == .indication, header.method == .data {
      guard let message = try? STUNMessage(parsing: datagram) else {
        statistics.dataDropped += 1
        return false
      }
      return receivedData(message, now: now)
    }
    guard let transaction = transactions[header.transactionID] else {
      statistics.messagesRejected += 1
      return false
    }
    guard header.kind == .success || header.kind == .errorResponse, header.method == transaction.request.method,
      let message = try? STUNMessage(parsing: datagram), message.hasValidFingerprint ?? true,
      !message.protectedAttributes.contains(where: { $0.type.isComprehensionRequired && !$0.type.isUnderstoodByTURN }),
      isAcceptable(message, to: transaction)
    else {
      statistics.messagesRejected += 1
      return true
    }
    transactions[header.transactionID] = nil
    lease?.lastHeard = now
    if message.kind == .success {
      succeeded(transaction, message, now: now)
    } else if let error = message.errorCode {
      refused(transaction, error, message, now: now)
    }
    scheduleAdvance(now: now)
    return true
  }

  /// Whether the response is authentic, as far as it must be.
  private func isAcceptable(_ message: STUNMessage, to transaction: TURNTransaction) -> Bool {
    if message.kind == .success { return transaction.epoch == nil || authentication.isAuthentic(message) }
    guard let error = message.errorCode else { return false }
    // Challenges are not authentic (RFC 8489, 9.2.4).
    if transaction.epoch == nil || error.code == 401 || error.code == 438 { return true }
    let hasIntegrity = message.attributes.contains {
      $0.type == .messageIntegrity || $0.type == .messageIntegritySHA256
    }
    return !hasIntegrity || authentication.isAuthentic(message)
  }

  private mutating func succeeded(
    _ transaction: TURNTransaction, _ message: STUNMessage, now: MonotonicInstant
  ) {
    switch transaction.purpose {
    case .allocate: allocateSucceeded(message, now: now)
    case .clear: cleared(now: now)
    case .leave: end(now: now)
    case .refresh: refreshSucceeded(message, now: now)
    case .permissions(let addresses): permissionsSucceeded(addresses, sent: transaction.firstSent, now: now)
    case .channel(_, let peer): channelSucceeded(peer, sent: transaction.firstSent, now: now)
    }
  }

  private mutating func refused(
    _ transaction: TURNTransaction, _ error: STUNErrorCode, _ message: STUNMessage, now: MonotonicInstant
  ) {
    if error.code == 401 || error.code == 438 {
      challenged(transaction, error, message, now: now)
    } else {
      refused(transaction, error, message, failure: nil, now: now)
    }
  }

  /// 401 or 438: repeats the request with what the server announced (RFC 8489, 9.2.5).
  private mutating func challenged(
    _ transaction: TURNTransaction, _ error: STUNErrorCode, _ message: STUNMessage, now: MonotonicInstant
  ) {
    if state == .leaving, transaction.purpose == .allocate {
      end(now: now)
      return
    }
    let change = authentication.update(from: message)
    if change == .invalid {
      let failure = TURNFailure.malformedAnswer("error \(error.code) comes without a usable realm and nonce")
      refused(transaction, error, message, failure: failure, now: now)
      return
    }
    let isAuthenticatedNow = transaction.epoch == authentication.epoch
    if error.code == 401, isAuthenticatedNow {
      refused(transaction, error, message, failure: nil, now: now)
    } else if transaction.challenges >= Self.maximumChallenges {
      let failure = TURNFailure.staleNonce(times: transaction.challenges)
      refused(transaction, error, message, failure: failure, now: now)
    } else {
      begin(transaction.purpose, transaction.request, challenges: transaction.challenges + 1, now: now)
    }
  }

  /// - Parameter failure: replaces what the error code says, if the transaction was for an allocation.
  private mutating func refused(
    _ transaction: TURNTransaction, _ error: STUNErrorCode, _ message: STUNMessage, failure: TURNFailure?,
    now: MonotonicInstant
  ) {
    switch transaction.purpose {
    case .allocate:
      if let failure { fail(failure, now: now) } else { allocateRefused(error, message, now: now) }
    case .clear: cleared(now: now)
    case .leave: end(now: now)
    case _ where error.code == 437: lose(.unknownToServer, now: now)
    case .refresh:
      lose(.refused(code: error.code, reason: TURNFailure.printable(error.reason)), now: now)
    case .permissions(let addresses): permissionsRefused(addresses, code: error.code, now: now)
    case .channel(_, let peer): channelFailed(peer, pause: TURNTiming.refusal, now: now)
    }
  }
}

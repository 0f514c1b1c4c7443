import Media
import NIOCore

/// The allocation: Allocate and Refresh requests and their answers (RFC 8656, 7 and 8).
extension TURNClient {
  // MARK: Requests

  mutating func startAttempt(now: MonotonicInstant) {
    let length = credentials.username.utf8.count
    guard length <= TURNCredentials.maximumUsernameLength else {
      fail(.usernameTooLong(bytes: length), now: now)
      return
    }
    state = .allocating
    mismatches = 0
    if server != firstServer {
      authentication.reset()
      needsConnection = true
    }
    askedServers = [firstServer]
    if needsConnection { connect(to: firstServer, now: now) }
    requestAllocation(now: now)
  }

  private mutating func connect(to address: TransportAddress, now: MonotonicInstant) {
    needsConnection = false
    splitter = TURNStreamSplitter()
    server = address
    emit(.connect(to: address), now: now)
  }

  private mutating func requestAllocation(now: MonotonicInstant) {
    var request = STUNMessage(.request, method: .allocate, transactionID: STUNTransactionID(high: 0, low: 0))
    request.software = software
    request.requestedTransport = 17
    request.lifetime = TURNTiming.requestedLifetime
    switch families {
    case .v4: break
    case .v6: request.requestedAddressFamily = .v6
    case .both: request.additionalAddressFamily = .v6
    }
    begin(.allocate, request, now: now)
  }

  /// Requests the end of the allocation of this 5-tuple: a Refresh request with lifetime 0 (RFC 8656, 8).
  mutating func requestEnd(_ purpose: TURNTransaction.Purpose, now: MonotonicInstant) {
    var request = STUNMessage(.request, method: .refresh, transactionID: STUNTransactionID(high: 0, low: 0))
    request.software = software
    request.lifetime = 0
    begin(purpose, request, now: now)
  }

  var isRefreshing: Bool { transactions.values.contains { $0.purpose == .refresh } }

  mutating func refreshIfDue(now: MonotonicInstant) {
    guard let lease, min(lease.refreshAt, lease.keepaliveAt) <= now, !isRefreshing else { return }
    requestRefresh(now: now)
  }

  private mutating func requestRefresh(now: MonotonicInstant) {
    var request = STUNMessage(.request, method: .refresh, transactionID: STUNTransactionID(high: 0, low: 0))
    request.lifetime = TURNTiming.requestedLifetime
    begin(.refresh, request, now: now)
  }

  /// Sends a request with a new transaction id and the present credentials.
  mutating func begin(
    _ purpose: TURNTransaction.Purpose, _ request: STUNMessage, challenges: Int = 0, now: MonotonicInstant
  ) {
    var request = request
    // The addresses are XORed with the transaction id.
    let peers = request.xorPeerAddresses
    request.set(.xorPeerAddress, nil)
    request.transactionID = .random(using: &generator)
    for peer in peers { request.appendXorPeerAddress(peer) }
    let datagram = authentication.encoded(request)
    transactions[request.transactionID] = TURNTransaction(
      purpose, request: request, datagram: datagram, epoch: authentication.isReady ? authentication.epoch : nil,
      challenges: challenges, isStream: transport == .stream, now: now)
    statistics.requestsSent += 1
    emit(.send(datagram), now: now)
    needsAdvance = true
  }

  mutating func advanceTransactions(now: MonotonicInstant) {
    for id in transactions.filter({ $0.value.deadline <= now }).keys {
      guard var transaction = transactions[id] else { continue }
      if transaction.expiry <= now {
        transactions[id] = nil
        expired(transaction, now: now)
      } else {
        transaction.sentAgain(now: now)
        transactions[id] = transaction
        statistics.requestsSent += 1
        emit(.send(transaction.datagram), now: now)
      }
    }
  }

  private mutating func expired(_ transaction: TURNTransaction, now: MonotonicInstant) {
    switch transaction.purpose {
    case .allocate, .clear: fail(.noAnswer(after: transaction.lifetime), now: now)
    case .leave: end(now: now)
    case .permissions(let addresses): permissionsUnanswered(addresses, now: now)
    case .channel(_, let peer): channelFailed(peer, pause: TURNTiming.retry, now: now)
    case .refresh:
      // Data that arrived since then shows that the server lives.
      if let lease, lease.lastHeard > transaction.firstSent {
        requestRefresh(now: now)
      } else {
        lose(.noAnswer(after: transaction.lifetime), now: now)
      }
    }
  }

  // MARK: Answers

  mutating func allocateSucceeded(_ message: STUNMessage, now: MonotonicInstant) {
    guard state == .allocating else {
      // `leave` was called in the meantime.
      requestEnd(.leave, now: now)
      return
    }
    var relayed: [TransportAddress] = []
    for address in message.xorRelayedAddresses where address.isReachable && allows(address.family) {
      if !relayed.contains(where: { $0.family == address.family }) { relayed.append(address) }
    }
    guard !relayed.isEmpty else {
      fail(.malformedAnswer("it has no relayed address of the requested family"), now: now)
      return
    }
    guard let mapped = message.xorMappedAddress, mapped.isReachable else {
      fail(.malformedAnswer("it has no mapped address"), now: now)
      return
    }
    guard let seconds = message.lifetime, seconds > 0 else {
      fail(.malformedAnswer("it has no lifetime above 0"), now: now)
      return
    }
    let lifetime = Duration.seconds(Int64(min(seconds, TURNTiming.maximumLifetime)))
    let allocation = Allocation(relayed: relayed, mapped: mapped, lifetime: lifetime)
    lease = Lease(
      allocation: allocation, since: now, refreshAt: now + Self.refreshDelay(lifetime), lastHeard: now, lastSent: now)
    state = .allocated
    lastFailure = nil
    statistics.allocations += 1
    emit(.allocated(allocation), now: now)
  }

  private func allows(_ family: IPAddress.Family) -> Bool {
    switch families {
    case .v4: family == .v4
    case .v6: family == .v6
    case .both: true
    }
  }

  private static func refreshDelay(_ lifetime: Duration) -> Duration {
    max(TURNTiming.minimumRefresh, lifetime - min(TURNTiming.refreshMargin, lifetime / 2))
  }

  mutating func refreshSucceeded(_ message: STUNMessage, now: MonotonicInstant) {
    guard let seconds = message.lifetime, seconds > 0 else {
      lose(.expired, now: now)
      return
    }
    lease?.refreshAt = now + Self.refreshDelay(.seconds(Int64(min(seconds, TURNTiming.maximumLifetime))))
  }

  mutating func allocateRefused(_ error: STUNErrorCode, _ message: STUNMessage, now: MonotonicInstant) {
    switch error.code {
    case _ where state == .leaving: end(now: now)
    case 300: tryAlternate(message.alternateServer, now: now)
    case 437:
      mismatches += 1
      switch mismatches {
      case 1: requestEnd(.clear, now: now)
      case 2:
        connect(to: server, now: now)
        requestAllocation(now: now)
      default: fail(.allocationMismatch, now: now)
      }
    default:
      fail(
        TURNFailure(
          error, realm: authentication.realm ?? "", isTimeLimited: authentication.isTimeLimited), now: now)
    }
  }

  /// The former allocation has ended, or the server does not know it.
  mutating func cleared(now: MonotonicInstant) {
    if state == .leaving { end(now: now) } else { requestAllocation(now: now) }
  }

  /// RFC 8489, 10.
  private mutating func tryAlternate(_ alternate: TransportAddress?, now: MonotonicInstant) {
    let isNarrower =
      alternate.map { named in
        named.ip.isLoopback && !server.ip.isLoopback || named.ip.isLocal && !server.ip.isLocal
      } ?? false
    let synthesized = server.family == .v6 ? alternate.flatMap { nat64?.synthesized(from: $0) } : nil
    guard let alternate = synthesized ?? alternate, alternate.isReachable, alternate.family == server.family else {
      fail(.badAlternateServer("its address is missing or cannot be used"), now: now)
      return
    }
    // What a server in a wider network says must not lead into this machine or its network.
    guard !isNarrower else {
      fail(.badAlternateServer("\(alternate) is in a narrower network than the server that names it"), now: now)
      return
    }
    guard !askedServers.contains(alternate) else {
      fail(.badAlternateServer("\(alternate) was asked before"), now: now)
      return
    }
    guard askedServers.count <= Self.maximumAlternates else {
      fail(.badAlternateServer("it is the \(askedServers.count). in a row"), now: now)
      return
    }
    askedServers.append(alternate)
    authentication.reset()
    connect(to: alternate, now: now)
    requestAllocation(now: now)
  }
}

package import Media
package import NIOCore

/// Queries STUN servers for the mapped address of one socket (RFC 8445, 5.1.1.2; RFC 8489, 6), and repeats the queries
/// to keep the NAT binding alive.
///
/// A request is retransmitted after 500 ms, 1 s, 2 s … up to seven transmissions. Each response contains the mapped
/// address. The gatherer queries the server again 15 s later and reports a changed address.
///
/// Left out on purpose: credentials, ALTERNATE-SERVER, TCP and TLS, DNS (the caller resolves names).
package struct ServerReflexiveGatherer: Sendable {
  package enum Action: Sendable, Hashable {
    /// Must be sent from the gatherer's base.
    case send(ByteBuffer, to: TransportAddress)
    /// A server sees the base as `address`. Reported once for each new address.
    case mapped(TransportAddress, server: TransportAddress)
    /// A server has not answered; the gatherer queries it again later.
    case failed(server: TransportAddress)
  }

  private enum State {
    /// No request is in progress; the next one is sent at the deadline.
    case idle
    /// A request is in progress; at the deadline it is retransmitted or given up.
    case awaitingResponse(STUNTransactionID, datagram: ByteBuffer, transmissions: Int)
  }

  private struct Server {
    let address: TransportAddress
    var state = State.idle
    var deadline: MonotonicInstant
    var mapped: TransportAddress?
    /// Whether the server has answered or failed.
    var hasResult = false
  }

  /// The local address of the socket.
  package let base: TransportAddress
  private var servers: [Server]
  private var actions: [Action] = []
  /// The time of the oldest pending action.
  private var actionsSince: MonotonicInstant?
  private var generator: any RandomNumberGenerator & Sendable

  private static let firstTimeout = Duration.milliseconds(500)
  private static let maximumTransmissions = 7
  /// The time from the last transmission to giving up: Rm is 16 (RFC 8489, 6.2.1).
  private static let lastTimeout = firstTimeout * 16
  private static let keepalive = Duration.seconds(15)

  /// - Parameter servers: the server addresses; those of another address family than the base are ignored.
  package init(
    base: TransportAddress, servers: [TransportAddress], now: MonotonicInstant,
    generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.base = base
    self.generator = generator
    self.servers = []
    add(servers, now: now)
  }

  /// Queries further servers; those that are known, or of another address family than the base, are ignored.
  package mutating func add(_ more: [TransportAddress], now: MonotonicInstant) {
    for address in more
    where address.family == base.family && address.isReachable && !servers.contains(where: { $0.address == address }) {
      servers.append(Server(address: address, deadline: now))
    }
  }

  /// Whether a server has neither answered nor failed yet.
  package var isGathering: Bool { servers.contains { !$0.hasResult } }

  /// The time of the next `poll`, or nil when there is no server.
  package var deadline: MonotonicInstant? {
    actionsSince ?? servers.map(\.deadline).min()
  }

  /// Whether a response with this transaction id answers a request of this gatherer.
  package func owns(transactionID: STUNTransactionID) -> Bool {
    server(awaiting: transactionID) != nil
  }

  /// Processes a datagram that arrived at the base.
  ///
  /// - Returns: whether the datagram was a response to a request of this gatherer.
  package mutating func received(
    _ datagram: ByteBuffer, from source: TransportAddress, now: MonotonicInstant
  ) -> Bool {
    guard let routing = STUNRouting(datagram), routing.kind == .success || routing.kind == .errorResponse,
      let index = server(awaiting: routing.transactionID)
    else { return false }
    guard source == servers[index].address, let message = try? STUNMessage(parsing: datagram),
      message.hasValidFingerprint ?? true, message.attributesNotUnderstood.isEmpty
    else { return true }
    if message.kind == .success, let mapped = message.xorMappedAddress ?? message.mappedAddress, mapped.isReachable,
      mapped.isMapping(of: base)
    {
      if mapped != servers[index].mapped { actions.append(.mapped(mapped, server: source)) }
      servers[index].mapped = mapped
    } else {
      actions.append(.failed(server: source))
    }
    servers[index].state = .idle
    servers[index].hasResult = true
    servers[index].deadline = now + Self.keepalive
    if !actions.isEmpty { actionsSince = now }
    return true
  }

  /// Returns the actions that are due.
  package mutating func poll(now: MonotonicInstant) -> [Action] {
    for index in servers.indices where servers[index].deadline <= now { wake(index, now: now) }
    defer {
      actions = []
      actionsSince = nil
    }
    return actions
  }

  private mutating func wake(_ index: Int, now: MonotonicInstant) {
    let server = servers[index].address
    switch servers[index].state {
    case .idle:
      let id = STUNTransactionID.random(using: &generator)
      let datagram = STUNMessage(.request, transactionID: id).encoded(integrityKey: nil)
      servers[index].state = .awaitingResponse(id, datagram: datagram, transmissions: 1)
      servers[index].deadline = now + Self.firstTimeout
      actions.append(.send(datagram, to: server))
    case .awaitingResponse(let id, let datagram, let transmissions) where transmissions < Self.maximumTransmissions:
      servers[index].state = .awaitingResponse(id, datagram: datagram, transmissions: transmissions + 1)
      let isLast = transmissions + 1 == Self.maximumTransmissions
      servers[index].deadline = now + (isLast ? Self.lastTimeout : Self.firstTimeout * (1 << transmissions))
      actions.append(.send(datagram, to: server))
    case .awaitingResponse:
      servers[index].state = .idle
      servers[index].hasResult = true
      servers[index].deadline = now + Self.keepalive
      actions.append(.failed(server: server))
    }
  }

  private func server(awaiting transactionID: STUNTransactionID) -> Int? {
    servers.firstIndex {
      if case .awaitingResponse(transactionID, _, _) = $0.state { true } else { false }
    }
  }
}

package import Media
package import NIOCore

/// Resolves the multicast DNS names that browsers put into host candidates
/// (draft-ietf-mmusic-mdns-ice-candidates, 3.2).
///
/// Each transmission asks for A and AAAA, in a message each, at the IPv4 and the IPv6 group: at 0 ms, 250 ms, 750 ms and
/// 1.75 s. A query fails after 3 s. The first address starts a grace of 20 ms in which further ones are collected.
///
/// The socket must be bound to port 5353, shared with other processes, and must have joined the groups on each
/// interface: browsers send their responses only to the groups. A resolver on another port asks for unicast responses
/// (RFC 6762, 6.7), which Chromium and Firefox do not send.
///
/// A response is accepted from a local address; one from outside can announce only its own address. A forger on the link
/// achieves that a few connectivity checks go to an address of its choice. The checks use the ICE credentials, and no
/// media is sent to an address without a valid response. A participant can name any address in a candidate anyway.
///
/// Limits: 32 queries in progress; 10 new queries per second after a burst of 50; 4 addresses of a name; 256 results,
/// kept for 60 s, or 10 s after a failure. `resolve` causes at most one result; the caller limits the names of one
/// participant.
package struct MDNSResolver: Sendable {
  package enum Action: Sendable, Hashable {
    /// Must be sent from the port of the resolver, on each interface; without a socket of the family it is dropped.
    case send(ByteBuffer, to: TransportAddress)
    /// The name in lowercase letters has 1 to 4 addresses, in the order in which they arrived.
    case resolved(String, [IPAddress])
    /// The name was not answered, was rejected, or exceeded a limit. A rejected name is reported as it was passed.
    case failed(String)
  }

  private struct Query {
    let name: MDNSName
    var transmissions = 0
    /// When the query is retransmitted, given up, or resolved with the addresses so far.
    var deadline: MonotonicInstant
    var expiry: MonotonicInstant
    var addresses: [IPAddress] = []
  }

  /// The port that queries are sent from.
  package let port: UInt16
  private var queries: [Query] = []
  private var cache = MDNSCache()
  private var actions: [Action] = []
  /// The time of the oldest pending action.
  private var actionsSince: MonotonicInstant?
  /// The time at which a full burst of new queries is allowed again.
  private var burstIsAllowed: MonotonicInstant?
  private var generator: any RandomNumberGenerator & Sendable

  private static let maximumQueries = 32
  private static let maximumAddresses = 4
  /// The time in which the allowance grows by one query.
  private static let queryInterval = Duration.milliseconds(100)
  private static let maximumBurst = 50
  /// The times between transmissions.
  private static let intervals: [Duration] = [.milliseconds(250), .milliseconds(500), .seconds(1)]
  private static let timeout = Duration.seconds(3)
  private static let grace = Duration.milliseconds(20)

  /// - Parameter port: the port that the queries are sent from. From 5353 they have the id 0 and ask for multicast
  ///   responses; from another port they have random ids and ask for unicast responses (RFC 6762, 5.1, 5.4 and 6.7).
  package init(
    port: UInt16 = MDNSMessage.port, generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.port = port
    self.generator = generator
  }

  /// The time of the next `poll`, or nil when nothing is in progress.
  package var deadline: MonotonicInstant? {
    actionsSince ?? queries.map(\.deadline).min()
  }

  /// How many queries are in progress.
  package var queryCount: Int { queries.count }

  /// Starts a query, unless one for this name is in progress or the cache has its result.
  ///
  /// Each call is followed by `resolved` or `failed`; calls for the same name in progress have one result. Only names
  /// like those of browsers are queried (`MDNSName`).
  package mutating func resolve(_ text: String, now: MonotonicInstant) {
    guard let name = MDNSName(text) else {
      append(.failed(text), now: now)
      return
    }
    if queries.contains(where: { $0.name == name }) { return }
    if let addresses = cache.addresses(of: name, now: now) {
      append(Self.result(name, addresses), now: now)
    } else if queries.count < Self.maximumQueries, takeAllowance(now: now) {
      queries.append(Query(name: name, deadline: now, expiry: now + Self.timeout))
    } else {
      append(.failed(name.description), now: now)
    }
  }

  /// Processes a datagram that arrived at the socket. Queries, responses from other ports than 5353 (RFC 6762, 6) and
  /// addresses of names that were not asked for are ignored.
  package mutating func received(
    _ datagram: ByteBuffer, from source: TransportAddress, now: MonotonicInstant
  ) {
    guard !queries.isEmpty, source.port == MDNSMessage.port,
      let message = try? MDNSMessage(parsingResponse: datagram)
    else { return }
    for record in message.addressRecords where record.timeToLive > 0 && Self.isUsable(record.address) {
      guard source.ip.isLocal || source.ip == record.address,
        let index = queries.firstIndex(where: { $0.name.description == record.name }),
        queries[index].addresses.count < Self.maximumAddresses, !queries[index].addresses.contains(record.address)
      else { continue }
      if queries[index].addresses.isEmpty { queries[index].deadline = now + Self.grace }
      queries[index].addresses.append(record.address)
    }
  }

  /// Returns the actions that are due.
  package mutating func poll(now: MonotonicInstant) -> [Action] {
    for index in queries.indices where queries[index].deadline <= now { wake(index, now: now) }
    queries.removeAll { $0.deadline <= now }
    defer {
      actions = []
      actionsSince = nil
    }
    return actions
  }

  /// Sends a query again and sets its next deadline, or ends it and leaves its deadline in the past.
  private mutating func wake(_ index: Int, now: MonotonicInstant) {
    let query = queries[index]
    guard query.addresses.isEmpty, query.transmissions == 0 || now < query.expiry else {
      cache.store(query.addresses, for: query.name, now: now)
      actions.append(Self.result(query.name, query.addresses))
      return
    }
    if query.transmissions == 0 { queries[index].expiry = now + Self.timeout }
    let expiry = queries[index].expiry
    send(query.name)
    queries[index].deadline =
      query.transmissions < Self.intervals.count ? min(now + Self.intervals[query.transmissions], expiry) : expiry
    queries[index].transmissions += 1
  }

  private mutating func send(_ name: MDNSName) {
    let isOneShot = port != MDNSMessage.port
    for type in MDNSMessage.RecordType.allCases {
      let id: UInt16 = isOneShot ? .random(in: .min ... .max, using: &generator) : 0
      let query = MDNSMessage.query(for: name, type: type, id: id, wantsUnicastResponse: isOneShot)
      actions.append(.send(query, to: MDNSMessage.groupV4))
      actions.append(.send(query, to: MDNSMessage.groupV6))
    }
  }

  private mutating func append(_ action: Action, now: MonotonicInstant) {
    actions.append(action)
    if actionsSince == nil { actionsSince = now }
  }

  /// Returns whether a new query may start now, and counts it.
  private mutating func takeAllowance(now: MonotonicInstant) -> Bool {
    let taken = max(burstIsAllowed ?? now, now)
    guard taken - now <= Self.queryInterval * (Self.maximumBurst - 1) else { return false }
    burstIsAllowed = taken + Self.queryInterval
    return true
  }

  private static func result(_ name: MDNSName, _ addresses: [IPAddress]) -> Action {
    addresses.isEmpty ? .failed(name.description) : .resolved(name.description, addresses)
  }

  /// Whether a candidate may have this address: that of another machine, and without a scope.
  private static func isUsable(_ address: IPAddress) -> Bool {
    !address.isLoopback && TransportAddress(ip: address, port: MDNSMessage.port).isReachable
  }
}

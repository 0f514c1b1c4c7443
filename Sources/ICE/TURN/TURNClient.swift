package import Media
package import NIOCore

/// A TURN client (RFC 8656): one allocation on one server over UDP or over a stream (TCP, TLS).
///
/// A pure value without I/O or clock, like `ICEAgent`: bytes, calls and the time are inputs; `poll` returns what to do,
/// and `deadline` is the time of the next poll. Poll after every other call as well.
///
/// ```
///            ┌──────── pause, 0.5 s to 30 s ◄──────┐
///            ▼                                     │ no answer, an error that may pass
///  init ─► allocating ─────────────────────────────┴─► ended: a permanent error
///            ▲   └──► allocated ── leave ─► leaving ─► ended
///            └─ lost ─────┘
/// ```
///
/// - Liveness: when the server has sent nothing for 5 s, or for 2 s while the client sends data, the client refreshes
///   the allocation. Without an answer within 5 s (10 s on a stream), or with error 437, the allocation is lost. The
///   client allocates again after 0.5 s, then after pauses of at most 4 s for 5 minutes, then of at most 30 s. So it
///   is back within 8 s of a server's restart, and within 4 s while media flows.
/// - Permissions are created for each peer that is sent to and refreshed while it is used. A channel is bound when
///   media flows to a peer; before that, data is in Send indications.
/// - A response to an authenticated request must be authentic. An error response may lack MESSAGE-INTEGRITY, as those
///   of some servers do: who can forge it can read the request, and could drop the response as well. A server that
///   asks for no credentials is used without.
///
/// Limits: 256 peers, 256 permissions, 4 datagrams waiting for each permission, 3 alternate servers, 4 challenges (401,
/// 438) in a row for a request, 16 requests in progress.
///
/// Left out on purpose: USERHASH, EVEN-PORT, RESERVATION-TOKEN, DONT-FRAGMENT, TCP allocations (RFC 6062), mobility
/// (RFC 8016), ICMP attributes, DNS (the caller resolves names).
package struct TURNClient: Sendable {
  package enum Transport: Sendable, Hashable {
    case udp
    /// TCP or TLS.
    case stream
  }

  /// The families of the relayed addresses.
  package enum Families: Sendable, Hashable {
    case v4
    case v6
    /// IPv4, and IPv6 if the server has it.
    case both
  }

  /// What the server has granted.
  package struct Allocation: Sendable, Hashable {
    /// One address, or with `Families.both` one or two.
    package let relayed: [TransportAddress]
    /// The client's address as the server sees it.
    package let mapped: TransportAddress
    package let lifetime: Duration
  }

  package enum Action: Sendable, Hashable {
    /// Must be sent to `server`: one datagram, or bytes of the stream.
    case send(ByteBuffer)
    /// The caller must open a new socket or connection to this server, close the former, and send from it what follows.
    case connect(to: TransportAddress)
    /// A new allocation. Reported again after each loss, mostly with other addresses.
    case allocated(Allocation)
    /// Data from a peer.
    case received(ByteBuffer, from: TransportAddress)
    /// The server refuses a permission for this address; other peers are not affected.
    case peerRefused(IPAddress, code: Int)
    /// No allocation. The client tries again unless `isPermanent`. A repetition of the same failure is not reported.
    case failed(TURNFailure)
    /// The allocation is gone; the client allocates again.
    case lost(TURNLoss)
    /// The allocation has ended after `leave`.
    case ended
  }

  enum State: Sendable, Hashable {
    /// The client allocates at this time.
    case paused(until: MonotonicInstant)
    case allocating
    case allocated
    case leaving
    case ended
  }

  /// The part of the client that exists while the server has the allocation.
  struct Lease: Sendable {
    let allocation: Allocation
    let since: MonotonicInstant
    /// The time of the next ordinary Refresh request.
    var refreshAt: MonotonicInstant
    /// The time of the last message from the server.
    var lastHeard: MonotonicInstant
    /// The time of the last datagram that was sent to a peer.
    var lastSent: MonotonicInstant

    /// When the silence of the server is long enough to ask it.
    var keepaliveAt: MonotonicInstant {
      lastHeard + (lastSent > lastHeard ? TURNTiming.activeKeepalive : TURNTiming.keepalive)
    }
  }

  static let maximumPeers = 256
  static let maximumAlternates = 3
  static let maximumChallenges = 4
  static let maximumTransactions = 16
  /// Addresses in one CreatePermission request.
  static let maximumAddresses = 16
  /// A limit on unpolled actions; it is reached only if the caller stops polling.
  static let maximumActions = 8_192
  /// The longest payload: a datagram of 65,507 bytes minus the header and attributes of a Send indication for IPv6.
  package static let maximumPayload = 65_400

  package let transport: Transport
  package let families: Families
  /// The server to which requests are sent now: the first one or an alternate one.
  package internal(set) var server: TransportAddress
  package internal(set) var statistics = TURNStatistics()

  /// The prefix by which an alternate server with an IPv4 address is reached, if this machine has only IPv6.
  package var nat64: NAT64Prefix?

  let firstServer: TransportAddress
  let credentials: TURNCredentials
  let software: String?
  var generator: any RandomNumberGenerator & Sendable

  var state: State
  var authentication: TURNAuthentication
  var lease: Lease?
  var transactions: [STUNTransactionID: TURNTransaction] = [:]
  var splitter = TURNStreamSplitter()

  // The current attempt to allocate.
  /// The servers that were asked in this attempt.
  var askedServers: [TransportAddress] = []
  /// How often 437 has answered this attempt.
  var mismatches = 0

  // The failures so far.
  var pause = TURNTiming.firstPause
  var lostAt: MonotonicInstant?
  var lastFailure: TURNFailure?
  /// Whether the caller must open a new connection before the next attempt.
  var needsConnection = false

  var peers: [TransportAddress: TURNPeer] = [:]
  var permissions: [IPAddress: TURNPermission] = [:]
  /// The peers of all channel numbers that are assigned.
  var channels: [UInt16: TransportAddress] = [:]
  var nextChannel = TURNChannelData.channels.lowerBound

  var actions: [Action] = []
  /// The time of the oldest unpolled action or of an input that may change the deadline.
  var wake: MonotonicInstant?
  /// The earliest time at which something is due, computed by the last poll.
  var nextDue: MonotonicInstant?

  /// Creates a client; the first poll requests an allocation. The caller has opened a socket or opens a connection to
  /// the server, and holds back what is sent until it is open.
  ///
  /// - Parameters:
  ///   - server: a resolved address.
  ///   - software: the text of SOFTWARE, at most 128 characters; nil leaves it out.
  package init(
    server: TransportAddress, transport: Transport, credentials: TURNCredentials, families: Families = .v4,
    software: String? = nil, now: MonotonicInstant,
    generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.server = server
    firstServer = server
    self.transport = transport
    self.credentials = credentials
    self.families = families
    self.software = software.map { String($0.prefix(128)) }
    self.generator = generator
    authentication = TURNAuthentication(credentials: credentials)
    state = .paused(until: now)
    wake = now
  }

  /// The present allocation, or nil.
  package var allocation: Allocation? { lease?.allocation }

  /// Whether nothing more will be sent: after `leave` or after a permanent failure.
  package var hasEnded: Bool { state == .ended }

  /// The time of the next `poll`, or nil when nothing is due any more.
  package var deadline: MonotonicInstant? { wake ?? nextDue }

  /// Whether a response with this transaction id answers a request of this client.
  package func owns(transactionID: STUNTransactionID) -> Bool { transactions[transactionID] != nil }

  /// Returns the actions that are due. Without due timers this does no more than that.
  package mutating func poll(now: MonotonicInstant) -> [Action] {
    if needsAdvance || nextDue.map({ $0 <= now }) ?? false {
      needsAdvance = false
      advance(now: now)
      nextDue = nextDeadline(now: now)
    }
    defer {
      actions = []
      wake = nil
    }
    return actions
  }

  /// Whether an input may have changed what is due.
  var needsAdvance = true

  /// Makes the next poll compute what is due.
  mutating func scheduleAdvance(now: MonotonicInstant) {
    needsAdvance = true
    wake = wake ?? now
  }

  mutating func emit(_ action: Action, now: MonotonicInstant) {
    guard actions.count < Self.maximumActions else {
      statistics.actionsDropped += 1
      return
    }
    actions.append(action)
    if wake == nil { wake = now }
  }

  private mutating func advance(now: MonotonicInstant) {
    advanceTransactions(now: now)
    if case .paused(let until) = state, until <= now { startAttempt(now: now) }
    guard state == .allocated else { return }
    refreshIfDue(now: now)
    advancePermissions(now: now)
    advanceChannels(now: now)
  }

  private func nextDeadline(now: MonotonicInstant) -> MonotonicInstant? {
    var earliest = transactions.values.map(\.deadline).min()
    func consider(_ time: MonotonicInstant?) {
      guard let time else { return }
      earliest = min(earliest ?? time, time)
    }
    if case .paused(let until) = state { consider(until) }
    guard state == .allocated, let lease else { return earliest }
    if !isRefreshing {
      consider(min(lease.refreshAt, lease.keepaliveAt))
      // Sending does not compute the deadline anew, so that it is cheap.
      if now - lease.lastSent < TURNTiming.keepalive { consider(now + TURNTiming.activeKeepalive) }
    }
    // At the limit of requests, the next response or timeout continues.
    let hasRoom = transactions.count < Self.maximumTransactions
    for permission in permissions.values {
      if hasRoom { consider(permission.nextRequest) }
      consider(permission.expiry)
    }
    for peer in peers.values {
      guard let channel = peer.channel else { continue }
      if hasRoom { consider(channel.nextRequest) }
    }
    return earliest
  }
}

internal import ICE
internal import Logging
internal import Media
internal import NIOCore
internal import TLS

/// The allocations of a driver on TURN servers: one for each server. All participants share them.
///
/// The credentials of an allocation cannot change (RFC 8656, 5: error 441). With new credentials for a server there is a
/// second allocation, and when it is granted the first is retired: calls move to the second, and the first is given up when
/// none uses it any more, or when the server refuses to refresh it.
///
/// It belongs to the driver's event loop.
final class RelaySet {
  private var relays: [Relay] = []
  private var byAddress: [TransportAddress: Relay] = [:]
  private var bySocket: [Int32: Relay] = [:]
  private let loop: any EventLoop
  private let configuration: Peer.Configuration
  private let log: Logger
  /// Called for each new UDP socket, and before one is closed.
  private let opened: (DatagramSocket) -> Void
  private let closing: (DatagramSocket) -> Void
  /// Called after bytes of a stream were processed.
  private let streamWasRead: () -> Void
  private var tls: TLSContext?

  /// How many servers are used.
  private static let maximumServers = 16
  /// How many retired allocations are kept.
  private static let maximumRetired = 16
  /// How often it is checked whether calls still use retired allocations, and how long one must be unused: late datagrams
  /// may arrive there.
  private static let releaseInterval = Duration.seconds(1)
  private static let releaseDelay = Duration.seconds(5)
  /// After how long calls that still use one are asked again to move: the offer may have been lost.
  private static let moveInterval = Duration.seconds(30)
  /// When that is checked next; nil if there are none.
  private var releaseDue: MonotonicInstant?

  init(
    _ configuration: Peer.Configuration, on loop: any EventLoop, log: Logger,
    opened: @escaping (DatagramSocket) -> Void, closing: @escaping (DatagramSocket) -> Void,
    streamWasRead: @escaping () -> Void
  ) {
    self.configuration = configuration
    self.loop = loop
    self.log = log
    self.opened = opened
    self.closing = closing
    self.streamWasRead = streamWasRead
  }

  /// Whether a server has neither granted nor refused an allocation.
  var isGathering: Bool { relays.contains { !$0.hasResult } }

  var isEmpty: Bool { relays.isEmpty }

  var sockets: [DatagramSocket] { relays.compactMap(\.socket) }

  /// The time of the next ``poll(now:_:)`` or ``release(now:isUsed:_:)``.
  var deadline: MonotonicInstant? {
    let next = relays.lazy.compactMap(\.deadline).min()
    guard let releaseDue else { return next }
    return next.map { min($0, releaseDue) } ?? releaseDue
  }

  /// Why no server relays to us, by server; nil if one does, or if all may still answer.
  var failure: String? {
    guard relays.allSatisfy(\.addresses.isEmpty) else { return nil }
    let failures = relays.compactMap { relay in relay.failure.map { "\(relay.server.url): \($0)" } }
    return failures.isEmpty ? nil : failures.joined(separator: " ")
  }

  /// How servers can be reached.
  struct Reach {
    /// Our addresses.
    var sources: Set<IPAddress>
    /// The prefix by which servers with only IPv4 are reached.
    var nat64: NAT64Prefix?
    /// Whether that prefix is being looked up.
    var isUnknown: Bool

    /// Loopback addresses count only if there are no others.
    var families: Set<IPAddress.Family> {
      let remote = sources.filter { !$0.isLoopback }
      return Set((remote.isEmpty ? sources : remote).map(\.family))
    }

    /// Returns the address to use: one of our families, or one that stands for an IPv4 address; nil if it is not known yet.
    func address(of server: TURNServer) -> TransportAddress? {
      if let address = server.addresses.first(where: { families.contains($0.family) }) { return address }
      if let address = server.addresses.lazy.compactMap({ nat64?.synthesized(from: $0) }).first { return address }
      return isUnknown ? nil : server.addresses.first
    }

    /// Whether a server cannot be reached any more at its address or from ours.
    func isCutOff(_ relay: Relay) -> Bool {
      if !families.contains(relay.address.family) { return true }
      return relay.source.map { !$0.isUnspecified && !sources.contains($0) } ?? false
    }
  }

  /// Requests an allocation on each server that is new or has new credentials. One that was asked at another address and has
  /// granted nothing, or cannot be reached there or from our address any more, is asked again.
  func use(_ servers: [TURNServer], _ reach: Reach, now: MonotonicInstant, _ handle: (RelayEvent) -> Void) {
    for server in servers {
      guard let address = reach.address(of: server) else { continue }
      for former in relays where former.server.url == server.url && !former.isRetired {
        if reach.isCutOff(former) || former.address != address && former.addresses.isEmpty {
          release(former, now: now, handle)
        }
      }
      let former = relays.filter { $0.server.url == server.url && !$0.isRetired }
      guard former.allSatisfy({ $0.isReplaced(by: server, now: now) }) else { continue }
      for relay in former where relay.addresses.isEmpty { close(relay, now: now) }
      if Set(relays.map(\.server.url)).union([server.url]).count > Self.maximumServers {
        guard let useless = relays.first(where: { $0.addresses.isEmpty && $0.hasResult }) else { continue }
        close(useless, now: now)
      }
      let relay = Relay(to: server, at: address, nat64: reach.nat64, in: context, log: log)
      relays.append(relay)
      relay.open()
    }
  }

  private var context: Relay.Context {
    Relay.Context(
      loop: loop, source: { [configuration] in configuration.source(of: $0) },
      tls: { [unowned self] in try tlsContext() },
      opened: { [unowned self] socket, relay in
        bySocket[socket.descriptor] = relay
        opened(socket)
      },
      closing: { [unowned self] socket in
        bySocket[socket.descriptor] = nil
        closing(socket)
      },
      streamWasRead: { [unowned self] _ in streamWasRead() })
  }

  private func tlsContext() throws -> TLSContext {
    if let tls { return tls }
    let made = try TLSContext(trusting: configuration.caCertificate.map { .file($0) } ?? .system)
    tls = made
    return made
  }

  // MARK: Data

  /// Reads the datagrams of a UDP socket to a server; nil if it is none.
  ///
  /// - Returns: whether more datagrams may be queued.
  func receive(at descriptor: Int32, _ handle: (RelayEvent, MonotonicInstant) -> Void) -> Bool? {
    guard let relay = bySocket[descriptor], let socket = relay.socket else { return nil }
    return socket.receive { datagram, source, arrival in
      guard relay.received(datagram, from: source, now: arrival) else { return }
      poll(relay, now: arrival) { handle($0, arrival) }
    }
  }

  /// Sends a datagram from a relayed address with the next ``poll(now:_:)``; does nothing if there is no such address.
  func send(
    _ datagram: ByteBuffer, from local: TransportAddress, to remote: TransportAddress, now: MonotonicInstant
  ) {
    byAddress[local]?.send(datagram, to: remote, now: now)
  }

  /// Sends what is due, and passes on what the driver must do.
  func poll(now: MonotonicInstant, _ handle: (RelayEvent) -> Void) {
    for relay in relays { poll(relay, now: now, handle) }
    retireReplaced(now: now, handle)
  }

  private func poll(_ relay: Relay, now: MonotonicInstant, _ handle: (RelayEvent) -> Void) {
    relay.poll(now: now) { event in
      switch event {
      case .added(let relayed): byAddress[relayed.address] = relay
      case .removed(let address): byAddress[address] = nil
      case .received, .retired, .resultChanged: break
      }
      handle(event)
    }
  }

  // MARK: Replaced allocations

  /// Retires the former allocations on the servers of those that have just been granted, and forgets retired ones that the
  /// server has ended.
  private func retireReplaced(now: MonotonicInstant, _ handle: (RelayEvent) -> Void) {
    for relay in relays where relay.isNewlyGranted {
      relay.isNewlyGranted = false
      for former in relays
      where !former.isRetired && former.server.url == relay.server.url && former.created < relay.created {
        former.isRetired = true
        former.moveRequested = now
        log.debug("TURN server relays with new credentials", metadata: ["server": "\(relay.server.url)"])
        for address in former.addresses { handle(.retired(address)) }
      }
    }
    for relay in relays where relay.isRetired && relay.addresses.isEmpty { close(relay, now: now) }
    guard relays.contains(where: \.isRetired) else { return }
    let retired = relays.filter(\.isRetired)
    for oldest in retired.dropLast(Self.maximumRetired) { release(oldest, now: now, handle) }
    if releaseDue == nil { releaseDue = now + Self.releaseInterval }
  }

  /// Gives up the retired allocations that no call has used for a while.
  func release(
    now: MonotonicInstant, isUsed: (TransportAddress) -> Bool, _ handle: (RelayEvent) -> Void
  ) {
    guard let due = releaseDue, due <= now else { return }
    for relay in relays where relay.isRetired {
      guard !relay.addresses.contains(where: isUsed) else {
        relay.unusedSince = nil
        if let requested = relay.moveRequested, now - requested >= Self.moveInterval {
          relay.moveRequested = now
          for address in relay.addresses { handle(.retired(address)) }
        }
        continue
      }
      let since = relay.unusedSince ?? now
      relay.unusedSince = since
      if now - since >= Self.releaseDelay { release(relay, now: now, handle) }
    }
    releaseDue = relays.contains(where: \.isRetired) ? now + Self.releaseInterval : nil
  }

  private func release(_ relay: Relay, now: MonotonicInstant, _ handle: (RelayEvent) -> Void) {
    for address in relay.addresses {
      byAddress[address] = nil
      handle(.removed(address))
    }
    close(relay, now: now)
  }

  private func close(_ relay: Relay, now: MonotonicInstant) {
    relay.close(now: now)
    relays.removeAll { $0 === relay }
  }

  /// Frees all allocations.
  func close() {
    for relay in relays { relay.close(now: .now) }
    relays = []
    byAddress = [:]
    bySocket = [:]
  }
}

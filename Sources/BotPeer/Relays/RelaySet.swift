internal import ICE
internal import Logging
internal import Media
internal import NIOCore
internal import NIOSSL

/// The allocations of a driver on TURN servers: one for each server. All participants share them.
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
  private var tls: NIOSSLContext?

  /// How many servers are used.
  private static let maximumServers = 16

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

  /// The time of the next ``poll(now:_:)``.
  var deadline: ContinuousClock.Instant? { relays.lazy.compactMap(\.deadline).min() }

  /// Requests an allocation on each server that is new and has an address of one of these families.
  func use(_ servers: [TURNServer], families: Set<IPAddress.Family>) {
    for server in servers where relays.count < Self.maximumServers {
      guard !relays.contains(where: { $0.server.url == server.url }),
        let address = server.addresses.first(where: { families.contains($0.family) }) ?? server.addresses.first
      else { continue }
      let relay = Relay(to: server, at: address, in: context, log: log)
      relays.append(relay)
      relay.open()
    }
  }

  private var context: Relay.Context {
    Relay.Context(
      loop: loop, bindAddresses: configuration.bindAddresses.compactMap { IPAddress($0) }.filter { !$0.isUnspecified },
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

  private func tlsContext() throws -> NIOSSLContext {
    if let tls { return tls }
    var settings = TLSConfiguration.makeClientConfiguration()
    settings.minimumTLSVersion = .tlsv12
    if let file = configuration.caCertificate { settings.trustRoots = .file(file) }
    let made = try NIOSSLContext(configuration: settings)
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
      relay.received(datagram, from: source, now: arrival.instant)
      poll(relay, now: arrival.instant) { handle($0, arrival) }
    }
  }

  /// Sends a datagram from a relayed address with the next ``poll(now:_:)``; does nothing if there is no such address.
  func send(
    _ datagram: ByteBuffer, from local: TransportAddress, to remote: TransportAddress, now: ContinuousClock.Instant
  ) {
    byAddress[local]?.send(datagram, to: remote, now: now)
  }

  /// Sends what is due, and passes on what the driver must do.
  func poll(now: ContinuousClock.Instant, _ handle: (RelayEvent) -> Void) {
    for relay in relays { poll(relay, now: now, handle) }
  }

  private func poll(_ relay: Relay, now: ContinuousClock.Instant, _ handle: (RelayEvent) -> Void) {
    relay.poll(now: now) { event in
      switch event {
      case .added(let relayed): byAddress[relayed.address] = relay
      case .removed(let address): byAddress[address] = nil
      case .received: break
      }
      handle(event)
    }
  }

  /// Frees all allocations.
  func close() {
    for relay in relays { relay.close(now: .now) }
    relays = []
    byAddress = [:]
    bySocket = [:]
  }
}

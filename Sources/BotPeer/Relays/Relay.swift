internal import ICE
internal import Logging
internal import Media
internal import NIOCore
internal import TLS

/// The allocation on one TURN server, over UDP, TCP or TLS (RFC 8656).
///
/// It belongs to the event loop of a driver. It carries out what ``TURNClient`` decides.
final class Relay {
  /// How the server is reached.
  private enum Link {
    case datagrams(DatagramSocket)
    case stream(RelayStream)
    /// The socket could not be opened.
    case none
  }

  let server: TURNServer
  /// The address of the server that is asked first.
  let address: TransportAddress
  /// The local address that it is bound to; nil if the system chooses.
  private(set) var source: IPAddress?
  /// The relayed addresses that the server has granted.
  private(set) var addresses: [TransportAddress] = []
  let created = MonotonicInstant.now
  /// Whether another allocation with newer credentials replaces this one, which only serves the calls that use it.
  var isRetired = false
  /// When calls were last asked to move from it to another one.
  var moveRequested: MonotonicInstant?
  /// Whether the server has granted it since this was last reset.
  var isNewlyGranted = false
  /// Since when no call uses it although it is retired.
  var unusedSince: MonotonicInstant?
  /// Why there is no allocation; nil while there is one and before the first result.
  private(set) var failure: String?
  /// Whether the server has granted or refused an allocation.
  private(set) var hasResult = false
  private var client: TURNClient
  private var link = Link.none
  private let context: Context
  private let log: Logger

  /// What all relays of a driver share.
  struct Context {
    let loop: any EventLoop
    /// Returns the local address to reach a server of a family from, and its interface; each nil where the system chooses, and
    /// nil if there is no such address.
    let source: (IPAddress.Family) -> (ip: IPAddress?, interface: String?)?
    /// Creates the TLS context when it is needed for the first time.
    let tls: () throws -> TLSContext
    /// Called on the loop for each new UDP socket, and before one is closed.
    let opened: (DatagramSocket, Relay) -> Void
    let closing: (DatagramSocket) -> Void
    /// Called on the loop after bytes of a stream were processed.
    let streamWasRead: (Relay) -> Void
  }

  init(
    to server: TURNServer, at address: TransportAddress, nat64: NAT64Prefix?, in context: Context, log: Logger
  ) {
    self.server = server
    self.address = address
    self.context = context
    self.log = log
    client = TURNClient(
      server: address, transport: server.url.transport == .udp ? .udp : .stream, credentials: server.credentials,
      families: .both, now: .now)
    client.nat64 = nat64
  }

  /// The UDP socket to the server, if it is used.
  var socket: DatagramSocket? { if case .datagrams(let socket) = link { socket } else { nil } }

  var deadline: MonotonicInstant? { client.deadline }

  func open() { connect(to: client.server) }

  private func connect(to address: TransportAddress) {
    closeLink()
    guard let own = context.source(address.family) else {
      log.warning("no address to reach the TURN server from", metadata: ["server": "\(server.url)"])
      client.closed(now: .now)
      return
    }
    source = own.ip
    if server.url.transport == .udp {
      do {
        let any: IPAddress = address.family == .v4 ? .v4(0) : .v6(high: 0, low: 0)
        let socket = try DatagramSocket(ip: own.ip ?? any, port: 0, interface: own.interface)
        link = .datagrams(socket)
        context.opened(socket, self)
      } catch {
        log.warning("no UDP socket to the TURN server", metadata: ["server": "\(server.url)", "reason": "\(error)"])
      }
      return
    }
    do {
      let tls =
        (server.url.transport == .tls)
        ? RelayStream.Security(context: try context.tls(), host: server.url.host) : nil
      link = .stream(
        RelayStream(to: address, from: own.ip, interface: own.interface, tls: tls, on: context.loop) {
          [weak self] event in self?.received(event)
        })
    } catch {
      log.warning("TLS cannot be used", metadata: ["server": "\(server.url)", "reason": "\(error)"])
      client.closed(now: .now)
    }
  }

  /// Whether an allocation with the credentials of `other` must replace this one.
  func isReplaced(by other: TURNServer, now: MonotonicInstant) -> Bool {
    if server.credentials == other.credentials { return false }
    if server.isAssigned != other.isAssigned { return server.isAssigned }
    // A signalling system may name them several times while a call begins.
    return !other.isAssigned || now - created >= Self.minimumAge
  }

  private static let minimumAge = Duration.seconds(10)

  private func closeLink() {
    switch link {
    case .datagrams(let socket):
      context.closing(socket)
      socket.flush()
      socket.close()
    case .stream(let stream): stream.close()
    case .none: break
    }
    link = .none
  }

  /// Frees the allocation and closes the connection to the server.
  func close(now: MonotonicInstant) {
    client.leave(now: now)
    for action in client.poll(now: now) { if case .send(let bytes) = action { write(bytes) } }
    closeLink()
  }

  // MARK: Data

  /// Sends a datagram from our relayed address to a peer, with the next ``poll(now:_:)``.
  func send(_ datagram: ByteBuffer, to peer: TransportAddress, now: MonotonicInstant) {
    client.send(datagram, to: peer, now: now)
  }

  /// Processes a datagram of the server's; returns whether it was one.
  func received(_ datagram: ByteBuffer, from source: TransportAddress, now: MonotonicInstant) -> Bool {
    guard source == client.server else { return false }
    client.received(datagram, now: now)
    return true
  }

  private func received(_ event: RelayStream.Event) {
    switch event {
    case .bytes(let bytes): client.received(stream: bytes, now: .now)
    case .closed(let problem): client.closed(because: problem, now: .now)
    }
    context.streamWasRead(self)
  }

  /// Sends what is due, and passes on what the driver must do.
  func poll(now: MonotonicInstant, _ handle: (RelayEvent) -> Void) {
    for action in client.poll(now: now) {
      switch action {
      case .send(let bytes): write(bytes)
      case .connect(let address): connect(to: address)
      case .received(let datagram, let peer):
        guard let address = addresses.first(where: { $0.family == peer.family }) else { break }
        handle(.received(datagram, from: peer, at: address))
      case .allocated(let allocation):
        remove(handle)
        hasResult = true
        addresses = allocation.relayed
        failure = nil
        handle(.resultChanged)
        isNewlyGranted = true
        log.debug(
          "TURN server relays",
          metadata: ["server": "\(server.url)", "address": "\(addresses.map(\.description).joined(separator: " "))"])
        for address in addresses {
          handle(
            .added(
              RelayedAddress(
                address: address, mapped: allocation.mapped, server: client.server, preference: preference)))
        }
      case .failed(let failure):
        hasResult = true
        self.failure = "\(failure)"
        handle(.resultChanged)
        log.warning("\(failure)", metadata: ["server": "\(server.url)"])
      case .lost(let loss):
        remove(handle)
        failure = "\(loss)"
        handle(.resultChanged)
        if isRetired {
          log.debug("The replaced address of the TURN server ended: \(loss)", metadata: ["server": "\(server.url)"])
          break
        }
        log.warning("\(loss) A new address is requested.", metadata: ["server": "\(server.url)"])
      case .peerRefused(let address, let code):
        log.debug(
          "TURN server refuses a peer",
          metadata: ["server": "\(server.url)", "peer": "\(address)", "code": "\(code)"])
      case .ended: break
      }
    }
    socket?.flush()
  }

  private func remove(_ handle: (RelayEvent) -> Void) {
    for address in addresses { handle(.removed(address)) }
    addresses = []
  }

  /// Datagrams are not delayed by lost ones, and TLS costs more than TCP.
  private var preference: UInt16 {
    if server.url.transport == .udp { return 300 }
    return (server.url.transport == .tls) ? 100 : 200
  }

  private func write(_ bytes: ByteBuffer) {
    switch link {
    case .datagrams(let socket): socket.write(bytes, to: client.server)
    case .stream(let stream): stream.write(bytes)
    case .none: break
    }
  }
}

/// What a driver must do for a relay.
enum RelayEvent {
  case added(RelayedAddress)
  case removed(TransportAddress)
  /// Another address replaces it; it still works.
  case retired(TransportAddress)
  /// The server has granted, refused or ended an allocation.
  case resultChanged
  /// A datagram of a peer that was sent to the relayed address `at`.
  case received(ByteBuffer, from: TransportAddress, at: TransportAddress)
}

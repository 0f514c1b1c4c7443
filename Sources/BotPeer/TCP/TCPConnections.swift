internal import Glibc
internal import ICE
internal import Logging
internal import Media
internal import NIOCore
internal import NIOPosix

/// The TCP sockets of a driver: those that accept connections, and all connections (RFC 6544).
///
/// It belongs to the driver's event loop. A connection that was accepted is unauthenticated until the ICE agent has verified a
/// check on it; the number of such connections, their time and what they may send are limited. What arrives on all
/// connections is shared out by a ``ReadBudget``.
final class TCPConnections {
  /// What happens to connections, on the loop.
  struct Handlers {
    /// Receives each datagram.
    let received: (inout ByteBuffer, TCPConnection) -> Void
    /// Whether a datagram is an ICE check for one of our connections; its password is not verified.
    let isCheck: (ByteBuffer) -> Bool
    /// The participant whose check, with the right password, has arrived on a connection.
    let participant: (TCPConnection) -> ParticipantID?
    /// Called after the datagrams of one read.
    let readEnded: () -> Void
    /// Called when a connection was not established or has ended, but not after ``close()``.
    let closed: (TCPConnection) -> Void
  }

  /// Identifies a connection. Two participants may have the same remote address, that of a media server, but each needs
  /// connections of their own.
  private struct Key: Hashable {
    let opener: ParticipantID?
    let local: TransportAddress
    let remote: TransportAddress
  }

  let loop: any EventLoop
  private let log: Logger
  let handlers: Handlers
  /// The interface that the sockets of an address are bound to; none for those that are not here.
  private var interfaces: [IPAddress: String] = [:]
  private var listeners: [TransportAddress: ListeningSocket] = [:]
  private var connections: [Key: TCPConnection] = [:]
  private var unflushed: [TCPConnection] = []
  private(set) var isClosed = false
  /// What is left of the current turn, and the connections that wait for the next.
  var budget = ReadBudget()
  var waiting = CircularBuffer<TCPConnection>()
  var isTurnScheduled = false

  /// How many connections may be open at once, and how many of them with one participant.
  static let maximumConnections = 2_048
  static let maximumForParticipant = 16
  /// How many accepted connections may wait for a valid check, how many of them from one address or IPv6 /64, and how long each waits.
  static let maximumUnauthenticated = 128
  static let maximumUnauthenticatedOfAddress = 32
  static let authenticationTimeout = TimeAmount.seconds(5)
  /// How long an emulated network may hold the last datagrams of a call.
  private static let maximumEmulatedDelay = TimeAmount.seconds(3)

  init(on loop: any EventLoop, log: Logger, _ handlers: Handlers) {
    self.loop = loop
    self.log = log
    self.handlers = handlers
  }

  // MARK: Accepting

  /// Accepts connections at an address.
  ///
  /// - Parameter interface: the only interface that connections from this address may use; nil for all.
  /// - Returns: the address with its port.
  func listen(
    at ip: IPAddress, port: UInt16, interface: String?
  ) throws(DatagramSocket.Failure) -> TransportAddress {
    interfaces[ip] = interface
    let bound = NIOLoopBound(self, eventLoop: loop)
    let listener = try ListeningSocket(ip: ip, port: port, interface: interface, on: loop) { channel in
      channel.eventLoop.makeCompletedFuture { try bound.value.accept(channel) }
    }
    listeners[listener.address] = listener
    return listener.address
  }

  /// Takes an accepted connection, on the loop.
  func accept(_ channel: any Channel) throws {
    guard var local = channel.localAddress.flatMap(TransportAddress.init),
      var remote = channel.remoteAddress.flatMap(TransportAddress.init), mayAccept(from: remote.ip)
    else { throw Refusal() }
    local.transport = .tcp
    remote.transport = .tcp
    let connection = TCPConnection(local: local, remote: remote, openedFor: nil)
    try channel.pipeline.syncOperations.addHandler(handler(for: connection))
    connections[key(of: connection)] = connection
    connection.established(channel)
    let bound = NIOLoopBound((self, connection), eventLoop: loop)
    loop.scheduleTask(in: Self.authenticationTimeout) {
      let (connections, connection) = bound.value
      if connection.owner == nil { connections.forget(connection) }
    }
  }

  private struct Refusal: Error {}

  private func mayAccept(from ip: IPAddress) -> Bool {
    let unauthenticated = connections.values.filter { $0.owner == nil }
    return connections.count < Self.maximumConnections && unauthenticated.count < Self.maximumUnauthenticated
      && unauthenticated.count { $0.sender == .stranger(at: ip) } < Self.maximumUnauthenticatedOfAddress
  }

  /// Stops accepting at an address that is gone, and ends the connections from it.
  ///
  /// - Returns: the local addresses that the ICE agents must forget.
  func remove(_ ip: IPAddress) -> [TransportAddress] {
    interfaces[ip] = nil
    let removed = listeners.keys.filter { $0.ip == ip }
    for address in removed { listeners.removeValue(forKey: address)?.close() }
    for connection in connections.values where connection.local.ip == ip { forget(connection) }
    return removed + [.activeTCP(ip)]
  }

  // MARK: Sending

  /// Sends a datagram to a participant with the next ``flush()``. From a port of ours it goes to a connection that was
  /// accepted there; from the port 9 a connection is opened if there is none and `mayOpen` is set.
  func send(
    _ datagram: ByteBuffer, from local: TransportAddress, to remote: TransportAddress, of participant: ParticipantID,
    mayOpen: Bool
  ) {
    let opener = local.isActiveTCP ? participant : nil
    guard
      let connection = connections[Key(opener: opener, local: local, remote: remote)]
        ?? (mayOpen ? opener.flatMap { open(from: local, to: remote, for: $0) } : nil)
    else { return }
    guard authenticate(connection, as: participant) else { return }
    // A new call with the participant may take the same path.
    if mayOpen { connection.isUnused = false }
    connection.write(datagram)
    unflushed.append(connection)
  }

  /// Notes who is at the other end, unless it is known; returns false if the connection is closed because they have too many.
  func authenticate(_ connection: TCPConnection, as participant: ParticipantID) -> Bool {
    if connection.owner != nil { return true }
    guard makeCapacity(for: participant) else {
      forget(connection)
      return false
    }
    connection.authenticated(as: participant)
    return true
  }

  private func hasCapacity(for participant: ParticipantID) -> Bool {
    connections.values.count { $0.owner == participant } < Self.maximumForParticipant
  }

  /// Ends the accepted connection of a participant that has been silent longest if they have too many: a device that changes
  /// its network leaves connections that never end.
  private func makeCapacity(for participant: ParticipantID) -> Bool {
    if hasCapacity(for: participant) { return true }
    let accepted = connections.values.filter { $0.owner == participant && $0.opener == nil }
    guard let silent = accepted.min(by: { $0.lastRead < $1.lastRead }) else { return false }
    end(silent)
    return true
  }

  private func open(
    from local: TransportAddress, to remote: TransportAddress, for participant: ParticipantID
  ) -> TCPConnection? {
    guard connections.count < Self.maximumConnections, hasCapacity(for: participant),
      let own = try? SocketAddress(ipAddress: local.ip.description, port: 0),
      let peer = try? SocketAddress(ipAddress: remote.ip.description, port: Int(remote.port))
    else {
      report(TCPConnection(local: local, remote: remote, openedFor: participant))
      return nil
    }
    let connection = TCPConnection(local: local, remote: remote, openedFor: participant)
    connections[key(of: connection)] = connection
    let bound = NIOLoopBound((self, connection), eventLoop: loop)
    let interface = interfaces[local.ip].map(InterfaceName.init)
    ClientBootstrap(group: loop)
      .connectTimeout(TCPConnection.connectTimeout)
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelOption(.writeBufferWaterMark, value: TCPConnection.watermark)
      .channelOption(.maxMessagesPerRead, value: 1)
      .channelOption(.recvAllocator, value: TCPConnection.readAllocator)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let interface, let socket = channel as? any SocketOptionProvider {
            _ = socket.unsafeSetSocketOption(
              level: .init(SOL_SOCKET), name: .init(SO_BINDTODEVICE), value: interface)
          }
          let (connections, connection) = bound.value
          try channel.pipeline.syncOperations.addHandler(connections.handler(for: connection))
        }
      }
      .bind(to: own)
      .connect(to: peer)
      .assumeIsolated()
      .whenComplete { [weak self] result in
        switch result {
        case .success(let channel): connection.established(channel)
        case .failure(let error):
          self?.log.debug("no TCP connection", metadata: ["remote": "\(remote)", "reason": "\(error)"])
          self?.end(connection)
        }
      }
    return connection
  }

  /// Passes what was written to the kernel.
  func flush() {
    for connection in unflushed { connection.flush() }
    unflushed.removeAll(keepingCapacity: true)
  }

  // MARK: Ending

  /// Closes the connections with a participant.
  ///
  /// - Parameter isDelayed: whether an emulated network still holds what the participant is sent last.
  func close(_ participant: ParticipantID, isDelayed: Bool) {
    let ended = connections.values.filter { $0.owner == participant }
    guard isDelayed else { return ended.forEach(forget) }
    for connection in ended { connection.isUnused = true }
    let bound = NIOLoopBound((self, ended), eventLoop: loop)
    loop.scheduleTask(in: Self.maximumEmulatedDelay) {
      let (connections, ended) = bound.value
      for connection in ended where connection.isUnused { connections.forget(connection) }
    }
  }

  /// Closes everything.
  func close() {
    isClosed = true
    for listener in listeners.values { listener.close() }
    listeners = [:]
    for connection in connections.values { forget(connection) }
  }

  func end(_ connection: TCPConnection) {
    guard connections[key(of: connection)] === connection else { return }
    forget(connection)
    report(connection)
  }

  /// Says that a connection has ended; later, because it can end while it is written to.
  private func report(_ connection: TCPConnection) {
    let bound = NIOLoopBound((self, connection), eventLoop: loop)
    loop.execute {
      let (connections, connection) = bound.value
      if !connections.isClosed { connections.handlers.closed(connection) }
    }
  }

  func forget(_ connection: TCPConnection) {
    let key = key(of: connection)
    // Another one may have replaced it.
    if connections[key] === connection { connections[key] = nil }
    connection.close()
  }

  private func key(of connection: TCPConnection) -> Key {
    Key(opener: connection.opener, local: connection.local, remote: connection.remote)
  }
}

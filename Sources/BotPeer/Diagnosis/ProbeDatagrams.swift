internal import Glibc
internal import ICE
internal import NIOCore
internal import NIOPosix

/// A UDP socket of a measurement.
struct ProbeDatagrams: Sendable {
  private let channel: any Channel
  /// The local address.
  let address: TransportAddress

  /// Where a socket of a measurement sends from.
  struct Source: Sendable {
    let ip: IPAddress
    /// The only interface to use, where the kernel allows that; nil for any.
    let interface: String?
  }

  /// There is no local address to reach a server from.
  struct NoRoute: Error {
    /// A clause.
    let reason: String
  }

  /// Binds a socket to any port of an address. Its datagrams are added to the inbox.
  init(at source: Source, as origin: NATBehaviorProbe.Origin, _ inbox: ProbeInbox) async throws {
    channel = try await DatagramBootstrap(group: inbox.loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          source.bindInterface(of: channel)
          try channel.pipeline.syncOperations.addHandler(ProbeDatagramHandler(inbox: inbox, origin: origin))
        }
      }
      .bind(to: SocketAddress(ipAddress: source.ip.description, port: 0)).get()
    guard let bound = channel.localAddress.flatMap(TransportAddress.init) else {
      channel.close(promise: nil)
      throw ChannelError.unknownLocalAddress
    }
    address = bound
  }

  func send(_ datagram: ByteBuffer, to destination: TransportAddress) {
    guard let remote = try? SocketAddress(ipAddress: destination.ip.description, port: Int(destination.port)) else {
      return
    }
    channel.writeAndFlush(AddressedEnvelope(remoteAddress: remote, data: datagram), promise: nil)
  }

  func close() { channel.close(promise: nil) }
}

extension ProbeDatagrams.Source {
  /// Finds where to send to a server from: an address of the wanted ones, or that which the system chooses. Nothing is sent.
  init(toward server: TransportAddress, of sources: SourceAddresses) throws(ProbeDatagrams.NoRoute) {
    guard let wanted = sources.source(of: server.family) else {
      let family = server.family == .v4 ? "IPv4" : "IPv6"
      throw ProbeDatagrams.NoRoute(reason: "there is no \(family) address of \(sources.interfaceNames)")
    }
    let ip = if let ip = wanted.ip { ip } else { try Self.address(toward: server) }
    self.init(ip: ip, interface: wanted.interface)
  }

  /// Returns the address from which the system sends to a server.
  private static func address(toward server: TransportAddress) throws(ProbeDatagrams.NoRoute) -> IPAddress {
    let family = server.family == .v4 ? AF_INET : AF_INET6
    let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { if descriptor >= 0 { Glibc.close(descriptor) } }
    var name = SocketAddressStorage(server)
    guard descriptor >= 0, name.withSockAddr({ connect(descriptor, $0, $1) }) == 0,
      let local = SocketAddressStorage.local(of: descriptor)
    else {
      throw ProbeDatagrams.NoRoute(reason: strerror(errno).map { String(cString: $0) } ?? "error \(errno)")
    }
    return local.ip
  }

  func bindInterface(of channel: any Channel) {
    guard let interface, let socket = channel as? any SocketOptionProvider else { return }
    _ = socket.unsafeSetSocketOption(
      level: .init(SOL_SOCKET), name: .init(SO_BINDTODEVICE), value: InterfaceName(interface))
  }
}

private final class ProbeDatagramHandler: ChannelInboundHandler, Sendable {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>

  private let inbox: ProbeInbox
  private let origin: NATBehaviorProbe.Origin

  init(inbox: ProbeInbox, origin: NATBehaviorProbe.Origin) {
    self.inbox = inbox
    self.origin = origin
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    guard let source = TransportAddress(envelope.remoteAddress) else { return }
    inbox.add(.datagram(envelope.data, from: source, at: origin, time: .now))
  }

  /// An unreachable port or network is an answer that does not come.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}

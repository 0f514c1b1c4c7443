internal import Glibc
internal import ICE
internal import NIOCore
internal import NIOPosix

/// A UDP socket of a measurement.
struct ProbeDatagrams: Sendable {
  private let channel: any Channel
  /// The local address.
  let address: TransportAddress

  /// Binds a socket to any port of an address. Its datagrams are added to the inbox.
  init(at ip: IPAddress, as origin: NATBehaviorProbe.Origin, _ inbox: ProbeInbox) async throws {
    channel = try await DatagramBootstrap(group: inbox.loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ProbeDatagramHandler(inbox: inbox, origin: origin))
        }
      }
      .bind(to: SocketAddress(ipAddress: ip.description, port: 0)).get()
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

  /// Returns the address from which the system sends to a server, or the system's message if there is no route. Nothing
  /// is sent.
  static func localAddress(toward server: TransportAddress) -> (address: IPAddress?, reason: String) {
    let family = server.family == .v4 ? AF_INET : AF_INET6
    let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { if descriptor >= 0 { Glibc.close(descriptor) } }
    var name = SocketAddressStorage(server)
    guard descriptor >= 0, name.withSockAddr({ connect(descriptor, $0, $1) }) == 0,
      let local = SocketAddressStorage.local(of: descriptor)
    else { return (nil, strerror(errno).map { String(cString: $0) } ?? "error \(errno)") }
    return (local.ip, "")
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

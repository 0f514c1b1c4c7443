internal import ICE
internal import Media
internal import NIOCore
internal import NIOPosix

/// A UDP socket of a measurement.
struct ProbeDatagrams: Sendable {
  private let channel: any Channel
  /// The local address.
  let address: TransportAddress

  /// Binds a socket to any port of an address. Its datagrams are added to the inbox.
  init(at source: ProbeSource, as origin: NATBehaviorProbe.Origin, _ inbox: ProbeInbox) async throws {
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

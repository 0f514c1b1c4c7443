internal import ICE
internal import NIOCore
internal import NIOPosix

/// One UDP socket, bound to one local address; many peers share it.
///
/// Datagrams are read and written in batches (`recvmmsg`, `sendmmsg`): waking up costs more than a packet does.
final class DatagramSocket {
  /// The address that peers see when nothing translates it.
  let address: TransportAddress
  private let channel: any Channel
  private var destinations: [TransportAddress: SocketAddress] = [:]
  private var hasUnflushedWrites = false

  /// Datagrams to take in one system call, and the longest that is taken whole.
  static let batch = 32
  static let longestDatagram = 2048
  /// The kernel's buffer: one second of 30 peers at 1 Mb/s. The kernel may grant less.
  private static let receiveBuffer: ChannelOptions.Types.SocketOption.Value = 4 << 20

  private init(channel: any Channel, address: TransportAddress) {
    self.channel = channel
    self.address = address
  }

  /// Binds a socket on `loop`, which must be the current one.
  ///
  /// - Parameters:
  ///   - port: 0 for any free one.
  ///   - received: gets each datagram, on the loop.
  ///   - batchEnded: is called when a batch has been handed over.
  static func bind(
    ip: IPAddress, port: UInt16, on loop: any EventLoop,
    received: @escaping (ByteBuffer, _ from: TransportAddress, _ to: TransportAddress) -> Void,
    batchEnded: @escaping () -> Void
  ) -> EventLoopFuture<NIOLoopBound<DatagramSocket>> {
    let handlers = NIOLoopBound(Handlers(received: received, batchEnded: batchEnded), eventLoop: loop)
    return DatagramBootstrap(group: loop)
      .channelOption(.socketOption(.so_rcvbuf), value: receiveBuffer)
      .channelOption(.datagramVectorReadMessageCount, value: batch)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: batch * longestDatagram))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(DatagramReader(handlers: handlers.value))
        }
      }
      .bind(host: ip.description, port: Int(port))
      .flatMapThrowing { channel in
        guard let bound = channel.localAddress.flatMap(TransportAddress.init) else {
          throw ChannelError.unknownLocalAddress
        }
        handlers.value.local = bound
        return NIOLoopBound(DatagramSocket(channel: channel, address: bound), eventLoop: loop)
      }
  }

  func write(_ datagram: ByteBuffer, to remote: TransportAddress) {
    guard let destination = socketAddress(of: remote) else { return }
    channel.write(AddressedEnvelope(remoteAddress: destination, data: datagram), promise: nil)
    hasUnflushedWrites = true
  }

  func flush() {
    guard hasUnflushedWrites else { return }
    hasUnflushedWrites = false
    channel.flush()
  }

  func close() {
    channel.close(promise: nil)
  }

  private func socketAddress(of remote: TransportAddress) -> SocketAddress? {
    if let known = destinations[remote] { return known }
    guard let made = SocketAddress(remote) else { return nil }
    // Addresses come from the network, so what is remembered is bounded.
    if destinations.count >= 4096 { destinations.removeAll(keepingCapacity: true) }
    destinations[remote] = made
    return made
  }

  /// What the reader calls; the local address is known only once the socket is bound.
  final class Handlers {
    let received: (ByteBuffer, TransportAddress, TransportAddress) -> Void
    let batchEnded: () -> Void
    var local: TransportAddress?

    init(received: @escaping (ByteBuffer, TransportAddress, TransportAddress) -> Void, batchEnded: @escaping () -> Void)
    {
      self.received = received
      self.batchEnded = batchEnded
    }
  }
}

/// Hands datagrams from the channel to the driver.
private final class DatagramReader: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>

  private let handlers: DatagramSocket.Handlers

  init(handlers: DatagramSocket.Handlers) {
    self.handlers = handlers
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    guard let local = handlers.local, let remote = TransportAddress(envelope.remoteAddress) else { return }
    handlers.received(envelope.data, remote, local)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    handlers.batchEnded()
  }

  /// An ICMP "port unreachable" ends no socket that other peers still use.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}

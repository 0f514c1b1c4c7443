internal import ICE
internal import NIOCore
internal import NIOPosix

/// One UDP socket, bound to one local address; many peers share it.
///
/// Datagrams are read and written in batches (`recvmmsg`, `sendmmsg`): waking up costs more than a packet does.
///
/// SwiftNIO closes a socket when a datagram cannot be sent, because there is no route for example. Peers name whatever address
/// they like, so a new destination's route is looked up first, and a socket that was closed all the same is opened again.
final class DatagramSocket {
  /// The address that peers see when nothing translates it.
  let address: TransportAddress
  private let loop: any EventLoop
  private let handlers: Handlers
  private var channel: any Channel
  private var destinations: [TransportAddress: Destination] = [:]
  private var hasUnflushedWrites = false
  private var isClosed = false
  /// Datagrams that were not sent because too many waited already.
  private(set) var datagramsDropped: UInt64 = 0

  /// Where a datagram may go; nil when there is no way there for the present.
  private enum Destination {
    case reachable(SocketAddress)
    case unreachable(until: ContinuousClock.Instant)
  }

  /// Datagrams to take in one system call, and the longest that is taken whole.
  static let batch = 32
  static let longestDatagram = 2048
  /// The kernel's buffer: one second of 30 peers at 1 Mb/s. The kernel may grant less.
  private static let receiveBuffer: ChannelOptions.Types.SocketOption.Value = 4 << 20
  /// Bytes that may wait when the line takes less than we send; more are dropped, as a router would.
  private static let waitingBytes = ChannelOptions.Types.WriteBufferWaterMark(low: 256 << 10, high: 1 << 20)
  /// How long a destination without a route is left alone.
  private static let unreachablePause: Duration = .seconds(5)
  private static let reopeningPause: TimeAmount = .milliseconds(50)

  private init(channel: any Channel, address: TransportAddress, handlers: Handlers, loop: any EventLoop) {
    self.channel = channel
    self.address = address
    self.handlers = handlers
    self.loop = loop
    watch(channel)
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
    return open(ip: ip, port: port, on: loop, handlers: handlers).flatMapThrowing { channel in
      guard let bound = channel.localAddress.flatMap(TransportAddress.init) else {
        throw ChannelError.unknownLocalAddress
      }
      handlers.value.local = bound
      let socket = DatagramSocket(channel: channel, address: bound, handlers: handlers.value, loop: loop)
      return NIOLoopBound(socket, eventLoop: loop)
    }
  }

  private static func open(
    ip: IPAddress, port: UInt16, on loop: any EventLoop, handlers: NIOLoopBound<Handlers>
  ) -> EventLoopFuture<any Channel> {
    DatagramBootstrap(group: loop)
      .channelOption(.socketOption(.so_rcvbuf), value: receiveBuffer)
      .channelOption(.datagramVectorReadMessageCount, value: batch)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: batch * longestDatagram))
      .channelOption(.writeBufferWaterMark, value: waitingBytes)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(DatagramReader(handlers: handlers.value))
        }
      }
      .bind(host: ip.description, port: Int(port))
  }

  /// - Parameter isVital: whether it is sent even when much waits already: checks and handshakes are, media is not.
  func write(_ datagram: ByteBuffer, to remote: TransportAddress, isVital: Bool = true) {
    guard isVital || channel.isWritable else {
      datagramsDropped &+= 1
      return
    }
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
    isClosed = true
    channel.close(promise: nil)
  }

  private func watch(_ channel: any Channel) {
    let this = NIOLoopBound(self, eventLoop: loop)
    channel.closeFuture.whenComplete { _ in this.value.reopen() }
  }

  /// Opens the socket again under the same address, and again and again until that works.
  private func reopen() {
    guard !isClosed else { return }
    // Routes have changed, or one was not what it looked like.
    destinations.removeAll()
    let this = NIOLoopBound(self, eventLoop: loop)
    let boundHandlers = NIOLoopBound(handlers, eventLoop: loop)
    loop.flatScheduleTask(in: Self.reopeningPause) {
      let socket = this.value
      return Self.open(
        ip: socket.address.ip, port: socket.address.port, on: socket.loop, handlers: boundHandlers)
    }.futureResult.whenComplete { result in
      let socket = this.value
      switch result {
      case .success(let channel):
        socket.channel = channel
        if socket.isClosed { return channel.close(promise: nil) }
        socket.watch(channel)
      case .failure:
        socket.reopen()
      }
    }
  }

  private func socketAddress(of remote: TransportAddress) -> SocketAddress? {
    switch destinations[remote] {
    case .reachable(let known): return known
    case .unreachable(let end) where end > .now: return nil
    case .unreachable, nil: break
    }
    // Addresses come from the network, so what is remembered is bounded.
    if destinations.count >= 4096 { destinations.removeAll(keepingCapacity: true) }
    guard Route.exists(from: address, to: remote), let made = SocketAddress(remote) else {
      destinations[remote] = .unreachable(until: .now + Self.unreachablePause)
      return nil
    }
    destinations[remote] = .reachable(made)
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

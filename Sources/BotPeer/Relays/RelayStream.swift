internal import Glibc
internal import ICE
internal import Media
internal import NIOCore
internal import NIOPosix
internal import TLS

/// A TCP or TLS connection to a TURN server. It belongs to one event loop.
final class RelayStream {
  enum Event {
    case bytes(ByteBuffer)
    /// The connection was not established, or has ended; with a clause about what is wrong with TLS.
    case closed(problem: String?)
  }

  /// How a TLS connection is verified.
  struct Security {
    let context: TLSContext
    /// The name or the address that the certificate must be for. Behind a NAT64 it is not the address that is connected to.
    let host: String
  }

  private var channel: (any Channel)?
  /// What was written before the connection was established.
  private var waiting: [ByteBuffer] = []
  private var isClosed = false
  /// What is wrong with TLS.
  private var problem: String?
  private let handle: (Event) -> Void
  private let loop: any EventLoop

  private static let connectTimeout = TimeAmount.seconds(10)
  private static let maximumWaiting = 64
  /// Above the higher limit media is dropped, because it would arrive too late; the kernel buffers as well.
  private static let watermark = ChannelOptions.Types.WriteBufferWaterMark(low: 64 << 10, high: 192 << 10)

  /// Begins to connect.
  ///
  /// - Parameters:
  ///   - own: the local address; nil for one that the system chooses.
  ///   - interface: the only interface to use, where the kernel allows that; nil for any.
  ///   - tls: nil for plain TCP.
  ///   - handle: receives all events on the loop, not after ``close()``.
  init(
    to address: TransportAddress, from own: IPAddress?, interface: String?, tls: Security?,
    on loop: any EventLoop, handle: @escaping (Event) -> Void
  ) {
    self.loop = loop
    self.handle = handle
    let bound = NIOLoopBound(self, eventLoop: loop)
    var bootstrap = ClientBootstrap(group: loop)
      .connectTimeout(Self.connectTimeout)
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelOption(.writeBufferWaterMark, value: Self.watermark)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let interface, let socket = channel as? any SocketOptionProvider {
            _ = socket.unsafeSetSocketOption(
              level: .init(SOL_SOCKET), name: .init(SO_BINDTODEVICE), value: InterfaceName(interface))
          }
          let pipeline = channel.pipeline.syncOperations
          if let tls {
            try pipeline.addHandler(TLSHandler(client: tls.context, host: tls.host))
          }
          try pipeline.addHandler(Handler(bound))
        }
      }
    if let own, let local = try? SocketAddress(ipAddress: own.description, port: 0) {
      bootstrap = bootstrap.bind(to: local)
    }
    guard let remote = try? SocketAddress(ipAddress: address.ip.description, port: Int(address.port)) else {
      failSoon()
      return
    }
    bootstrap.connect(to: remote).assumeIsolated().whenComplete { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let channel): connected(channel)
      case .failure(let error):
        failed(error)
        ended()
      }
    }
  }

  private func failSoon() {
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.execute { bound.value.ended() }
  }

  /// Sends bytes, when the connection is established. Media is dropped while the connection carries less than is sent.
  func write(_ bytes: ByteBuffer) {
    guard let channel else {
      if waiting.count < Self.maximumWaiting { waiting.append(bytes) }
      return
    }
    if !channel.isWritable, TURNChannelData.isChannelData(bytes) { return }
    channel.writeAndFlush(bytes, promise: nil)
  }

  /// Closes the connection when what was written is sent.
  func close() {
    isClosed = true
    channel?.close(promise: nil)
    channel = nil
  }

  private func connected(_ channel: any Channel) {
    if isClosed { return channel.close(promise: nil) }
    self.channel = channel
    for bytes in waiting { channel.write(bytes, promise: nil) }
    waiting = []
    channel.flush()
  }

  private func ended() {
    guard !isClosed else { return }
    close()
    handle(.closed(problem: problem))
  }

  private func failed(_ error: any Error) {
    switch error {
    case TLSError.handshakeFailed: problem = "the handshake failed"
    case TLSError.truncated: break
    case let error as TLSError: problem = error.reason
    default: break
    }
  }

  private func received(_ bytes: ByteBuffer) {
    if !isClosed { handle(.bytes(bytes)) }
  }

  private final class Handler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let stream: NIOLoopBound<RelayStream>

    init(_ stream: NIOLoopBound<RelayStream>) {
      self.stream = stream
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      stream.value.received(unwrapInboundIn(data))
    }

    func channelInactive(context: ChannelHandlerContext) {
      stream.value.ended()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      stream.value.failed(error)
      context.close(promise: nil)
    }
  }
}

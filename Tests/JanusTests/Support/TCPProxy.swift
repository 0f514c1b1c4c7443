import NIOCore
import NIOPosix
import Synchronization

/// Forwards TCP connections to a port of this machine, and can cut them.
final class TCPProxy: Sendable {
  let port: Int
  private let listener: any Channel
  private let connections: Connections

  private final class Connections: Sendable {
    let open = Mutex<[any Channel]>([])
  }

  private init(listener: any Channel, connections: Connections) {
    self.listener = listener
    self.connections = connections
    port = listener.localAddress?.port ?? 0
  }

  static func start(to port: Int) async throws -> TCPProxy {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let connections = Connections()
    let listener = try await ServerBootstrap(group: loop)
      .childChannelInitializer { channel in
        connections.open.withLock { $0.append(channel) }
        return ClientBootstrap(group: channel.eventLoop)
          .connect(host: "127.0.0.1", port: port)
          .flatMapThrowing { other in
            try channel.pipeline.syncOperations.addHandler(Forwarder(to: other))
            try other.pipeline.syncOperations.addHandler(Forwarder(to: channel))
          }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return TCPProxy(listener: listener, connections: connections)
  }

  /// Closes all connections.
  func cut() {
    for channel in connections.open.withLock({ $0 }) { channel.close(promise: nil) }
    connections.open.withLock { $0 = [] }
  }

  /// Forwards nothing more of what arrives on the present connections, and keeps them open.
  func freeze() async throws {
    for channel in connections.open.withLock({ $0 }) {
      try await channel.setOption(.autoRead, value: false).get()
    }
  }

  func stop() async {
    cut()
    try? await listener.close()
  }

  private final class Forwarder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let other: any Channel

    init(to other: any Channel) { self.other = other }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }
  }
}

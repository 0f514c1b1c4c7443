import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// A WebSocket server whose messages a test defines.
final class ScriptedServer: Sendable {
  /// One client's connection.
  struct Client: Sendable {
    fileprivate let channel: any Channel

    /// Succeeds when the connection has ended.
    var closed: EventLoopFuture<Void> { channel.closeFuture }

    func send(_ text: String) {
      channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text)), promise: nil)
    }

    func close() {
      channel.close(promise: nil)
    }
  }

  private let channel: any Channel

  var port: Int { channel.localAddress?.port ?? 0 }

  var address: String { "ws://127.0.0.1:\(port)" }

  /// Listens on 127.0.0.1.
  ///
  /// - Parameter serve: called for each new client; returns the function that handles its texts.
  init(in network: Network, serve: @escaping @Sendable (Client) -> @Sendable (String) -> Void) async throws {
    let loops = network.loops
    // A socket belongs to the network of the thread that opens it.
    channel = try await loops.next().flatSubmit {
      ServerBootstrap(group: loops)
        .childChannelInitializer { channel in
          let upgrader = NIOWebSocketServerUpgrader(
            maxFrameSize: 1 << 20,
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, _ in
              channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Listener(hear: serve(Client(channel: channel))))
              }
            })
          return channel.pipeline.configureHTTPServerPipeline(
            withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
        }
        .bind(host: "127.0.0.1", port: 0)
    }.get()
  }

  /// Listens on 127.0.0.1.
  ///
  /// - Parameter reply: returns the texts to send for each received text.
  convenience init(in network: Network, reply: @escaping @Sendable (String) -> [String]) async throws {
    try await self.init(in: network) { client in
      { text in reply(text).forEach(client.send) }
    }
  }

  func close() async {
    try? await channel.close().get()
  }

  /// Passes on text frames, answers pings, and completes the closing handshake.
  private final class Listener: ChannelInboundHandler, Sendable {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let hear: @Sendable (String) -> Void

    init(hear: @escaping @Sendable (String) -> Void) {
      self.hear = hear
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let frame = unwrapInboundIn(data)
      switch frame.opcode {
      case .text:
        hear(String(buffer: frame.unmaskedData))
      case .ping:
        let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
        context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
      case .connectionClose:
        let goodbye = WebSocketFrame(fin: true, opcode: .connectionClose, data: frame.unmaskedData)
        context.writeAndFlush(wrapOutboundOut(goodbye)).assumeIsolated().whenComplete { _ in context.close(promise: nil)
        }
      default:
        break
      }
    }
  }
}

import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// A WebSocket server that says what a test wants it to say.
final class ScriptedServer: Sendable {
  private let channel: any Channel

  var address: String { "ws://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

  /// Listens on 127.0.0.1.
  ///
  /// - Parameter reply: the texts to send for each text that comes.
  init(in network: Network, reply: @escaping @Sendable (String) -> [String]) async throws {
    channel = try await ServerBootstrap(group: network.loops)
      .childChannelInitializer { channel in
        let upgrader = NIOWebSocketServerUpgrader(
          shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
          upgradePipelineHandler: { channel, _ in
            channel.eventLoop.makeCompletedFuture {
              try channel.pipeline.syncOperations.addHandler(Speaker(reply: reply))
            }
          })
        return channel.pipeline.configureHTTPServerPipeline(
          withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  func close() async {
    try? await channel.close().get()
  }

  /// Answers text frames, and closes when it is asked to.
  private final class Speaker: ChannelInboundHandler, Sendable {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let reply: @Sendable (String) -> [String]

    init(reply: @escaping @Sendable (String) -> [String]) {
      self.reply = reply
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let frame = unwrapInboundIn(data)
      switch frame.opcode {
      case .text:
        for text in reply(String(buffer: frame.unmaskedData)) {
          let answer = WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text))
          context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        }
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

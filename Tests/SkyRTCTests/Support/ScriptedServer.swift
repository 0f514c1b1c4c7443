import HTTPTransport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import SkyRTC

/// A WebSocket server whose behaviour a test defines.
final class ScriptedServer: Sendable {
  /// One connection, used on its event loop.
  struct Connection {
    /// The connection's number, from 0.
    let number: Int
    fileprivate let handler: WebSocketHandler

    func send(_ text: String) { handler.send(.text(text)) }
    func send(binary text: String) { handler.send(.binary(ByteBuffer(string: text))) }
    func send(_ message: ServerMessage) { send(message.text) }
    func close(code: UInt16 = 1000, reason: String = "") { handler.close(code: code, reason: reason) }
    /// Ends the connection without a close frame.
    func cut() { handler.channel?.close(mode: .all, promise: nil) }
  }

  let port: Int
  var url: String { "ws://127.0.0.1:\(port)" }
  private let listener: any Channel

  private init(listener: any Channel) {
    self.listener = listener
    port = listener.localAddress?.port ?? 0
  }

  /// - Parameters:
  ///   - port: the TCP port; 0 selects any free one.
  ///   - answers: if false, the server sends no byte after the upgrade, not even pongs.
  ///   - ended: receives the number of each connection that has ended.
  static func start(
    port: Int = 0, answers: Bool = true, ended: @escaping @Sendable (Int) -> Void = { _ in },
    received: @escaping @Sendable (Connection, WebSocketMessage) -> Void
  ) async throws -> ScriptedServer {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let count = NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: loop)
    let listener = try await ServerBootstrap(group: loop)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        let upgrader = NIOWebSocketServerUpgrader(
          maxFrameSize: 1 << 26, automaticErrorHandling: false,
          shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
          upgradePipelineHandler: { channel, _ in
            channel.eventLoop.makeCompletedFuture {
              guard answers else { return try channel.pipeline.syncOperations.addHandler(DiscardingHandler()) }
              let number = count.value
              count.value += 1
              try Self.add(to: channel, number: number, ended: ended, received: received)
            }
          })
        return channel.pipeline.configureHTTPServerPipeline(
          withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
      }
      .bind(host: "127.0.0.1", port: port).get()
    return ScriptedServer(listener: listener)
  }

  private static func add(
    to channel: any Channel, number: Int, ended: @escaping @Sendable (Int) -> Void,
    received: @escaping @Sendable (Connection, WebSocketMessage) -> Void
  ) throws {
    var limits = WebSocketLimits()
    limits.maximumMessageBytes = 1 << 26
    limits.maximumOutgoingBytes = 1 << 27
    limits.pingInterval = nil
    let box = NIOLoopBoundBox<WebSocketHandler?>.makeEmptyBox(
      valueType: WebSocketHandler.self, eventLoop: channel.eventLoop)
    let handler = WebSocketHandler(
      side: .server, limits: limits,
      owner: .init(
        received: { message in
          if let handler = box.value { received(Connection(number: number, handler: handler), message) }
        },
        ended: { _ in
          box.value = nil
          ended(number)
        }))
    box.value = handler
    try channel.pipeline.syncOperations.addHandler(handler)
  }

  func stop() async { try? await listener.close() }

  private final class DiscardingHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
  }
}

/// A TCP server that answers the first bytes of each connection with a fixed response.
struct RawServer {
  let port: Int
  private let listener: any Channel

  static func start(answer: [UInt8]?, closes: Bool = false) async throws -> RawServer {
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Answerer(answer: answer, closes: closes))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return RawServer(port: listener.localAddress?.port ?? 0, listener: listener)
  }

  func stop() async { try? await listener.close() }

  private final class Answerer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private var answer: [UInt8]?
    private let closes: Bool

    init(answer: [UInt8]?, closes: Bool) {
      self.answer = answer
      self.closes = closes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if let answer { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil) }
      answer = nil
      if closes { context.close(promise: nil) }
    }
  }
}

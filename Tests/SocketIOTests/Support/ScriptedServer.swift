import HTTPTransport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// A WebSocket server on this machine whose behaviour a test defines, or one that refuses every request.
final class ScriptedServer: Sendable {
  /// One connection, used on its event loop.
  struct Connection {
    /// The connection's number, from 0.
    let number: Int
    /// The path and query of the request.
    let target: String
    fileprivate let handler: WebSocketHandler

    func send(_ text: String) { handler.send(.text(text)) }
    func close() { handler.close(code: 1000, reason: "") }
  }

  let port: Int
  private let listener: any Channel

  private init(listener: any Channel) {
    self.listener = listener
    port = listener.localAddress?.port ?? 0
  }

  /// - Parameters:
  ///   - opened: the texts to send first, for the target of the request; nil refuses it.
  ///   - received: called with each text of the client.
  static func start(
    opened: @escaping @Sendable (_ target: String) -> [String]?,
    received: @escaping @Sendable (Connection, String) -> Void
  ) async throws -> ScriptedServer {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let count = NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: loop)
    let listener = try await ServerBootstrap(group: loop)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        let upgrader = NIOWebSocketServerUpgrader(
          maxFrameSize: 1 << 20, automaticErrorHandling: false,
          shouldUpgrade: { channel, head in
            channel.eventLoop.makeSucceededFuture(opened(head.uri) == nil ? nil : [:])
          },
          upgradePipelineHandler: { channel, head in
            channel.eventLoop.makeCompletedFuture {
              count.value += 1
              try add(to: channel, number: count.value - 1, target: head.uri, opened: opened, received: received)
            }
          })
        return channel.eventLoop.makeCompletedFuture {
          let refuser = RefusingHandler()
          let bound = NIOLoopBound(refuser, eventLoop: channel.eventLoop)
          try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withServerUpgrade: (
              upgraders: [upgrader],
              completionHandler: { $0.pipeline.syncOperations.removeHandler(bound.value, promise: nil) }
            ))
          try channel.pipeline.syncOperations.addHandler(refuser)
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return ScriptedServer(listener: listener)
  }

  private static func add(
    to channel: any Channel, number: Int, target: String, opened: (String) -> [String]?,
    received: @escaping @Sendable (Connection, String) -> Void
  ) throws {
    let box = NIOLoopBoundBox<WebSocketHandler?>.makeEmptyBox(
      valueType: WebSocketHandler.self, eventLoop: channel.eventLoop)
    var limits = WebSocketLimits()
    limits.pingInterval = nil
    let handler = WebSocketHandler(
      side: .server, limits: limits,
      owner: .init(
        received: { message in
          guard let handler = box.value, case .text(let text) = message else { return }
          received(Connection(number: number, target: target, handler: handler), text)
        }, ended: { _ in box.value = nil }))
    box.value = handler
    try channel.pipeline.syncOperations.addHandler(handler)
    for text in opened(target) ?? [] { handler.send(.text(text)) }
  }

  func close() async { try? await listener.close() }
}

/// Answers every request with the status 400.
private final class RefusingHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .end = unwrapInboundIn(data) else { return }
    let head = HTTPResponseHead(version: .http1_1, status: .badRequest, headers: ["Content-Length": "2"])
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "no")))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}

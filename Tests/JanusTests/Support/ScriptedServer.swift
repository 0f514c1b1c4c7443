import HTTPTransport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// A WebSocket server that answers each text with the texts that a test chooses.
struct ScriptedServer {
  let port: Int
  private let listener: any Channel

  static func start(_ answer: @escaping @Sendable (String) -> [String]) async throws -> ScriptedServer {
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        let upgrader = NIOWebSocketServerUpgrader(
          maxFrameSize: 1 << 24, automaticErrorHandling: false,
          shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
          upgradePipelineHandler: { channel, _ in
            channel.eventLoop.makeCompletedFuture { try add(to: channel, answer) }
          })
        return channel.pipeline.configureHTTPServerPipeline(
          withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return ScriptedServer(port: listener.localAddress?.port ?? 0, listener: listener)
  }

  func stop() async { try? await listener.close() }

  private static func add(to channel: any Channel, _ answer: @escaping @Sendable (String) -> [String]) throws {
    var limits = WebSocketLimits()
    limits.maximumOutgoingBytes = 1 << 27
    limits.pingInterval = nil
    let box = NIOLoopBoundBox<WebSocketHandler?>.makeEmptyBox(
      valueType: WebSocketHandler.self, eventLoop: channel.eventLoop)
    let handler = WebSocketHandler(
      side: .server, limits: limits,
      owner: .init(
        received: { message in
          guard case .text(let text) = message else { return }
          for answer in answer(text) { box.value?.send(.text(answer)) }
        }, ended: { _ in box.value = nil }))
    box.value = handler
    try channel.pipeline.syncOperations.addHandler(handler)
  }
}

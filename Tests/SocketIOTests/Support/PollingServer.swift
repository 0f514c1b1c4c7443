import NIOCore
import NIOHTTP1
import NIOPosix
import SocketIO

/// A server of one Engine.IO connection that knows only long polling, on one event loop.
final class PollingServer: Sendable {
  let port: Int
  private let listener: any Channel

  private init(listener: any Channel) {
    self.listener = listener
    port = listener.localAddress?.port ?? 0
  }

  /// - Parameters:
  ///   - opened: the packets of the first response.
  ///   - received: returns the answers to a packet of the client.
  static func start(
    format: EngineIOPayload.Format, opened: [String], received: @escaping @Sendable (String) -> [String]
  ) async throws -> PollingServer {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: loop)
    let listener = try await ServerBootstrap(group: loop)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(
            Handler(format: format, opened: opened, received: received, state: state))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return PollingServer(listener: listener)
  }

  func close() async { try? await listener.close() }

  private struct State {
    var queue: [String] = []
    /// The request that waits for packets.
    var waiting: ((String) -> Void)?
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let format: EngineIOPayload.Format
    private let opened: [String]
    private let received: (String) -> [String]
    private let state: NIOLoopBoundBox<State>
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()

    init(
      format: EngineIOPayload.Format, opened: [String], received: @escaping (String) -> [String],
      state: NIOLoopBoundBox<State>
    ) {
      self.format = format
      self.opened = opened
      self.received = received
      self.state = state
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        self.head = head
        body.clear()
      case .body(var part): body.writeBuffer(&part)
      case .end: answer(context)
      }
    }

    private func answer(_ context: ChannelHandlerContext) {
      guard let head, head.uri.contains("transport=polling") else { return respond(context, .badRequest, "no") }
      if head.method == .POST {
        let packets = (try? EngineIOPayload.parse(String(buffer: body)).packets) ?? []
        for packet in packets { state.value.queue += received(packet) }
        respond(context, .ok, "ok")
        deliver()
      } else if !head.uri.contains("sid=") {
        respond(context, .ok, EngineIOPayload.encode(opened, as: format))
      } else {
        state.value.waiting = { [self] text in respond(context, .ok, text) }
        deliver()
      }
    }

    private func deliver() {
      guard !state.value.queue.isEmpty, let waiting = state.value.waiting else { return }
      let text = EngineIOPayload.encode(state.value.queue, as: format)
      (state.value.queue, state.value.waiting) = ([], nil)
      waiting(text)
    }

    private func respond(_ context: ChannelHandlerContext, _ status: HTTPResponseStatus, _ text: String) {
      let headers: HTTPHeaders = ["Content-Length": "\(text.utf8.count)"]
      let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}

import HTTPTransport
import NIOCore
import NIOHTTP1
import NIOPosix
import Signalling
import Synchronization
import WHIP

/// A `WHIPServer` at a port of 127.0.0.1, whose peer answers every offer at once.
final class SocketServer: Sendable {
  let port: Int
  let core: Core
  private let channel: any Channel

  /// The server behind all connections.
  final class Core: Sendable {
    struct State: Sendable {
      var server = WHIPServer()
      var events: [WHIPServer.Event] = []
      var requests: [String] = []
      var isSilent = false
    }

    let state = Mutex(State())

    func respond(to request: WHIPServer.Request) -> HTTPResponse? {
      state.withLock { state in
        state.requests.append("\(request.method) \(request.target)")
        if state.isSilent { return nil }
        var outcomes = state.server.received(request, number: 0, now: .now())
        var response: HTTPResponse?
        while !outcomes.isEmpty {
          switch outcomes.removeFirst() {
          case .respond(_, let given): response = given
          case .participants: response = state.server.participantsResponse([])
          case .event(let event):
            state.events.append(event)
            switch event {
            case .offer(let id, _, _, _, _), .restart(let id, _):
              outcomes += state.server.answered(id, sdp: Sample.answer(), now: .now())
            case .candidate, .ended: break
            }
          }
        }
        return response
      }
    }
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let core: Core
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()

    init(_ core: Core) { self.core = core }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): self.head = head
      case .body(var part): body.writeBuffer(&part)
      case .end:
        guard let head else { return }
        let request = WHIPServer.Request(
          head.method, head.uri, headers: head.headers, body: body, address: "127.0.0.1")
        body = ByteBuffer()
        guard var response = core.respond(to: request) else { return }
        if response.status != .noContent {
          response.headers.add(name: "Content-Length", value: "\(response.body.readableBytes)")
        }
        let answer = HTTPResponseHead(version: .http1_1, status: response.status, headers: response.headers)
        context.write(wrapOutboundOut(.head(answer)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(response.body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      }
    }
  }

  init(port: Int = 0, options: WHIPServer.Options = .init()) async throws {
    let core = Core()
    core.state.withLock { $0.server = WHIPServer(options: options) }
    self.core = core
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Handler(core))
        }
      }
      .bind(host: "127.0.0.1", port: port).get()
    self.port = channel.localAddress?.port ?? 0
  }

  func url(_ path: String = "/whip/100") throws -> HTTPURL { try HTTPURL("http://127.0.0.1:\(port)\(path)") }

  func close() async throws { try await channel.close().get() }

  /// Waits for a condition on the state, at most 5 s.
  func waitUntil(_ condition: @Sendable (Core.State) -> Bool) async throws -> Bool {
    for _ in 0..<500 {
      if core.state.withLock({ condition($0) }) { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return false
  }
}

internal import Glibc
package import NIOCore
internal import NIOHTTP1
internal import NIOPosix
package import OptionValues

/// An HTTP server for one document, `GET /metrics`, which Prometheus reads.
///
/// It answers one request for each connection. Whatever a client sends or does not read, its connection is closed after twice
/// the time for a request.
package final class MetricsServer: Sendable {
  /// Returns the document, in the text format 0.0.4.
  package typealias Text = @Sendable () -> String

  /// Why the server cannot be started; the description is a sentence.
  package struct StartError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
  }

  /// The maximum number of connections; further ones are closed at once.
  package static let maximumConnections = 64
  /// The maximum size of the head of a request in bytes.
  package static let maximumHeaderBytes = 16_384

  /// Where it listens, with the port that it has.
  package let address: ListenAddress
  private let listener: any Channel

  private init(address: ListenAddress, listener: any Channel) {
    self.address = address
    self.listener = listener
  }

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - requestTime: the time for the head of a request, and again for the client to read the answer.
  ///   - text: is called on the event loop for each request.
  package static func start(
    _ address: ListenAddress, requestTime: Duration = .seconds(10),
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton, text: @escaping Text
  ) async throws(StartError) -> MetricsServer {
    let loop = group.any()
    let connections = NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: loop)
    let time = TimeAmount(requestTime)
    do {
      // Connections have the loop of the listener, so that their number needs no lock.
      let listener = try await ServerBootstrap(group: loop)
        .serverChannelOption(.backlog, value: 64)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            guard connections.value < maximumConnections else { throw ChannelError.ioOnClosedChannel }
            connections.value += 1
            channel.closeFuture.assumeIsolated().whenComplete { _ in connections.value -= 1 }
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = maximumHeaderBytes
            limits.maxHeaderListSize = maximumHeaderBytes
            limits.maxHeaderFieldCount = 64
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline(
              withPipeliningAssistance: false, withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
            try pipeline.addHandler(MetricsHandler(time: time, text: text))
          }
        }
        .bind(host: address.host, port: Int(address.port)).get()
      let port = listener.localAddress?.port.flatMap { UInt16(exactly: $0) } ?? address.port
      return MetricsServer(address: ListenAddress(host: address.host, port: port), listener: listener)
    } catch {
      throw StartError(description: "Metrics cannot be served at \(address): \(reason(error)).")
    }
  }

  /// Ends the server. Requests that have begun are answered.
  package func stop() async { try? await listener.close() }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as IOError where error.errnoCode == EADDRINUSE: "the port is taken by another program"
    case let error as IOError: String(cString: strerror(error.errnoCode))
    default: "there is no such address"
    }
  }
}

/// Answers one request, then closes the connection.
private final class MetricsHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let time: TimeAmount
  private let text: MetricsServer.Text
  private var isAnswered = false
  private var timer: Scheduled<Void>?

  init(time: TimeAmount, text: @escaping MetricsServer.Text) {
    self.time = time
    self.text = text
  }

  func handlerAdded(context: ChannelHandlerContext) { restartTimer(context) }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  private func restartTimer(_ context: ChannelHandlerContext) {
    timer?.cancel()
    let channel = context.channel
    timer = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // A body is not read: the answer ends the connection.
    guard case .head(let head) = unwrapInboundIn(data), !isAnswered else { return }
    isAnswered = true
    restartTimer(context)
    let path = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
    let isMetrics = path.utf8.elementsEqual("/metrics".utf8)
    if !isMetrics {
      send(.notFound, "The metrics are at /metrics.\n", head, context)
    } else if head.method != .GET, head.method != .HEAD {
      send(.methodNotAllowed, "Only GET and HEAD are answered.\n", head, context, [("Allow", "GET, HEAD")])
    } else {
      send(.ok, text(), head, context)
    }
  }

  private func send(
    _ status: HTTPResponseStatus, _ body: String, _ head: HTTPRequestHead, _ context: ChannelHandlerContext,
    _ fields: [(String, String)] = []
  ) {
    let buffer = ByteBuffer(string: body)
    let type = status == .ok ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain; charset=utf-8"
    var headers = HTTPHeaders([
      ("Content-Type", type), ("Content-Length", "\(buffer.readableBytes)"), ("Cache-Control", "no-store"),
      ("X-Content-Type-Options", "nosniff"), ("Connection", "close"),
    ])
    headers.add(contentsOf: fields)
    context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
    if head.method != .HEAD { context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil) }
    context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

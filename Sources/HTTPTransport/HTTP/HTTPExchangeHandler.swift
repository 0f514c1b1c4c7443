package import NIOCore
package import NIOHTTP1
import NIOTLS
import TLS

/// Sends requests on one connection, one after another, and collects their responses. It follows the client handlers of
/// NIOHTTP1, and fails a request with an ``HTTPError``.
///
/// A response that has neither a length nor chunks ends with its connection. If TLS ends without a `close_notify`, it may be
/// incomplete, and fails (RFC 9112, 9.8); other responses are complete when all of their bytes have arrived.
package final class HTTPExchangeHandler: ChannelInboundHandler {
  package typealias InboundIn = HTTPClientResponsePart
  package typealias OutboundOut = HTTPClientRequestPart
  /// The response, and whether the connection can be used for another request.
  package typealias Result = EventLoopPromise<(response: HTTPResponse, staysOpen: Bool)>

  /// The reason of a connection that ended before the first byte of a response.
  static let closedEarly = "the connection was closed before the response began"

  /// The reason of a connection that ended before the request was sent.
  static let closedBeforeRequest = "the connection was closed before the request was sent"

  private let url: HTTPURL
  private let maximumBodyBytes: Int
  private let idleTimeout: TimeAmount
  private let ready: EventLoopPromise<NIOLoopBound<HTTPExchangeHandler>>
  private let waitsForTLS: Bool
  private var context: ChannelHandlerContext?
  private var result: Result?
  private var isHeadRequest = false
  private var head: HTTPResponseHead?
  private var body = ByteBuffer()
  private var idleTimer: Scheduled<Void>?
  private var problem: HTTPError?
  /// Whether TLS ended without a `close_notify`.
  private var isTruncated = false

  /// - Parameters:
  ///   - maximumBodyBytes: the maximum size of a response's body.
  ///   - idleTimeout: how long the connection stays open between two requests.
  ///   - ready: succeeds when requests can be sent.
  ///   - waitsForTLS: whether that is after a handshake.
  package init(
    url: HTTPURL, maximumBodyBytes: Int, idleTimeout: Duration,
    ready: EventLoopPromise<NIOLoopBound<HTTPExchangeHandler>>, waitsForTLS: Bool
  ) {
    self.url = url
    self.maximumBodyBytes = maximumBodyBytes
    self.idleTimeout = TimeAmount(idleTimeout)
    self.ready = ready
    self.waitsForTLS = waitsForTLS
  }

  /// Sends a request; the one before must have ended.
  package func begin(_ request: HTTPRequest, _ result: Result) {
    idleTimer?.cancel()
    guard let context, context.channel.isActive, self.result == nil else {
      return result.fail(HTTPError.invalidResponse(url, reason: Self.closedBeforeRequest))
    }
    self.result = result
    isHeadRequest = request.method == .HEAD
    head = nil
    body.clear()
    var headers = request.headers
    headers.replaceOrAdd(name: "Host", value: request.url.authority)
    headers.replaceOrAdd(name: "User-Agent", value: "chatbot")
    if request.body != nil || [.POST, .PATCH, .PUT].contains(request.method) {
      headers.replaceOrAdd(name: "Content-Length", value: "\(request.body?.readableBytes ?? 0)")
    }
    let head = HTTPRequestHead(version: .http1_1, method: request.method, uri: request.url.target, headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if let body = request.body { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  package func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    idleTimer?.cancel()
  }

  package func channelActive(context: ChannelHandlerContext) {
    if !waitsForTLS { ready.succeed(NIOLoopBound(self, eventLoop: context.eventLoop)) }
    context.fireChannelActive()
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted = event {
      ready.succeed(NIOLoopBound(self, eventLoop: context.eventLoop))
    }
    context.fireUserInboundEventTriggered(event)
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      // Nothing may arrive between two requests; it could be taken for the response to the next one.
      guard result != nil else { return context.close(promise: nil) }
      // An interim response precedes the final one (RFC 9110, 15.2).
      if head.status.code < 200, head.status != .switchingProtocols { return }
      self.head = head
    case .body(var part):
      guard body.readableBytes + part.readableBytes <= maximumBodyBytes else {
        fail(.responseTooLarge(url, limit: maximumBodyBytes))
        return context.close(promise: nil)
      }
      body.writeBuffer(&part)
    case .end:
      guard let head, let result else { return context.close(promise: nil) }
      // It is the end of the connection that ends such a response. The status of an error says enough without the rest.
      guard !isTruncated || head.status.code >= 400 else {
        return fail(
          .invalidResponse(
            url, reason: "TLS was cut off after status \(head.status.code), so that the response may be incomplete"))
      }
      self.result = nil
      self.head = nil
      let response = HTTPResponse(status: head.status, headers: head.headers, body: body)
      body = ByteBuffer()
      idleTimer = context.eventLoop.assumeIsolated().scheduleTask(in: idleTimeout) { context.close(promise: nil) }
      result.succeed((response, head.isKeepAlive))
    }
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The peer may close TLS without a close_notify after a response; that is no error for a complete message.
    if isTLSTruncation(error) { isTruncated = true } else { problem = problem ?? self.error(for: error) }
    if let problem { fail(problem) }
    context.close(promise: nil)
  }

  package func channelInactive(context: ChannelHandlerContext) {
    let early = head == nil && body.readableBytes == 0
    fail(problem ?? .invalidResponse(url, reason: early ? Self.closedEarly : "the connection ended within it"))
    context.fireChannelInactive()
  }

  private func fail(_ error: HTTPError) {
    // Without an error of TLS, a server that closes the connection during the handshake may only be starting.
    if waitsForTLS, case .invalidResponse = error {
      ready.fail(HTTPError.unreachable(url, reason: "the connection ended during the TLS handshake"))
    } else {
      ready.fail(error)
    }
    result?.fail(error)
    result = nil
  }

  private func isTLSTruncation(_ error: any Error) -> Bool {
    if case TLSError.truncated = error { true } else { false }
  }

  private func error(for error: any Error) -> HTTPError {
    switch error {
    // A server that closed a kept connection may reset it when the next request arrives.
    case let error as IOError:
      .invalidResponse(url, reason: head == nil ? Self.closedEarly : SocketReason.text(error))
    case TLSError.endedDuringHandshake: .invalidResponse(url, reason: Self.closedEarly)
    case TLSError.aborted(let reason): .invalidResponse(url, reason: reason)
    case let error as TLSError: .notTrusted(url, reason: error.reason)
    default: .invalidResponse(url, reason: SocketReason.text(error))
    }
  }
}

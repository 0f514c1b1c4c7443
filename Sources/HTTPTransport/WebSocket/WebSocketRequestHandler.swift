import Glibc
import Media
import NIOCore
import NIOHTTP1
import TLS

/// Requests the upgrade and reports why it failed.
final class WebSocketRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let url: WebSocketURL
  private let headers: [(name: String, value: String)]
  private let failed: (WebSocketConnectError) -> Void
  /// Set once the WebSocket is open. From then on its own handler deals with errors.
  var isDone = false

  init(
    url: WebSocketURL, headers: [(name: String, value: String)], failed: @escaping (WebSocketConnectError) -> Void
  ) {
    self.url = url
    self.headers = headers
    self.failed = failed
  }

  func channelActive(context: ChannelHandlerContext) {
    var fields = HTTPHeaders([("Host", url.authority)])
    for (name, value) in headers { fields.add(name: name, value: value) }
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: url.target, headers: fields)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let head) = unwrapInboundIn(data) else { return }
    if !url.isSecure, head.status.code / 100 == 3, let location = head.headers.first(name: "Location"),
      location.prefix(6).lowercased() == "https:"
    {
      return fail(
        .notAWebSocket(url, reason: WebSocketConnectError.redirect(to: location.printable())), context: context)
    }
    fail(.refused(url, status: head.status.code, phrase: head.status.reasonPhrase), context: context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if isDone { return context.fireErrorCaught(error) }
    switch error {
    case TLSError.truncated:
      fail(.notAWebSocket(url, reason: SocketReason.closed), context: context)
    case let error as IOError where error.errnoCode == ECONNRESET:
      fail(.notAWebSocket(url, reason: SocketReason.closed), context: context)
    case let error as TLSError:
      fail(.notTrusted(url, reason: error.reason), context: context)
    case let error as NIOHTTPClientUpgradeError where error == .upgraderDeniedUpgrade:
      fail(.notAWebSocket(url, reason: "its Sec-WebSocket-Accept header is wrong"), context: context)
    default:
      fail(.notAWebSocket(url, reason: SocketReason.text(error)), context: context)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if !isDone { fail(.notAWebSocket(url, reason: SocketReason.closed), context: context) }
    context.fireChannelInactive()
  }

  private func fail(_ error: WebSocketConnectError, context: ChannelHandlerContext) {
    failed(error)
    context.close(promise: nil)
  }
}

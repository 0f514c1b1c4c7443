import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes connections whose requests are too slow or too large, and those whose answer says so.
///
/// The time for the head of a request is that of an idle connection, which Hummingbird limits.
final class RequestLimitHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// The time for a whole request.
  static let timeout = TimeAmount.seconds(30)
  /// What is read of a body that nobody wants.
  static let maximumBody = 1 << 20

  private var deadline: Scheduled<Void>?
  private var bodyBytes = 0
  private var closes = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      bodyBytes = 0
      closes = false
      let channel = context.channel
      deadline?.cancel()
      deadline = context.eventLoop.scheduleTask(in: Self.timeout) { channel.close(promise: nil) }
    case .body(let buffer):
      bodyBytes += buffer.readableBytes
      if bodyBytes > Self.maximumBody {
        context.close(promise: nil)
        return
      }
    case .end:
      deadline?.cancel()
      deadline = nil
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head) where head.status.kind != .informational: closes = head.headerFields[.connection] == "close"
    case .end where closes:
      let channel = context.channel
      let written = promise ?? context.eventLoop.makePromise()
      written.futureResult.whenComplete { _ in channel.close(promise: nil) }
      context.write(data, promise: written)
      return
    default: break
    }
    context.write(data, promise: promise)
  }

  func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }
  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    context.fireChannelInactive()
  }
}

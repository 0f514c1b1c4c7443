import NIOCore
import NIOHTTP1

/// Lets a connection ask for one protocol at most.
///
/// SwiftNIO tries the protocols of an `Upgrade` header by recursion, so that a header with thousands of them would
/// overflow the stack.
final class UpgradeGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  /// Only a connection's first request can upgrade it; later data is not looked at, and need not be HTTP.
  private var isDone = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isDone { return context.fireChannelRead(data) }
    isDone = true
    guard case .head(var head) = unwrapInboundIn(data), head.headers[canonicalForm: "upgrade"].count > 1 else {
      return context.fireChannelRead(data)
    }
    head.headers.replaceOrAdd(name: "Upgrade", value: "too-many")
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }
}

import NIOCore
import NIOHTTP1

/// Looks at a connection's first request before anybody else does: one that must not be answered becomes a refusal of the page's,
/// and it may request one protocol at most.
///
/// SwiftNIO tries the protocols of an `Upgrade` header by recursion, so that a header with thousands of them would
/// overflow the stack.
final class RequestFilter: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  private let rules: RequestRules
  private let page: PageHandler
  /// Only a connection's first request can upgrade it; later data is not looked at, and need not be HTTP.
  private var isDone = false

  init(rules: RequestRules, page: PageHandler) {
    self.rules = rules
    self.page = page
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isDone { return context.fireChannelRead(data) }
    isDone = true
    guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
    page.rejection = rules.rejection(of: head)
    if page.rejection != nil || head.headers[canonicalForm: "upgrade"].count > 1 {
      head.headers.replaceOrAdd(name: "Upgrade", value: "refused")
    }
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }
}

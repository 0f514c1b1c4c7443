import FoundationEssentials
import HTTPTransport
import NIOCore
import NIOHTTP1
import Signalling

/// Answers one HTTP request with a file of the web page, then closes the connection.
///
/// One request for each connection bounds its lifetime: whatever a client sends or does not read, the connection is
/// closed after twice the request timeout. The handler is removed from a connection that becomes a WebSocket.
final class PageHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let timeout: TimeAmount
  private let iceServers: @Sendable () -> [ICEServer]
  private let responder: (any HTTPRequestResponder)?
  /// Why the request is rejected; set before the request reaches this handler.
  var rejection: RequestRules.Rejection?
  private var head: HTTPRequestHead?
  /// Whether the responder answers the request.
  private var isForResponder = false
  private var isAnswered = false
  private var timer: Scheduled<Void>?
  /// The body of a request for the responder.
  private var body = ByteBuffer()
  private var response: Task<Void, Never>?

  /// - Parameters:
  ///   - timeout: the timeout of the request, and again of the response.
  ///   - iceServers: returns the ICE servers that `/settings.json` lists for the page.
  ///   - responder: answers requests for other paths than those of the page.
  init(timeout: Duration, iceServers: @escaping @Sendable () -> [ICEServer], responder: (any HTTPRequestResponder)?) {
    self.responder = responder
    self.timeout = TimeAmount(timeout)
    self.iceServers = iceServers
  }

  func handlerAdded(context: ChannelHandlerContext) { restartTimer(context: context) }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isAnswered { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      self.head = head
      // Decided once: a client may send a body in very many parts.
      isForResponder = rejection == nil && responder?.handles(head.uri) ?? false
    case .body(let part): collect(part)
    case .end: answer(context: context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The error of a declined upgrade arrives here too; that request is answered when it is complete.
    if error is HTTPParserError { context.close(promise: nil) }
    if let error = error as? ChannelError, case .inputClosed = error { context.close(promise: nil) }
    if error is IOError { context.close(promise: nil) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    response?.cancel()
    context.fireChannelInactive()
  }

  /// Keeps a part of the body for the responder, up to one byte beyond its limit.
  private func collect(_ part: ByteBuffer) {
    guard isForResponder, let responder else { return }
    var part = part
    let space = max(0, responder.maximumBodyBytes + 1 - body.readableBytes)
    if var kept = part.readSlice(length: min(space, part.readableBytes)) { body.writeBuffer(&kept) }
  }

  /// Lets the responder answer. A request is answered within twice the timeout.
  private func respond(_ head: HTTPRequestHead, by responder: any HTTPRequestResponder, context: ChannelHandlerContext)
  {
    let request = HTTPServerRequest(
      method: head.method, target: head.uri, headers: head.headers, body: body,
      address: ConnectionCount.networkName(of: context.remoteAddress))
    restartTimer(context: context, factor: 2)
    let loop = context.eventLoop
    let handler = NIOLoopBound((self, context), eventLoop: loop)
    response = Task {
      let response = await responder.respond(to: request)
      loop.execute {
        let (page, context) = handler.value
        guard context.channel.isActive else { return }
        page.send(response, context: context)
      }
    }
  }

  private func send(_ response: HTTPResponse, context: ChannelHandlerContext) {
    restartTimer(context: context)
    var headers = response.headers
    for (name, value) in Self.safety { headers.replaceOrAdd(name: name, value: value) }
    if response.status != .noContent {
      headers.replaceOrAdd(name: "Content-Length", value: "\(response.body.readableBytes)")
    }
    context.write(
      wrapOutboundOut(.head(.init(version: .http1_1, status: response.status, headers: headers))), promise: nil)
    if head?.method != .HEAD, response.body.readableBytes > 0 {
      context.write(wrapOutboundOut(.body(.byteBuffer(response.body))), promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
  }

  /// The settings of the page. The ICE servers have the form of `RTCIceServer` (W3C webrtc, 4.2.3).
  private var settings: ByteBuffer {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return ByteBuffer(
      bytes: (try? encoder.encode(["iceServers": SignalledICEServers(iceServers())])) ?? Data("{}".utf8))
  }

  private func answer(context: ChannelHandlerContext) {
    guard let head else { return }
    isAnswered = true
    restartTimer(context: context)
    let path = head.uri.split(separator: "?", maxSplits: 1).first.map(String.init) ?? "/"
    if let rejection {
      let text = ByteBuffer(string: rejection.reason + "\n")
      send(.init(statusCode: rejection.status), type: "text/plain; charset=utf-8", text, context: context)
    } else if head.headers.contains(name: "Upgrade") {
      let text = "This is not a valid WebSocket upgrade (RFC 6455, 4.2.1).\n"
      send(.badRequest, type: "text/plain; charset=utf-8", ByteBuffer(string: text), context: context)
    } else if isForResponder, let responder {
      respond(head, by: responder, context: context)
    } else if head.method != .GET && head.method != .HEAD {
      let text = "Only GET and HEAD are answered here.\n"
      send(.methodNotAllowed, type: "text/plain; charset=utf-8", ByteBuffer(string: text), context: context)
    } else if path == "/settings.json" {
      send(.ok, type: "application/json", settings, context: context)
    } else if let file = PageFiles.all.file(at: path) {
      send(.ok, type: file.type, file.content, context: context)
    } else if head.headers["Accept"].contains(where: { $0.lowercased().contains("text/html") }) {
      let page = ByteBuffer(string: NotFoundPage.html(at: path))
      send(.notFound, type: "text/html; charset=utf-8", page, context: context)
    } else {
      let text = "There is no such file. The page is at /, and a WebSocket may be opened at any path.\n"
      send(.notFound, type: "text/plain; charset=utf-8", ByteBuffer(string: text), context: context)
    }
  }

  private func send(_ status: HTTPResponseStatus, type: String, _ content: ByteBuffer, context: ChannelHandlerContext) {
    var headers = HTTPHeaders(Self.safety)
    headers.add(name: "Content-Type", value: type)
    headers.add(name: "Content-Length", value: "\(content.readableBytes)")
    headers.add(name: "Date", value: HTTPDate.now)
    if status == .methodNotAllowed { headers.add(name: "Allow", value: "GET, HEAD") }
    context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
    if head?.method != .HEAD { context.write(wrapOutboundOut(.body(.byteBuffer(content))), promise: nil) }
    context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
  }

  private func restartTimer(context: ChannelHandlerContext, factor: Int64 = 1) {
    timer?.cancel()
    let time = TimeAmount.nanoseconds(timeout.nanoseconds * factor)
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
  }

  /// The page needs only its own files, a WebSocket to its own server, and the camera, the microphone and the screen.
  private static let safety = [
    ("Connection", "close"),
    ("Cache-Control", "no-cache"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(self), microphone=(self), display-capture=(self), autoplay=(self)"),
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        + "media-src 'self' blob: mediastream:; connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'; "
        + "frame-ancestors 'self'"
    ),
  ]
}

/// The web page's files, compiled into the program by `resources: [.embedInCode("Page")]` in `Package.swift`.
struct PageFiles: Sendable {
  struct File: Sendable {
    var type: String
    var content: ByteBuffer
  }

  private let files: [String: File]

  init() {
    func file(_ type: String, _ bytes: [UInt8]) -> File { File(type: type, content: ByteBuffer(bytes: bytes)) }
    let script = "text/javascript; charset=utf-8"
    let index = file("text/html; charset=utf-8", PackageResources.index_html)
    let icon = file("image/svg+xml", PackageResources.icon_svg)
    files = [
      "/": index,
      "/index.html": index,
      "/app.js": file(script, PackageResources.app_js),
      "/signalling.js": file(script, PackageResources.signalling_js),
      "/media.js": file(script, PackageResources.media_js),
      "/peer.js": file(script, PackageResources.peer_js),
      "/screen.js": file(script, PackageResources.screen_js),
      "/streams.js": file(script, PackageResources.streams_js),
      "/layout.js": file(script, PackageResources.layout_js),
      "/figures.js": file(script, PackageResources.figures_js),
      "/names.js": file(script, PackageResources.names_js),
      "/messages.js": file(script, PackageResources.messages_js),
      "/incoming.js": file(script, PackageResources.incoming_js),
      "/outgoing.js": file(script, PackageResources.outgoing_js),
      "/panel.js": file(script, PackageResources.panel_js),
      "/sha256.js": file(script, PackageResources.sha256_js),
      "/tiles.js": file(script, PackageResources.tiles_js),
      "/style.css": file("text/css; charset=utf-8", PackageResources.style_css),
      "/icons.svg": file("image/svg+xml", PackageResources.icons_svg),
      "/icon.svg": icon,
      "/favicon.ico": icon,
    ]
  }

  /// Returns the file at a path; the page itself is at the root.
  func file(at path: String) -> File? { files[path] }

  /// Built once; the buffers share their bytes with all responses.
  static let all = PageFiles()
}

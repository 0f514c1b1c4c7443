import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOWebSocket

@testable import HTTPTransport
@testable import SkyRTC

/// Bytes received over TCP: WebSocket frames, and the HTTP before them.
///
/// An input begins with a byte of choices: the side that receives it, and how many bytes arrive at once.
enum WebSocketTargets {
  private static let limits: WebSocketLimits = {
    var limits = WebSocketLimits()
    limits.maximumMessageBytes = 4_096
    limits.maximumOutgoingBytes = 65_536
    limits.maximumFrameRate = (1_000, 1_000)
    return limits
  }()

  /// What the owner of a WebSocket was notified of.
  private final class CallbackRecorder {
    var endings = 0
    var largest = 0
    var isEarly = false
  }

  /// Passes frames to an open WebSocket.
  static func frames(_ input: [UInt8]) throws(InvariantViolation) {
    var cursor = InputCursor(input)
    let choices = cursor.byte()
    let channel = EmbeddedChannel()
    let recorder = CallbackRecorder()
    let handler = WebSocketHandler(
      side: choices & 1 == 0 ? .server : .client, limits: limits,
      owner: .init(
        received: { message in
          recorder.largest = max(recorder.largest, message.size)
          recorder.isEarly = recorder.isEarly || recorder.endings > 0
        },
        ended: { _ in recorder.endings += 1 }))
    do {
      try channel.pipeline.syncOperations.addHandlers([
        WebSocketFrameEncoder(), ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: limits.maximumMessageBytes)),
        handler,
      ])
    } catch {
      throw InvariantViolation("The pipeline cannot be built: \(error)")
    }
    feed(cursor.remainder(), to: channel, atOnce: choices >> 1)
    end(channel)
    try require(recorder.endings == 1, "A WebSocket ended \(recorder.endings) times.")
    try require(!recorder.isEarly, "A message arrived after the end.")
    try require(recorder.largest <= limits.maximumMessageBytes, "A message of \(recorder.largest) bytes was delivered.")
  }

  /// Passes a request to a server, or a response to a client; frames can follow.
  static func upgrade(_ input: [UInt8]) throws(InvariantViolation) {
    var cursor = InputCursor(input)
    let choices = cursor.byte()
    let channel = EmbeddedChannel()
    do {
      if choices & 1 == 0 { try serve(channel) } else { try call(channel) }
    } catch {
      throw InvariantViolation("The pipeline cannot be built: \(error)")
    }
    feed(cursor.remainder(), to: channel, atOnce: choices >> 1)
    let first = try? channel.readOutbound(as: ByteBuffer.self)
    end(channel)
    guard let first else { return }
    let start = choices & 1 == 0 ? "HTTP/1.1 " : "GET /room HTTP/1.1\r\n"
    try require(first.readableBytesView.starts(with: start.utf8), "The first bytes sent are not HTTP.")
  }

  /// Delivers bytes until the channel is closed: after that, nothing is read from a socket.
  private static func feed(_ bytes: [UInt8], to channel: EmbeddedChannel, atOnce: UInt8) {
    let isClosed = NIOLoopBoundBox(false, eventLoop: channel.embeddedEventLoop)
    channel.closeFuture.whenComplete { _ in isClosed.value = true }
    let count = atOnce == 0 ? max(1, bytes.count) : Int(atOnce)
    for start in stride(from: 0, to: bytes.count, by: count) {
      if isClosed.value { return }
      _ = try? channel.writeInbound(ByteBuffer(bytes: bytes[start..<min(bytes.count, start + count)]))
      channel.embeddedEventLoop.run()
    }
  }

  /// Lets all timers expire, and closes the channel.
  private static func end(_ channel: EmbeddedChannel) {
    channel.embeddedEventLoop.advanceTime(by: .seconds(60))
    _ = try? channel.finish(acceptAlreadyClosed: true)
  }

  // MARK: The server's pipeline

  private static let page = SkyRTCServer.Configuration()

  /// Builds the pipeline that the server builds for each connection.
  private static func serve(_ channel: EmbeddedChannel) throws {
    let (loop, pipeline) = (channel.embeddedEventLoop, channel.pipeline.syncOperations)
    let registry = ConnectionRegistry(
      limits: page.limits, logger: Logger(label: "fuzz", factory: { _ in SwiftLogNoOpLogHandler() }), loop: loop)
    _ = registry.admit(channel)
    let boundRegistry = NIOLoopBound(registry, eventLoop: loop)
    let handler = PageHandler(timeout: page.limits.requestTimeout, iceServers: { [] }, responder: nil)
    let httpOnly = NIOLoopBound(
      [RequestFilter(rules: RequestRules(host: page.host, allowedOrigins: []), page: handler), handler]
        as [any RemovableChannelHandler], eventLoop: loop)
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: page.limits.maximumMessageBytes, automaticErrorHandling: false,
      shouldUpgrade: { channel, head in channel.eventLoop.makeSucceededFuture(head.method == .GET ? [:] : nil) },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture { try boundRegistry.value.open(channel) }
      })
    var headers = NIOHTTPDecoderLimitConfiguration()
    headers.maxHeaderFieldSize = page.limits.maximumHeaderBytes
    headers.maxHeaderListSize = page.limits.maximumHeaderBytes
    headers.maxHeaderFieldCount = 64
    try pipeline.configureHTTPServerPipeline(
      withServerUpgrade: (
        upgraders: [upgrader],
        completionHandler: { context in
          for handler in httpOnly.value { context.pipeline.syncOperations.removeHandler(handler, promise: nil) }
        }
      ), withEncoderConfiguration: .init(), withDecoderLimitConfiguration: headers)
    let upgradeHandler = try pipeline.handler(type: HTTPServerUpgradeHandler.self)
    try pipeline.addHandler(httpOnly.value[0], position: .before(upgradeHandler))
    try pipeline.addHandler(handler)
  }

  // MARK: The client's pipeline

  /// Builds the pipeline that the client builds, with a fixed key.
  private static func call(_ channel: EmbeddedChannel) throws {
    let pipeline = channel.pipeline.syncOperations
    let request = WebSocketRequestHandler(url: try WebSocketURL("ws://localhost:3000/room"), headers: []) { error in
      _ = error.description
    }
    let boundRequest = NIOLoopBound(request, eventLoop: channel.eventLoop)
    let upgrader = NIOWebSocketClientUpgrader(
      requestKey: "dGhlIHNhbXBsZSBub25jZQ==", maxFrameSize: limits.maximumMessageBytes, automaticErrorHandling: false
    ) { [limits] channel, _ in
      channel.eventLoop.makeCompletedFuture {
        let handler = WebSocketHandler(
          side: .client, limits: limits, owner: .init(received: { _ in }, ended: { _ in }))
        try channel.pipeline.syncOperations.addHandler(handler)
        boundRequest.value.isDone = true
      }
    }
    try pipeline.addHTTPClientHandlers(
      leftOverBytesStrategy: .forwardBytes,
      withClientUpgrade: (
        upgraders: [upgrader],
        completionHandler: { $0.pipeline.syncOperations.removeHandler(boundRequest.value, promise: nil) }
      ))
    try pipeline.addHandler(request)
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 3_000), promise: nil)
    channel.embeddedEventLoop.run()
  }
}

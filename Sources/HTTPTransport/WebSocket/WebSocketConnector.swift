import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Synchronization
import TLS

/// Opens a WebSocket: TCP, TLS and the HTTP upgrade.
struct WebSocketConnector {
  /// The parts of an opened connection.
  struct Opened: Sendable {
    var channel: any Channel
    var handler: NIOLoopBound<WebSocketHandler>
    var messages: AsyncStream<WebSocketMessage>
    /// The writing end of `messages`.
    var inbox: AsyncStream<WebSocketMessage>.Continuation
    var ending: EventLoopFuture<WebSocketCloseReason>
  }

  let url: WebSocketURL
  let options: WebSocketClient.Options

  func connect(on loop: any EventLoop) async throws(WebSocketConnectError) -> Opened {
    let tls = try tlsContext()
    let upgraded = loop.makePromise(of: Opened.self)
    let (url, options) = (url, options)
    let timeout = loop.scheduleTask(in: TimeAmount(options.connectTimeout)) {
      upgraded.fail(WebSocketConnectError.timedOut(url, after: options.connectTimeout))
    }
    ClientBootstrap(group: loop)
      .connectTimeout(TimeAmount(options.connectTimeout))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try Self.prepare(channel, url: url, options: options, tls: tls, upgraded: upgraded)
        }
      }
      .connect(host: url.host, port: url.port)
      .whenComplete { result in
        switch result {
        case .success(let channel):
          upgraded.futureResult.whenFailure { _ in channel.close(promise: nil) }
        case .failure(let error):
          upgraded.fail(WebSocketConnectError.unreachable(url, reason: SocketReason.text(error)))
        }
      }
    do {
      let opened = try await upgraded.futureResult.get()
      timeout.cancel()
      return opened
    } catch {
      timeout.cancel()
      throw error as? WebSocketConnectError ?? .notAWebSocket(url, reason: SocketReason.text(error))
    }
  }

  // MARK: The pipeline

  private static func prepare(
    _ channel: any Channel, url: WebSocketURL, options: WebSocketClient.Options, tls: TLSContext?,
    upgraded: EventLoopPromise<Opened>
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    if let tls {
      let closeTimeout = TimeAmount(options.limits.closeTimeout)
      try pipeline.addHandler(TLSHandler(client: tls, host: url.host, closeTimeout: closeTimeout))
    }
    let request = WebSocketRequestHandler(url: url, headers: options.headers) { upgraded.fail($0) }
    let boundRequest = NIOLoopBound(request, eventLoop: channel.eventLoop)
    let upgrader = NIOWebSocketClientUpgrader(
      maxFrameSize: min(options.limits.maximumMessageBytes, Int(UInt32.max)), automaticErrorHandling: false
    ) { channel, _ in
      channel.eventLoop.makeCompletedFuture {
        let (opened, handler) = open(channel, options: options)
        try channel.pipeline.syncOperations.addHandler(handler)
        boundRequest.value.isDone = true
        upgraded.succeed(opened)
      }
    }
    try pipeline.addHTTPClientHandlers(
      leftOverBytesStrategy: .forwardBytes,
      withClientUpgrade: (
        upgraders: [upgrader],
        completionHandler: { $0.pipeline.syncOperations.removeHandler(boundRequest.value, promise: nil) }
      ))
    try pipeline.addHandler(request)
  }

  private static func open(
    _ channel: any Channel, options: WebSocketClient.Options
  ) -> (Opened, WebSocketHandler) {
    let (waiting, inbox) = AsyncStream.makeStream(
      of: WebSocketMessage.self, bufferingPolicy: .bufferingOldest(options.maximumWaitingMessages))
    let bytes = WaitingBytes()
    let messages = AsyncStream<WebSocketMessage> {
      var iterator = waiting.makeAsyncIterator()
      let message = await iterator.next()
      if let message { bytes.remove(message.size) }
      return message
    }
    let ending = channel.eventLoop.makePromise(of: WebSocketCloseReason.self)
    let closeSlowReader = NIOLoopBoundBox<WebSocketHandler?>(nil, eventLoop: channel.eventLoop)
    let handler = WebSocketHandler(
      side: .client, limits: options.limits,
      owner: .init(
        received: { message in
          if bytes.add(message.size) > options.maximumWaitingBytes {
            closeSlowReader.value?.close(
              code: 1008, reason: "The reader fell behind by \(options.maximumWaitingBytes) bytes.")
          } else if case .dropped = inbox.yield(message) {
            closeSlowReader.value?.close(
              code: 1008, reason: "The reader fell behind by \(options.maximumWaitingMessages) messages.")
          }
        },
        ended: { how in
          closeSlowReader.value = nil
          inbox.finish()
          ending.succeed(how)
        }))
    closeSlowReader.value = handler
    let opened = Opened(
      channel: channel, handler: NIOLoopBound(handler, eventLoop: channel.eventLoop), messages: messages,
      inbox: inbox, ending: ending.futureResult)
    return (opened, handler)
  }

  // MARK: TLS

  private func tlsContext() throws(WebSocketConnectError) -> TLSContext? {
    guard url.isSecure else { return nil }
    do throws(TLSTrust.ContextError) {
      return try options.trust.context()
    } catch {
      switch error {
      case .noCertificates(let file, let reason): throw .noCertificates(file: file, reason: reason)
      case .failed(let reason): throw .notTrusted(url, reason: reason)
      }
    }
  }
}

/// The number of bytes of messages that wait for their reader.
final class WaitingBytes: Sendable {
  private let count = Atomic(0)

  /// Counts a received message.
  ///
  /// - Returns: the waiting bytes, including this message.
  func add(_ size: Int) -> Int { count.wrappingAdd(size, ordering: .relaxed).newValue }

  /// Removes a message that was read.
  func remove(_ size: Int) { count.wrappingSubtract(size, ordering: .relaxed) }
}

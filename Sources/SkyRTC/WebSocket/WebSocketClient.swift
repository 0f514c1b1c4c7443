package import NIOCore
import NIOPosix

/// A WebSocket opened from here (RFC 6455): `ws` and `wss`, text and binary, any size that `Options` allow.
///
/// Pings, pongs and the closing handshake are dealt with inside. What comes in waits in `messages`, at most
/// `Options.maximumWaitingMessages` of them with `maximumWaitingBytes`: a reader that falls further behind loses the connection
/// rather than a message in the middle.
package final class WebSocketClient: Sendable {
  /// How to connect, and what the connection may cost.
  package struct Options: Sendable {
    package var limits = WebSocketLimits()
    package var trust = WebSocketTrust.system
    /// From the first SYN to the server's answer to the upgrade.
    package var connectTimeout: Duration = .seconds(10)
    /// Messages that may wait for the reader of `messages`.
    package var maximumWaitingMessages = 1024
    /// Their bytes.
    package var maximumWaitingBytes = 64 << 20
    /// Further headers of the upgrade request.
    package var headers: [(name: String, value: String)] = []

    package init() {}
  }

  /// What the other side sends, in order; ends with the connection. For one reader.
  package let messages: AsyncStream<WebSocketMessage>
  package let url: WebSocketURL

  private let channel: any Channel
  private let handler: NIOLoopBound<WebSocketHandler>
  private let ending: EventLoopFuture<WebSocketCloseReason>

  private init(
    url: WebSocketURL, channel: any Channel, handler: NIOLoopBound<WebSocketHandler>,
    messages: AsyncStream<WebSocketMessage>, ending: EventLoopFuture<WebSocketCloseReason>
  ) {
    self.url = url
    self.channel = channel
    self.handler = handler
    self.messages = messages
    self.ending = ending
  }

  /// Connects to an address in text form, for example `ws://127.0.0.1:9222/devtools/page/1`.
  package static func connect(
    to address: String, options: Options = Options(),
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) async throws -> WebSocketClient {
    try await connect(to: WebSocketURL(address), options: options, on: group)
  }

  /// Connects and returns once the server has agreed to the upgrade.
  ///
  /// - Throws: `WebSocketConnectError`.
  package static func connect(
    to url: WebSocketURL, options: Options = Options(),
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) async throws(WebSocketConnectError) -> WebSocketClient {
    let opened = try await WebSocketConnector(url: url, options: options).connect(on: group.any())
    return WebSocketClient(
      url: url, channel: opened.channel, handler: opened.handler, messages: opened.messages, ending: opened.ending)
  }

  /// Sends a text message and returns once it has been written to the socket.
  package func send(text: String) async throws {
    try await send(.text(text)).get()
  }

  /// Sends a binary message and returns once it has been written to the socket.
  package func send(binary: ByteBuffer) async throws {
    try await send(.binary(binary)).get()
  }

  /// Queues a message; messages of one thread leave in the order of their calls. A failure ends the connection, so the
  /// result may be ignored.
  @discardableResult
  package func send(_ message: WebSocketMessage) -> EventLoopFuture<Void> {
    let sent = channel.eventLoop.makePromise(of: Void.self)
    channel.eventLoop.execute { [handler] in handler.value.send(message, promise: sent) }
    return sent.futureResult
  }

  /// Starts the closing handshake; `ended` says when it is over.
  package func close(code: UInt16 = 1000, reason: String = "") {
    channel.eventLoop.execute { [handler] in handler.value.close(code: code, reason: reason) }
  }

  /// Waits for the end of the connection and says how it came.
  package func ended() async -> WebSocketCloseReason {
    do {
      return try await ending.get()
    } catch {
      return .broken("\(error)")
    }
  }
}

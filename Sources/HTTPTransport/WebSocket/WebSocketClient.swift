import LocalInterfaces
import Media
package import NIOCore
import NIOPosix
package import Signalling
import TLS

/// A WebSocket client (RFC 6455): `ws` and `wss`, text and binary, messages of any size that `Options` allow.
///
/// Pings, pongs and the closing handshake are handled internally. Received messages wait in `messages`, at most
/// `Options.maximumWaitingMessages` of them with `maximumWaitingBytes`. A reader that falls further behind loses the
/// connection rather than a message in the middle.
package final class WebSocketClient: Sendable {
  /// How to connect, and the limits of the connection.
  package struct Options: Sendable {
    package var limits = WebSocketLimits()
    package var trust = TLSTrust.system
    /// The time from the first SYN to the server's answer to the upgrade.
    package var connectTimeout: Duration = .seconds(10)
    /// The number of messages that may wait for the reader of `messages`.
    package var maximumWaitingMessages = 1024
    /// The size of the waiting messages in bytes.
    package var maximumWaitingBytes = 64 << 20
    /// Additional headers of the upgrade request.
    package var headers: [(name: String, value: String)] = []

    package init() {}
  }

  /// The received messages, in order, until the connection ends. For one reader.
  package let messages: AsyncStream<WebSocketMessage>
  package let url: WebSocketURL

  private let inbox: AsyncStream<WebSocketMessage>.Continuation
  private let channel: any Channel
  private let handler: NIOLoopBound<WebSocketHandler>
  private let ending: EventLoopFuture<WebSocketCloseReason>

  private init(
    url: WebSocketURL, channel: any Channel, handler: NIOLoopBound<WebSocketHandler>,
    messages: AsyncStream<WebSocketMessage>, inbox: AsyncStream<WebSocketMessage>.Continuation,
    ending: EventLoopFuture<WebSocketCloseReason>
  ) {
    self.url = url
    self.channel = channel
    self.handler = handler
    self.messages = messages
    self.inbox = inbox
    self.ending = ending
  }

  /// Connects to a URL, for example `ws://127.0.0.1:9222/devtools/page/1`.
  package static func connect(
    to address: String, options: Options = Options(),
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) async throws -> WebSocketClient {
    try await connect(to: WebSocketURL(address), options: options, on: group)
  }

  /// Connects, and returns once the server has accepted the upgrade.
  ///
  /// - Throws: `WebSocketConnectError`.
  package static func connect(
    to url: WebSocketURL, options: Options = Options(),
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) async throws(WebSocketConnectError) -> WebSocketClient {
    let opened = try await WebSocketConnector(url: url, options: options).connect(on: group.any())
    return WebSocketClient(
      url: url, channel: opened.channel, handler: opened.handler, messages: opened.messages, inbox: opened.inbox,
      ending: opened.ending)
  }

  /// Sends a text message and returns once it has been written to the socket.
  package func send(text: String) async throws {
    try await send(.text(text)).get()
  }

  /// Sends a binary message and returns once it has been written to the socket.
  package func send(binary: ByteBuffer) async throws {
    try await send(.binary(binary)).get()
  }

  /// Queues a message. Messages of one thread are sent in the order of the calls. A failure ends the connection, so the
  /// result may be ignored.
  @discardableResult
  package func send(_ message: WebSocketMessage) -> EventLoopFuture<Void> {
    let sent = channel.eventLoop.makePromise(of: Void.self)
    channel.eventLoop.execute { [handler] in handler.value.send(message, promise: sent) }
    return sent.futureResult
  }

  /// Whether an interface of this machine that is up has the local address of the connection. Without it nothing can be sent.
  package var hasLocalAddress: Bool {
    guard let address = channel.localAddress?.ipAddress, let all = try? InterfaceAddress.all() else { return true }
    return all.haveUsable(address)
  }

  /// Sends a ping now, unless one is unanswered. The connection ends if nothing is received for `Options.limits.pingTimeout`
  /// after it.
  package func verify() {
    channel.eventLoop.execute { [handler] in handler.value.verify() }
  }

  /// Ends the connection without a closing handshake, because nothing can be sent on it any more.
  package func abandon(because reason: String) {
    channel.eventLoop.execute { [handler] in handler.value.abandon(because: reason) }
  }

  /// Ends `messages`. The connection stays open.
  package func stopReceiving() { inbox.finish() }

  /// Starts the closing handshake; `ended` returns when it is complete.
  package func close(code: UInt16 = 1000, reason: String = "") {
    channel.eventLoop.execute { [handler] in handler.value.close(code: code, reason: reason) }
  }

  /// Waits for the end of the connection and returns its reason.
  package func ended() async -> WebSocketCloseReason {
    do {
      return try await ending.get()
    } catch {
      return .failed(SocketReason.text(error))
    }
  }
}

/// Why a WebSocket could not be opened.
public enum WebSocketConnectError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No TCP connection was established.
  case unreachable(WebSocketURL, reason: String)
  /// The TLS handshake failed.
  case notTrusted(WebSocketURL, reason: String)
  /// The trusted certificates cannot be read.
  case noCertificates(file: String, reason: String)
  /// The server answered the upgrade request with a status other than 101.
  case refused(WebSocketURL, status: UInt, phrase: String)
  /// The server's answer is not that of a WebSocket server.
  case notAWebSocket(WebSocketURL, reason: String)
  case timedOut(WebSocketURL, after: Duration)

  public var description: String {
    switch self {
    case .unreachable(let url, let reason):
      "\(url) cannot be reached: \(reason)."
    case .notTrusted(let url, TLSError.notTLS):
      "The TLS handshake with \(url) failed: \(TLSError.notTLS). Is it \(url.withOtherSecurity)?"
    case .notTrusted(let url, let reason):
      "The TLS handshake with \(url) failed: \(reason)."
    case .noCertificates(let file, let reason):
      "The certificates in \(file) cannot be read: \(reason)."
    // What a server with TLS responds to a request without it.
    case .refused(let url, 400, let phrase) where !url.isSecure:
      "\(url) answered \"400 \(phrase.printable())\" instead of opening a WebSocket. Is it \(url.withOtherSecurity)?"
    case .refused(let url, let status, let phrase):
      "\(url) answered \"\(status) \(phrase.printable())\" instead of opening a WebSocket."
    case .notAWebSocket(let url, let reason) where !url.isSecure && Self.mayMeanTLS(reason):
      "\(url) did not answer as a WebSocket server does: \(reason). Is it \(url.withOtherSecurity)?"
    case .notAWebSocket(let url, let reason):
      "\(url) did not answer as a WebSocket server does: \(reason)."
    case .timedOut(let url, let limit):
      "\(url) did not open a WebSocket within \(limit)."
    }
  }

  /// The reason of a server that answered with a redirect.
  static func redirect(to location: String) -> String { "it redirects to \(location)" }

  /// Whether a server with TLS may be the reason of a failure without it: it closes the connection, or sends an alert.
  private static func mayMeanTLS(_ reason: String) -> Bool {
    [SocketReason.closed, SocketReason.notHTTP].contains(reason) || reason.hasPrefix(redirect(to: ""))
  }
}

/// Why a WebSocket ended.
package enum WebSocketCloseReason: Sendable, Hashable, CustomStringConvertible {
  /// We closed it, with this code (RFC 6455, 7.4) and reason.
  case closedLocally(code: UInt16, reason: String)
  /// The other side closed it, with or without a code.
  case closedByPeer(code: UInt16?, reason: String)
  /// The other side was silent for this long and did not answer a ping.
  case pingTimeout(Duration)
  /// The other side reads too slowly: this many bytes waited to be sent.
  case outgoingQueueFull(waitingBytes: Int)
  /// The TCP connection ended without a close frame.
  case failed(String)

  package var description: String {
    switch self {
    case .closedLocally(let code, let reason):
      "We closed the connection with code \(code)\(Self.tail(reason))"
    case .closedByPeer(let code?, let reason):
      "The other side closed the connection with code \(code)\(Self.tail(reason))"
    case .closedByPeer(nil, let reason):
      "The other side closed the connection\(Self.tail(reason))"
    case .pingTimeout(let duration):
      "The other side was silent for \(duration) and answered no ping."
    case .outgoingQueueFull(let bytes):
      "The other side reads too slowly: \(bytes) bytes waited to be sent."
    case .failed(let reason):
      "The connection broke\(Self.tail(reason))"
    }
  }

  private static func tail(_ reason: String) -> String {
    if reason.isEmpty { return "." }
    let reason = reason.printable()
    return reason.hasSuffix(".") ? ": \(reason)" : ": \(reason)."
  }
}

extension SignallingConnectError {
  /// Wraps the reason why a WebSocket could not be opened.
  package init(_ error: WebSocketConnectError) {
    switch error {
    case .unreachable, .timedOut: self = .unreachable(error.description)
    case .refused(_, let status, _) where status == 401 || status == 403: self = .unauthorized(error.description)
    case .refused(_, let status, _) where status >= 500: self = .unreachable(error.description)
    case .refused, .notAWebSocket, .notTrusted: self = .rejected(error.description)
    case .noCertificates: self = .invalidConfiguration(error.description)
    }
  }
}

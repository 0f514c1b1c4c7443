import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import Synchronization

/// Opens a WebSocket: TCP, TLS and the HTTP upgrade.
struct WebSocketConnector {
  /// The parts of an opened connection.
  struct Opened: Sendable {
    var channel: any Channel
    var handler: NIOLoopBound<WebSocketHandler>
    var messages: AsyncStream<WebSocketMessage>
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
          upgraded.fail(WebSocketConnectError.unreachable(url, reason: Self.sentence(error)))
        }
      }
    do {
      let opened = try await upgraded.futureResult.get()
      timeout.cancel()
      return opened
    } catch {
      timeout.cancel()
      throw error as? WebSocketConnectError ?? .notAWebSocket(url, reason: "\(error)")
    }
  }

  // MARK: The pipeline

  private static func prepare(
    _ channel: any Channel, url: WebSocketURL, options: WebSocketClient.Options, tls: NIOSSLContext?,
    upgraded: EventLoopPromise<Opened>
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    if let tls { try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: url.serverName)) }
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
      ending: ending.futureResult)
    return (opened, handler)
  }

  // MARK: TLS

  private func tlsContext() throws(WebSocketConnectError) -> NIOSSLContext? {
    guard url.isSecure else { return nil }
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.shutdownTimeout = TimeAmount(options.limits.closeTimeout)
    switch options.trust {
    case .system: break
    case .file(let path): configuration.trustRoots = .file(path)
    case .noVerification: configuration.certificateVerification = .none
    }
    do {
      return try NIOSSLContext(configuration: configuration)
    } catch {
      if case .file(let path) = options.trust { throw .noCertificates(file: path, reason: "\(error)") }
      throw .notTrusted(url, reason: TLSReason.text(error))
    }
  }

  private static func sentence(_ error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
      if let first = error.connectionErrors.first { return sentence(first.error) }
      return "the name \"\(error.host)\" has no address"
    case let error as IOError:
      return String(cString: strerror(error.errnoCode))
    case ChannelError.connectTimeout(let limit):
      return "no answer within \(Duration.nanoseconds(limit.nanoseconds))"
    default:
      return "\(error)"
    }
  }
}

extension WebSocketURL {
  /// The name for SNI and certificate checks; nil for an IP address, which TLS compares with the peer's address.
  fileprivate var serverName: String? {
    (try? SocketAddress(ipAddress: host, port: port)) == nil ? host : nil
  }
}

/// Describes TLS errors without the source paths that BoringSSL includes.
enum TLSReason {
  static func text(_ error: any Error) -> String {
    switch error {
    case let error as NIOSSLExtraError: error.description.printable()
    case NIOSSLError.handshakeFailed(let inner): "handshake failed (\(code(inner)))"
    case let error as NIOSSLError: String(describing: error).prefix { $0 != "(" }.description
    default: "\(error)"
    }
  }

  /// Extracts the reason from a BoringSSL error:
  /// `Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at …`.
  private static func code(_ error: BoringSSLError) -> String {
    let text = "\(error)"
    guard let start = text.firstRange(of: "OPENSSL_internal:")?.upperBound else { return "no reason given" }
    let words = text[start...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return words.lowercased().split(separator: "_").joined(separator: " ")
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

/// The certificates that a `wss` connection trusts.
public enum WebSocketTrust: Sendable, Hashable {
  /// The system's certificate authorities.
  case system
  /// The certificates of one PEM file, instead of the system's.
  case file(String)
  /// Any certificate. For tests only.
  case noVerification
}

/// Why a file named by a user cannot be used, as a clause.
enum FileReason {
  /// Returns the reason.
  ///
  /// - Parameter otherwise: the reason if the file can be read.
  static func of(_ path: String, otherwise: String) -> String {
    if access(path, R_OK) == 0 { return otherwise }
    let reason = String(cString: strerror(errno))
    return reason.prefix(1).lowercased() + reason.dropFirst()
  }
}

extension WebSocketTrust {
  /// Checks whether the certificates can be read, before a connection is attempted. Blocks while it reads them.
  ///
  /// - Throws: `WebSocketConnectError.noCertificates`.
  public func check() throws(WebSocketConnectError) {
    guard case .file(let path) = self else { return }
    let certificates = try? NIOSSLCertificate.fromPEMFile(path)
    if certificates?.isEmpty ?? true {
      let reason = FileReason.of(path, otherwise: "it contains no PEM certificate")
      throw .noCertificates(file: path, reason: reason)
    }
  }
}

import FoundationEssentials
import Glibc
package import HTTPTransport
public import Logging
public import NIOCore
import NIOHTTP1
public import NIOPosix
import NIOWebSocket
package import Signalling
package import TLS

/// A SkyRTC room server with its web page on the same port, as a program of its own or inside another one.
///
/// Everything runs on one event loop: no lock guards a room, and messages are handled in the order of their arrival.
/// `PageHandler` answers requests for the page. A WebSocket may be opened at any path and then belongs to `ConnectionRegistry`.
public actor SkyRTCServer {
  public nonisolated let configuration: Configuration

  private let loop: any EventLoop
  private let responder: (any HTTPRequestResponder)?
  private let iceServers: @Sendable () -> [ICEServer]
  private let registry: NIOLoopBoundBox<ConnectionRegistry>
  private var state = State.new

  private enum State {
    case new
    case started(listener: (any Channel)?)
    case stopped
  }

  /// Creates a server that does not listen yet.
  ///
  /// - Parameters:
  ///   - configuration: where to listen, and what clients may use.
  ///   - logger: logs each participant that joins or leaves at `info`, and what is ignored at `debug`.
  ///   - group: one of its event loops serves all clients.
  public init(
    configuration: Configuration = Configuration(), logger: Logger = Logger(label: "skyrtc.server"),
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) {
    self.init(
      configuration: configuration, responder: nil, iceServers: { configuration.iceServers }, logger: logger, on: group)
  }

  /// Creates a server that also answers other requests than those for its page.
  ///
  /// - Parameter iceServers: returns the ICE servers for a page that is loaded or a client that joins now.
  package init(
    configuration: Configuration, responder: (any HTTPRequestResponder)?,
    iceServers: @escaping @Sendable () -> [ICEServer], logger: Logger,
    on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) {
    self.configuration = configuration
    self.responder = responder
    self.iceServers = iceServers
    loop = group.any()
    let registry = ConnectionRegistry(
      limits: configuration.limits, iceServers: iceServers, logger: logger, loop: loop)
    self.registry = NIOLoopBoundBox.makeBoxSendingValue(registry, eventLoop: loop)
  }

  /// Starts to listen.
  ///
  /// - Returns: the address for clients, with the port actually bound.
  public func start() async throws(StartError) -> Address {
    guard case .new = state else { throw .alreadyStarted }
    guard (0...65535).contains(configuration.port) else { throw .wrongPort(configuration.port) }
    let tls = try configuration.tls?.context()
    state = .started(listener: nil)
    do {
      let listener = try await bootstrap(tls: tls).bind(host: configuration.host, port: configuration.port).get()
      if case .stopped = state { try? await listener.close() }
      state = .started(listener: listener)
      let port = listener.localAddress?.port ?? configuration.port
      return Address(host: configuration.host, port: port, isSecure: tls != nil)
    } catch {
      state = .new
      throw .listening(configuration, error)
    }
  }

  /// Stops listening, closes all WebSockets with code 1001 and returns when all connections are closed.
  public func shutdown() async {
    guard case .started(let listener) = state else { return }
    state = .stopped
    try? await listener?.close()
    try? await loop.flatSubmit { [registry] in registry.value.stop() }.get()
  }

  /// The ids in a room, in the order of joining.
  public func participants(in room: String) async -> [String] {
    (try? await loop.submit { [registry] in registry.value.members(of: room) }.get()) ?? []
  }

  /// How many rooms, participants of all rooms and TCP connections there are.
  package func figures() async -> (rooms: Int, participants: Int, connections: Int) {
    (try? await loop.submit { [registry] in registry.value.figures }.get()) ?? (0, 0, 0)
  }

  private nonisolated func bootstrap(tls: TLSContext?) -> ServerBootstrap {
    let (registry, configuration, responder, iceServers) = (registry, configuration, responder, iceServers)
    let rules = RequestRules(
      host: configuration.host, allowedOrigins: configuration.allowedOrigins, serverNames: configuration.serverNames,
      machineName: RequestRules.machineName(), isSecure: tls != nil)
    return ServerBootstrap(group: loop)
      .serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard registry.value.admit(channel) else { throw ChannelError.ioOnClosedChannel }
          try Self.prepare(
            channel, registry: registry, configuration: configuration, rules: rules, iceServers: iceServers,
            responder: responder, tls: tls)
        }
      }
  }

  /// Builds the pipeline of a new connection: TLS, HTTP, and then either the page or a WebSocket.
  private static func prepare(
    _ channel: any Channel, registry: NIOLoopBoundBox<ConnectionRegistry>, configuration: Configuration,
    rules: RequestRules, iceServers: @escaping @Sendable () -> [ICEServer], responder: (any HTTPRequestResponder)?,
    tls: TLSContext?
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    if let tls {
      try pipeline.addHandler(TLSHandler(server: tls, closeTimeout: TimeAmount(configuration.limits.closeTimeout)))
    }
    let page = PageHandler(
      timeout: configuration.limits.requestTimeout, iceServers: iceServers, responder: responder)
    let httpOnly = NIOLoopBound(
      [RequestFilter(rules: rules, page: page), page] as [any RemovableChannelHandler], eventLoop: channel.eventLoop)
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: min(configuration.limits.maximumMessageBytes, Int(UInt32.max)), automaticErrorHandling: false,
      shouldUpgrade: { channel, head in channel.eventLoop.makeSucceededFuture(head.method == .GET ? [:] : nil) },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture { try registry.value.open(channel) }
      })
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = configuration.limits.maximumHeaderBytes
    limits.maxHeaderListSize = configuration.limits.maximumHeaderBytes
    limits.maxHeaderFieldCount = 64
    try pipeline.configureHTTPServerPipeline(
      withServerUpgrade: (
        upgraders: [upgrader],
        completionHandler: { context in
          for handler in httpOnly.value { context.pipeline.syncOperations.removeHandler(handler, promise: nil) }
        }
      ), withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
    let upgradeHandler = try pipeline.handler(type: HTTPServerUpgradeHandler.self)
    try pipeline.addHandler(httpOnly.value[0], position: .before(upgradeHandler))
    try pipeline.addHandler(page)
  }
}

extension SkyRTCServer.TLS {
  /// Loads both files.
  fileprivate func context() throws(SkyRTCServer.StartError) -> TLSContext {
    do throws(TLSError) {
      return try TLSContext(certificateFile: certificateFile, keyFile: keyFile)
    } catch {
      throw SkyRTCServer.StartError(error)
    }
  }
}

extension SkyRTCServer.StartError {
  /// Wraps why there is no TLS with a certificate and its key.
  package init(_ error: TLSError) {
    switch error {
    case .unusableCertificate(let file, let reason):
      let text = reason == "no start line" ? "it contains no PEM certificate" : reason
      self = .unusableCertificate(file: file, reason: FileReason.of(file, otherwise: text))
    case .unusableKey(let file, _):
      let text = "it contains no PEM private key that matches the certificate"
      self = .unusableKey(file: file, reason: FileReason.of(file, otherwise: text))
    case .notSetUp, .noTrustedCertificates, .certificateRejected, .handshakeFailed, .endedDuringHandshake, .truncated,
      .aborted:
      self = .tlsNotSetUp(reason: error.reason)
    }
  }

  fileprivate static func listening(_ configuration: SkyRTCServer.Configuration, _ error: any Error) -> Self {
    let (host, port) = (configuration.host, configuration.port)
    switch error {
    case let error as IOError where error.errnoCode == EADDRINUSE:
      return .portTaken(host: host, port: port)
    case let error as IOError:
      return .cannotListen(host: host, port: port, reason: String(cString: strerror(error.errnoCode)))
    case is SocketAddressError, is SocketAddressError.UnknownHost:
      return .cannotListen(host: host, port: port, reason: "there is no such address")
    default:
      return .cannotListen(host: host, port: port, reason: "\(error)")
    }
  }
}

extension SkyRTCServer {
  /// The address of a started server.
  public struct Address: Sendable, Hashable {
    public var host: String
    public var port: Int
    public var isSecure: Bool

    /// The URL for clients, for example `ws://127.0.0.1:3000`.
    public var webSocketURL: String { "\(isSecure ? "wss" : "ws")://\(authority)" }

    /// The URL for browsers, for example `http://localhost:3000/`. A room is added as a fragment: `#100`.
    public var pageURL: String { "\(isSecure ? "https" : "http")://\(authority)/" }

    /// The URL for browsers that opens a room, whose name is the fragment (RFC 3986, 3.5).
    public func pageURL(room: String) -> String {
      let digits = Array("0123456789ABCDEF")
      return room.utf8.reduce(into: pageURL + "#") { encoded, byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "~"), UInt8(ascii: "/"):
          encoded.unicodeScalars.append(Unicode.Scalar(byte))
        default:
          encoded += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
      }
    }

    /// Clients cannot connect to an unspecified address, so localhost replaces it.
    private var authority: String {
      switch host {
      case "0.0.0.0", "::": "localhost:\(port)"
      case let host where host.contains(":"): "[\(host)]:\(port)"
      default: "\(host):\(port)"
      }
    }
  }
}

extension SkyRTCServer {
  /// Why the server could not be started.
  public enum StartError: Error, Sendable, Hashable, CustomStringConvertible {
    case wrongPort(Int)
    case portTaken(host: String, port: Int)
    case cannotListen(host: String, port: Int, reason: String)
    case unusableCertificate(file: String, reason: String)
    case unusableKey(file: String, reason: String)
    /// OpenSSL rejects the settings of TLS, or has no memory.
    case tlsNotSetUp(reason: String)
    case alreadyStarted

    public var description: String {
      switch self {
      case .wrongPort(let port):
        "The port \(port) does not exist: ports go from 0 to 65535, where 0 takes any free one."
      case .portTaken(let host, let port):
        "Port \(port) of \(host) is already taken by another program."
      case .cannotListen(let host, let port, let reason):
        "The server cannot listen on port \(port) of \(host): \(reason)."
      case .unusableCertificate(let file, let reason):
        "The TLS certificate in \(file) cannot be used: \(reason)."
      case .unusableKey(let file, let reason):
        "The TLS key in \(file) cannot be used: \(reason)."
      case .tlsNotSetUp(let reason):
        "The server cannot use TLS: \(reason)."
      case .alreadyStarted:
        "The server has been started before; make a new one to start again."
      }
    }
  }
}

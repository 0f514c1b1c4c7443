internal import Glibc
internal import ICE
internal import Media
internal import NIOCore
internal import NIOPosix
internal import NIOTLS
internal import TLS

/// A TCP or TLS connection of a measurement. Its events are added to the inbox.
final class ProbeStream: Sendable {
  /// How a TLS connection is verified.
  struct Trust: Sendable {
    /// The name or the address that the certificate must be for.
    let host: String
    /// A file with trusted certificates in PEM; nil for those of the system.
    let caCertificate: String?
  }

  let number: Int
  private let inbox: ProbeInbox
  private let channel: EventLoopFuture<any Channel>

  /// Begins to connect.
  ///
  /// - Parameters:
  ///   - source: where to send from; nil for what the system chooses.
  ///   - number: distinguishes the streams of one inbox.
  ///   - trust: nil for plain TCP.
  init(
    to address: TransportAddress, from source: ProbeSource? = nil, trust: Trust?, number: Int,
    by deadline: MonotonicInstant, _ inbox: ProbeInbox
  ) {
    self.number = number
    self.inbox = inbox
    var bootstrap = ClientBootstrap(group: inbox.loop)
      .connectTimeout(TimeAmount(max(.milliseconds(1), deadline - .now)))
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          source?.bindInterface(of: channel)
          let pipeline = channel.pipeline.syncOperations
          if let trust { try pipeline.addHandler(Self.tlsHandler(trust, number: number, inbox)) }
          try pipeline.addHandler(ProbeStreamHandler(number: number, inbox: inbox))
        }
      }
    do {
      if let source { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: source.ip.description, port: 0)) }
      let remote = try SocketAddress(ipAddress: address.ip.description, port: Int(address.port))
      channel = bootstrap.connect(to: remote)
    } catch {
      channel = inbox.loop.makeFailedFuture(error)
    }
    channel.whenFailure { inbox.add(.stream(number, .closed(Self.reason($0)))) }
  }

  func write(_ bytes: ByteBuffer) {
    channel.whenSuccess { $0.writeAndFlush(bytes, promise: nil) }
  }

  /// Closes the connection when what was written is sent.
  func close() {
    channel.whenSuccess { $0.close(promise: nil) }
  }

  /// The chain is verified here and not by OpenSSL during the handshake, because the result is reported as well.
  private static func tlsHandler(_ trust: Trust, number: Int, _ inbox: ProbeInbox) throws -> TLSHandler {
    try TLSHandler(client: TLSContext(trusting: .system), host: trust.host) { chain in
      let certificate = CertificateDiagnosis.verifying(chain, host: trust.host, caCertificate: trust.caCertificate)
      inbox.add(.stream(number, .certificate(certificate)))
      return certificate.isTrusted
    }
  }

  static func reason(_ error: any Error) -> String {
    switch error {
    case let error as IOError:
      return strerror(error.errnoCode).map { String(cString: $0) } ?? "error \(error.errnoCode)"
    case ChannelError.connectTimeout: return "no answer"
    case TLSError.certificateRejected, TLSError.handshakeFailed, TLSError.endedDuringHandshake:
      return "the TLS handshake failed"
    case TLSError.truncated: return "the connection ended"
    case let error as TLSError: return error.reason
    default: return "\(error)".printable()
    }
  }
}

private final class ProbeStreamHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let number: Int
  private let inbox: ProbeInbox
  private var reason: String?

  init(number: Int, inbox: ProbeInbox) {
    self.number = number
    self.inbox = inbox
  }

  func channelActive(context: ChannelHandlerContext) { inbox.add(.stream(number, .connected(.now))) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { inbox.add(.stream(number, .secured(.now))) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    inbox.add(.stream(number, .bytes(unwrapInboundIn(data), .now)))
  }

  func channelInactive(context: ChannelHandlerContext) { inbox.add(.stream(number, .closed(reason))) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    reason = reason ?? ProbeStream.reason(error)
    context.close(promise: nil)
  }
}

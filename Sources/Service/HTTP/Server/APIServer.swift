import Hummingbird
import HummingbirdCore
import HummingbirdTLS
package import Logging
package import NIOCore
import NIOSSL
import OptionValues
import ServiceLifecycle

/// The HTTP server of the API and the page.
package struct APIServer: Service {
  /// The maximum size of the head of a request, and the time for it.
  private static let maximumHeaders = 16_384
  private static let headTime = TimeAmount.seconds(10)

  private let application: Application<APIResponder>
  private let metrics: ServiceMetrics

  /// Why the server cannot be set up.
  package struct SetupError: Error, CustomStringConvertible {
    package let description: String
  }

  /// - Parameter onRunning: is called with the address when the server listens.
  package init(
    _ responder: APIResponder, logger: Logger, onRunning: @escaping @Sendable (SocketAddress?) async -> Void = { _ in }
  ) throws(SetupError) {
    let configuration = responder.configuration
    let channel = HTTP1Channel.Configuration(
      additionalChannelHandlers: [RequestLimitHandler()], idleTimeout: Self.headTime,
      httpDecoderConfiguration: .init(
        maxHeaderFieldSize: Self.maximumHeaders, maxHeaderListSize: Self.maximumHeaders, maxHeaderFieldCount: 100))
    var server = HTTPServerBuilder.http1(configuration: channel)
    if let files = configuration.tls {
      do {
        let chain = try NIOSSLCertificate.fromPEMFile(files.certificate).map { NIOSSLCertificateSource.certificate($0) }
        let key = NIOSSLPrivateKeySource.privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem))
        var tls = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
        // Older versions are not to be used any more (RFC 8996).
        tls.minimumTLSVersion = .tlsv12
        server = try .tls(server, tlsConfiguration: tls)
      } catch {
        throw SetupError(
          description: "The certificate \(files.certificate) or the key \(files.key) cannot be used: \(error).")
      }
    }
    metrics = responder.metrics
    application = Application(
      responder: responder, server: server,
      configuration: ApplicationConfiguration(
        address: .hostname(configuration.listen.host, port: Int(configuration.listen.port)), backlog: 256,
        availableConnectionsDelegate: .maximum(configuration.limits.connections, logger: logger)),
      onServerRunning: { await onRunning($0.localAddress) }, logger: logger)
  }

  package func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await application.run() }
      group.addTask {
        let loop = application.eventLoopGroup.next()
        while !Task.isCancelled {
          try await ServiceTimer.sleep(for: .seconds(1))
          let due = NIODeadline.now() + .milliseconds(100)
          let late = try await loop.scheduleTask(deadline: due) { NIODeadline.now() - due }.futureResult.get()
          metrics.eventLoopWasLate(.nanoseconds(max(0, late.nanoseconds)))
        }
      }
      try await group.next()
      group.cancelAll()
    }
  }
}

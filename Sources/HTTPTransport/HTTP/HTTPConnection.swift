import NIOCore
import NIOHTTP1
import NIOPosix
import Signalling
import Synchronization
import TLS

/// One TCP or TLS connection for one exchange at a time.
final class HTTPConnection: Sendable {
  private let channel: any Channel
  private let handler: NIOLoopBound<HTTPExchangeHandler>
  private let receivedNothing: Atomic<Bool>
  /// The scope of the server's address.
  let scope: NetworkScope

  private init(channel: any Channel, handler: NIOLoopBound<HTTPExchangeHandler>) {
    self.channel = channel
    self.handler = handler
    receivedNothing = Atomic(true)
    scope = channel.remoteAddress?.scope ?? .loopback
  }

  var isOpen: Bool { channel.isActive }
  /// Whether the last exchange failed before the server sent anything.
  var hasReceivedNothing: Bool { receivedNothing.load(ordering: .relaxed) }

  func close() { channel.close(promise: nil) }

  static func open(
    to url: HTTPURL, options: HTTPClient.Options, narrowestScope: NetworkScope = .loopback, within timeout: Duration,
    on loop: any EventLoop
  ) async throws(HTTPError) -> HTTPConnection {
    let context = try tlsContext(for: url, options: options)
    let ready = loop.makePromise(of: NIOLoopBound<HTTPExchangeHandler>.self)
    let timer = loop.scheduleTask(in: TimeAmount(max(.zero, timeout))) {
      ready.fail(HTTPError.timedOut(url, after: timeout))
    }
    defer { timer.cancel() }
    let connected = ClientBootstrap(group: loop)
      .connectTimeout(TimeAmount(max(.milliseconds(1), timeout)))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if narrowestScope > .loopback { try pipeline.addHandler(AddressFilter(narrowest: narrowestScope)) }
          if let context {
            try pipeline.addHandler(TLSHandler(client: context, host: url.host, closeTimeout: .seconds(1)))
          }
          var limits = NIOHTTPDecoderLimitConfiguration()
          limits.maxHeaderFieldSize = HTTPClient.Options.maximumHeaderFieldBytes
          limits.maxHeaderListSize = HTTPClient.Options.maximumHeaderBytes
          limits.maxHeaderFieldCount = HTTPClient.Options.maximumHeaderCount
          try pipeline.addHTTPClientHandlers(
            leftOverBytesStrategy: .dropBytes, enableOutboundHeaderValidation: true, encoderConfiguration: .init(),
            decoderLimitConfiguration: limits)
          let handler = HTTPExchangeHandler(
            url: url, maximumBodyBytes: options.maximumBodyBytes, idleTimeout: options.idleTimeout, ready: ready,
            waitsForTLS: context != nil)
          try pipeline.addHandler(handler)
        }
      }
      .connect(host: url.host, port: url.port)
    connected.whenComplete { result in
      switch result {
      case .success(let channel): ready.futureResult.whenFailure { _ in channel.close(promise: nil) }
      case .failure(let error):
        if let rejection = AddressFilter.rejection(in: error) {
          let reason = "its address is in \(rejection.scope), but the server that named it is in \(narrowestScope)"
          ready.fail(HTTPError.notPermitted(url, reason: reason))
        } else {
          ready.fail(HTTPError.unreachable(url, reason: SocketReason.text(error)))
        }
      }
    }
    do {
      let handler = try await ready.futureResult.get()
      return HTTPConnection(channel: try await connected.get(), handler: handler)
    } catch {
      throw error as? HTTPError ?? .unreachable(url, reason: SocketReason.text(error))
    }
  }

  func exchange(
    _ request: HTTPRequest, within timeout: Duration
  ) async throws(HTTPError) -> (response: HTTPResponse, staysOpen: Bool) {
    receivedNothing.store(true, ordering: .relaxed)
    let result = channel.eventLoop.makePromise(of: (response: HTTPResponse, staysOpen: Bool).self)
    let timer = channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) { [channel] in
      result.fail(HTTPError.timedOut(request.url, after: request.timeout))
      channel.close(promise: nil)
    }
    defer { timer.cancel() }
    channel.eventLoop.execute { [handler] in handler.value.begin(request, result) }
    do {
      var exchanged = try await result.futureResult.get()
      exchanged.response.scope = scope
      return exchanged
    } catch {
      if case HTTPError.invalidResponse(_, HTTPExchangeHandler.closedEarly) = error {
      } else {
        receivedNothing.store(false, ordering: .relaxed)
      }
      throw error as? HTTPError ?? .invalidResponse(request.url, reason: SocketReason.text(error))
    }
  }

  private static func tlsContext(
    for url: HTTPURL, options: HTTPClient.Options
  ) throws(HTTPError) -> TLSContext? {
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

package import NIOCore
import NIOHTTP1
import NIOPosix
import Signalling
import Synchronization

/// An HTTP/1.1 client for small messages (RFC 9112), as signalling needs them: it keeps connections open for further
/// requests, and limits the time of every request and the size of every response.
///
/// It does not follow redirects, because the caller decides whether a request may be repeated elsewhere.
///
/// Left out on purpose: HTTP/2, proxies, cookies, compression, streamed bodies. No signalling server needs them.
package final class HTTPClient: Sendable {
  package struct Options: Sendable {
    package var trust = TLSTrust.system
    /// The timeout for TCP and TLS together.
    package var connectTimeout: Duration = .seconds(10)
    /// The maximum size of a response's body in bytes.
    package var maximumBodyBytes = 1 << 20
    /// The maximum size of one header field of a response, that of all together, and their number.
    static let maximumHeaderFieldBytes = 16 * 1024
    static let maximumHeaderBytes = 64 * 1024
    static let maximumHeaderCount = 128
    /// How long an unused connection stays open.
    package var idleTimeout: Duration = .seconds(20)

    package init() {}
  }

  private struct State {
    /// Unused connections, by origin; at most ``maximumIdle`` for each.
    var idle: [String: [HTTPConnection]] = [:]
    var isClosed = false
  }

  private static let maximumIdle = 4

  private let options: Options
  private let group: any EventLoopGroup
  private let state = Mutex(State())

  package init(options: Options = Options(), on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton) {
    self.options = options
    self.group = group
  }

  /// Sends a request and returns its response, whatever its status.
  ///
  /// A request on a kept connection that the server closes at the same moment is sent again on a new one. A POST or
  /// PATCH is only if it was not sent before, because it may have had an effect (RFC 9112, 9.3.1).
  package func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
    let deadline = ContinuousClock.now + request.timeout
    if request.needsNewConnection {
      closeIdle(for: request.url)
    } else if let kept = takeIdle(for: request.url, narrowestScope: request.narrowestScope) {
      do {
        return try await exchange(request, on: kept, deadline: deadline)
      } catch {
        guard case .invalidResponse(_, let reason) = error,
          reason == HTTPExchangeHandler.closedBeforeRequest
            || kept.hasReceivedNothing && request.method != .POST && request.method != .PATCH
        else { throw error }
      }
    }
    let connection = try await HTTPConnection.open(
      to: request.url, options: options, narrowestScope: request.narrowestScope,
      within: min(options.connectTimeout, deadline - .now), on: group.any())
    return try await exchange(request, on: connection, deadline: deadline)
  }

  /// The number of connections that are open and unused.
  package var unusedConnectionCount: Int {
    state.withLock { state in state.idle.values.reduce(0) { $0 + $1.count(where: \.isOpen) } }
  }

  /// Closes the unused connections. Requests in progress end as usual.
  package func close() {
    let all = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [:] }
      return state.idle.values.flatMap(\.self)
    }
    for connection in all { connection.close() }
  }

  deinit {
    close()
  }

  private func exchange(
    _ request: HTTPRequest, on connection: HTTPConnection, deadline: ContinuousClock.Instant
  ) async throws(HTTPError) -> HTTPResponse {
    let (response, staysOpen) = try await connection.exchange(request, within: max(.zero, deadline - .now))
    if !staysOpen || !keep(connection, for: request.url) { connection.close() }
    return response
  }

  private static func key(_ url: HTTPURL) -> String { "\(url.isSecure) \(url.host.lowercased()) \(url.port)" }

  private func takeIdle(for url: HTTPURL, narrowestScope: NetworkScope) -> HTTPConnection? {
    state.withLock { state in
      var kept = state.idle[Self.key(url), default: []].filter(\.isOpen)
      let position = kept.lastIndex { $0.scope >= narrowestScope }
      defer { state.idle[Self.key(url)] = kept.isEmpty ? nil : kept }
      return position.map { kept.remove(at: $0) }
    }
  }

  private func closeIdle(for url: HTTPURL) {
    for connection in state.withLock({ $0.idle.removeValue(forKey: Self.key(url)) ?? [] }) { connection.close() }
  }

  private func keep(_ connection: HTTPConnection, for url: HTTPURL) -> Bool {
    state.withLock { state in
      var kept = state.idle[Self.key(url), default: []].filter(\.isOpen)
      guard !state.isClosed, kept.count < Self.maximumIdle else { return false }
      kept.append(connection)
      state.idle[Self.key(url)] = kept
      return true
    }
  }
}

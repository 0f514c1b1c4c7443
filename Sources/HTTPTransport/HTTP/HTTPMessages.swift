internal import Media
package import NIOCore
package import NIOHTTP1
package import Signalling
import TLS

/// A request with a complete body.
package struct HTTPRequest: Sendable {
  package var method: HTTPMethod
  package var url: HTTPURL
  /// The headers besides `Host`, `Content-Length` and `User-Agent`, which the client adds.
  package var headers: HTTPHeaders
  package var body: ByteBuffer?
  /// The time from the request to the end of the response.
  package var timeout: Duration
  /// Whether no kept connection may be used, because the network may have changed: then they do not work any more, and
  /// nothing shows that.
  package var needsNewConnection = false
  /// The narrowest scope of an address to which the request is sent.
  package var narrowestScope = NetworkScope.loopback

  package init(
    _ method: HTTPMethod, _ url: HTTPURL, headers: HTTPHeaders = [:], body: ByteBuffer? = nil,
    timeout: Duration = .seconds(10)
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
  }
}

/// A response with a complete body.
package struct HTTPResponse: Sendable {
  package var status: HTTPResponseStatus
  package var headers: HTTPHeaders
  package var body: ByteBuffer
  /// The scope of the address that sent the response.
  package var scope = NetworkScope.loopback

  package init(status: HTTPResponseStatus, headers: HTTPHeaders = [:], body: ByteBuffer = ByteBuffer()) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The body as text; bytes that are not UTF-8 are replaced.
  package var text: String { String(decoding: body.readableBytesView, as: UTF8.self) }

  /// The first digit of the status: 2 for success.
  package var statusClass: UInt { status.code / 100 }

  /// The `Retry-After` header in seconds, at most an hour; nil if it is absent or a date (RFC 9110, 10.2.3).
  package var retryAfter: Duration? {
    guard let text = headers.first(name: "Retry-After"), let seconds = UInt32(text) else { return nil }
    return .seconds(Int64(min(seconds, 3_600)))
  }
}

/// Why a request has no response.
public enum HTTPError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No TCP connection was established.
  case unreachable(HTTPURL, reason: String)
  /// The TLS handshake failed.
  case notTrusted(HTTPURL, reason: String)
  /// The trusted certificates cannot be read.
  case noCertificates(file: String, reason: String)
  /// The response does not follow HTTP/1.1, or the connection ended before it was complete.
  case invalidResponse(HTTPURL, reason: String)
  case responseTooLarge(HTTPURL, limit: Int)
  case timedOut(HTTPURL, after: Duration)
  /// All addresses of the host are in a narrower network than a server may name: this machine, or a private network.
  case notPermitted(HTTPURL, reason: String)

  public var description: String {
    switch self {
    case .unreachable(let url, let reason): "\(Self.short(url)) cannot be reached: \(reason)."
    case .notTrusted(let url, TLSError.notTLS):
      "The TLS handshake with \(Self.short(url)) failed: \(TLSError.notTLS). Is it \(Self.short(url.withOtherSecurity))?"
    case .notTrusted(let url, let reason): "The TLS handshake with \(Self.short(url)) failed: \(reason)."
    case .noCertificates(let file, let reason): "The certificates in \(file) cannot be read: \(reason)."
    // What a server with TLS does with a request without it.
    case .invalidResponse(let url, let reason)
    where !url.isSecure && [HTTPExchangeHandler.closedEarly, SocketReason.notHTTP].contains(reason):
      "The response of \(Self.short(url)) is invalid: \(reason). Is it \(Self.short(url.withOtherSecurity))?"
    case .invalidResponse(let url, let reason): "The response of \(Self.short(url)) is invalid: \(reason)."
    case .responseTooLarge(let url, let limit): "The response of \(Self.short(url)) is larger than \(limit) bytes."
    case .timedOut(let url, let limit): "\(Self.short(url)) did not respond within \(limit)."
    case .notPermitted(let url, let reason): "\(Self.short(url)) is not requested: \(reason)."
    }
  }

  /// The beginning of an address, because a server may have chosen it with a redirect.
  private static func short(_ url: HTTPURL) -> String { url.description.printable() }
}

extension SignallingConnectError {
  /// Wraps the reason why a request has no response.
  package init(_ error: HTTPError) {
    switch error {
    case .unreachable, .timedOut: self = .unreachable(error.description)
    case .invalidResponse, .responseTooLarge, .notTrusted, .notPermitted: self = .rejected(error.description)
    case .noCertificates: self = .invalidConfiguration(error.description)
    }
  }
}

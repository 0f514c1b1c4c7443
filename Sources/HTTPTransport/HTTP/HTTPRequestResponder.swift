package import NIOCore
package import NIOHTTP1

/// Answers the requests for some paths of an HTTP server.
package protocol HTTPRequestResponder: Sendable {
  /// The maximum size of a request's body that is read, in bytes. Of a longer one, one byte more is passed on.
  var maximumBodyBytes: Int { get }

  /// Whether this responder answers requests for a target, the path and query of the request.
  func handles(_ target: String) -> Bool

  /// Answers a request. The task is cancelled when the client closes the connection.
  func respond(to request: HTTPServerRequest) async -> HTTPResponse
}

/// A request that a server received, with its complete body.
package struct HTTPServerRequest: Sendable {
  package var method: HTTPMethod
  /// The path and query.
  package var target: String
  package var headers: HTTPHeaders
  package var body: ByteBuffer
  /// Names the client's IPv4 address or IPv6 network of 64 bits; empty for this machine.
  package var address: String

  package init(method: HTTPMethod, target: String, headers: HTTPHeaders, body: ByteBuffer, address: String) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.address = address
  }
}

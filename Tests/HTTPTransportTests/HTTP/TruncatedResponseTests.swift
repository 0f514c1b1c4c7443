import HTTPTransport
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TLS
import Testing

@Suite("HTTP responses and the end of TLS")
struct TruncatedResponseTests {
  /// How a request ended.
  private final class Outcome {
    var body: String?
    var error: HTTPError?
  }

  /// Sends a request, lets bytes arrive, and ends the connection, with a `close_notify` or without.
  private func outcome(of response: String, isTruncated: Bool) throws -> Outcome {
    let channel = EmbeddedChannel()
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    let url = try HTTPURL("https://a.example/")
    let ready = channel.eventLoop.makePromise(of: NIOLoopBound<HTTPExchangeHandler>.self)
    let handler = HTTPExchangeHandler(
      url: url, maximumBodyBytes: 1_000, idleTimeout: .seconds(1), ready: ready, waitsForTLS: false)
    try channel.pipeline.syncOperations.addHTTPClientHandlers()
    try channel.pipeline.syncOperations.addHandler(handler)
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 443), promise: nil)
    let outcome = Outcome()
    let result = channel.eventLoop.makePromise(of: (response: HTTPResponse, staysOpen: Bool).self)
    result.futureResult.assumeIsolated().whenComplete { result in
      switch result {
      case .success(let exchanged): outcome.body = exchanged.response.text
      case .failure(let error): outcome.error = error as? HTTPError
      }
    }
    handler.begin(HTTPRequest(.GET, url), result)
    channel.pipeline.fireChannelRead(ByteBuffer(string: response))
    if isTruncated { channel.pipeline.fireErrorCaught(TLSError.truncated) }
    channel.close(promise: nil)
    return outcome
  }

  @Test("a response that ends with the connection is complete only after a close_notify")
  func untilEnd() throws {
    let response = "HTTP/1.1 200 OK\r\n\r\nhalf"
    #expect(try outcome(of: response, isTruncated: false).body == "half")
    let cut = try outcome(of: response, isTruncated: true)
    #expect(cut.body == nil)
    let reason = "TLS was cut off after status 200, so that the response may be incomplete"
    #expect(cut.error == .invalidResponse(try HTTPURL("https://a.example/"), reason: reason))
    // An error says enough by its status.
    #expect(try outcome(of: response.replacing("200 OK", with: "404 Not Found"), isTruncated: true).body == "half")
  }

  @Test(
    "a response with a length or with chunks is complete without a close_notify",
    arguments: [
      "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfull",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfull\r\n0\r\n\r\n",
    ])
  func delimited(response: String) throws {
    #expect(try outcome(of: response, isTruncated: true).body == "full")
    #expect(try outcome(of: response, isTruncated: false).body == "full")
  }

  @Test("a response that ends before its length or its last chunk is not complete", arguments: [true, false])
  func incomplete(isTruncated: Bool) throws {
    for response in [
      "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ] {
      let outcome = try outcome(of: response, isTruncated: isTruncated)
      #expect(outcome.body == nil)
      #expect(outcome.error != nil)
    }
  }
}

import HTTPTransport
import Testing

@Suite("WebSocket URLs")
struct WebSocketURLTests {
  @Test(
    "a URL has a host, a port and a target",
    arguments: [
      ("ws://localhost:3000", "localhost", 3000, "/", false),
      ("wss://calls.example:8443", "calls.example", 8443, "/", true),
      ("ws://example.org", "example.org", 80, "/", false), ("wss://example.org/", "example.org", 443, "/", true),
      ("WS://h/a/b?c=d%20e", "h", 80, "/a/b?c=d%20e", false), ("ws://h?x", "h", 80, "/?x", false),
      ("ws://127.0.0.1:1/devtools/page/AB", "127.0.0.1", 1, "/devtools/page/AB", false),
      ("ws://[::1]:3000/", "::1", 3000, "/", false),
    ])
  func parts(text: String, host: String, port: Int, target: String, isSecure: Bool) throws {
    let url = try WebSocketURL(text)
    #expect(url.host == host)
    #expect(url.port == port)
    #expect(url.target == target)
    #expect(url.isSecure == isSecure)
  }

  @Test("the Host header has no default port, and brackets for IPv6")
  func authority() throws {
    #expect(try WebSocketURL("ws://h:80").authority == "h")
    #expect(try WebSocketURL("wss://h:80").authority == "h:80")
    #expect(try WebSocketURL("ws://[::1]:9").authority == "[::1]:9")
    #expect(try WebSocketURL("wss://h:443/x").description == "wss://h/x")
  }

  @Test(
    "a text that is not a WebSocket URL is rejected with a sentence",
    arguments: [
      "", "localhost", "localhost:3000", "http://localhost", "ws://", "ws:///x", "ws://[]", "ws://h:0", "ws://h:65536",
      "ws://h:99999999999999999999", "ws://u:p@h", "ws://h/#100", "ws://h h", "//h", "3000", "ws:h",
    ])
  func refused(text: String) {
    #expect { try WebSocketURL(text) } throws: { "\($0)".hasSuffix(".") && "\($0)".count > 20 }
  }
}

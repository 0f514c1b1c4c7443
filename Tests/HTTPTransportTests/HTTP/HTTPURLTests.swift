import HTTPTransport
import TestSupport
import Testing

@Suite("HTTP URLs")
struct HTTPURLTests {
  @Test(
    "an address is divided into its parts",
    arguments: [
      ("http://a", "http://a/"), ("HTTPS://a.example:443/x?y=1#z", "https://a.example/x?y=1"),
      ("https://[2001:db8::1]:8443/w", "https://[2001:db8::1]:8443/w"), ("http://10.0.0.1:80", "http://10.0.0.1/"),
      ("https://a/b%20c", "https://a/b%20c"),
    ])
  func parsed(text: String, description: String) throws {
    #expect(try HTTPURL(text).description == description)
  }

  @Test(
    "a text that is no HTTP address is rejected",
    arguments: [
      "", "a", "/x", "ftp://a", "http://", "http:///x", "ws://a", "http://a:0", "http://a:65536", "http://a:x",
      "http://[]", "https://[]:8443/x", "http://a/" + String(repeating: "é", count: 4_000),
    ])
  func rejected(text: String) {
    #expect(throws: HTTPURL.ParseError.notAnAddress(text)) { try HTTPURL(text) }
  }

  @Test("an address with a user name or a password is rejected without repeating it")
  func userInfo() {
    #expect(throws: HTTPURL.ParseError.userInfo) { try HTTPURL("https://user:secret@a/") }
    #expect(throws: HTTPURL.ParseError.userInfo) { try HTTPURL("https://user@a/") }
  }

  @Test(
    "a Location is resolved against the address of the request (RFC 3986, 5.4)",
    arguments: [
      ("/s/1", "https://a:8443/s/1"), ("s/1", "https://a:8443/b/s/1"), ("../s", "https://a:8443/s"),
      ("./s?x=1", "https://a:8443/b/s?x=1"), ("?y", "https://a:8443/b/c?y"), ("//h/s", "https://h/s"),
      ("https://h/s", "https://h/s"), ("http://h:81/s#f", "http://h:81/s"), ("", "https://a:8443/b/c?q=2"),
      ("../../../../s", "https://a:8443/s"),
    ])
  func resolved(reference: String, description: String) throws {
    #expect(try HTTPURL("https://a:8443/b/c?q=2").resolving(reference).description == description)
  }

  @Test(
    "a Location that leads to no HTTP address is rejected",
    arguments: ["file:///etc/passwd", "javascript:1", "https://user:secret@h/", String(repeating: "x", count: 9_000)])
  func notResolved(reference: String) throws {
    let base = try HTTPURL("https://a/b")
    #expect(throws: HTTPURL.ParseError.self) { try base.resolving(reference) }
  }

  @Test("the sentence about a failed request contains only the beginning of a long address")
  func longAddress() throws {
    let url = try HTTPURL("https://a/" + String(repeating: "x", count: 8_000))
    #expect(HTTPError.timedOut(url, after: .seconds(1)).description.utf8.count < 300)
  }

  @Test("two addresses have the same origin if scheme, host and port are equal")
  func origin() throws {
    let url = try HTTPURL("https://a.example/x")
    #expect(url.hasSameOrigin(as: try HTTPURL("https://A.example:443/y")))
    #expect(!url.hasSameOrigin(as: try HTTPURL("http://a.example/x")))
    #expect(!url.hasSameOrigin(as: try HTTPURL("https://a.example:8443/x")))
    #expect(!url.hasSameOrigin(as: try HTTPURL("https://b.example/x")))
  }

  @Test("damaged addresses do no harm, and no target contains a line break or a space", arguments: 0..<300)
  func damaged(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var bytes = Array("https://[2001:db8::1]:8443/whip/room?x=%20y#z".utf8)
    for _ in 0..<4 {
      let index = Int.random(in: 0..<bytes.count, using: &generator)
      bytes[index] = UInt8.random(in: 0...255, using: &generator)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let base = try HTTPURL("https://a/b")
    for url in [try? HTTPURL(text), try? base.resolving(text)].compactMap(\.self) {
      #expect(url.target.hasPrefix("/"))
      #expect(url.target.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "\(url.target)")
      #expect(url.host.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "\(url.host)")
    }
  }
}

import HTTPTransport
import NIOHTTP1
import SkyRTC
import Testing

@Suite("Request rules")
struct RequestRulesTests {
  private static func request(
    host: String? = "localhost:3000", origin: String? = nil, upgrades: Bool = true,
    key: String? = "dGhlIHNhbXBsZSBub25jZQ==", version: HTTPVersion = .http1_1
  ) -> HTTPRequestHead {
    var head = HTTPRequestHead(version: version, method: .GET, uri: "/")
    if let host { head.headers.add(name: "Host", value: host) }
    if let origin { head.headers.add(name: "Origin", value: origin) }
    if upgrades {
      head.headers.add(name: "Upgrade", value: "websocket")
      if let key { head.headers.add(name: "Sec-WebSocket-Key", value: key) }
    }
    return head
  }

  private static func status(
    _ head: HTTPRequestHead, at host: String = "127.0.0.1", allowing origins: [String] = [],
    names: [String] = [], isSecure: Bool = false
  ) -> Int? {
    RequestRules(
      host: host, allowedOrigins: origins, serverNames: names, machineName: "Media.lan.example", isSecure: isSecure
    ).rejection(of: head)?.status
  }

  @Test("header values that are not ASCII are rejected before they are compared")
  func marks() {
    let marks = String(repeating: "\u{301}", count: 4_000) + String(repeating: "\u{316}", count: 4_000)
    #expect(Self.status(Self.request(host: "localhost\(marks)")) == 400)
    var page = Self.request(upgrades: false)
    page.uri = "/\(marks)"
    #expect(Self.status(page) == 400)
    #expect(Self.status(Self.request(origin: "https://a\(marks)")) == 400)
    for name in ["Upgrade", "Connection", "Sec-WebSocket-Version"] {
      var head = Self.request()
      head.headers.replaceOrAdd(name: name, value: marks)
      #expect(Self.status(head) == 400)
    }
  }

  @Test("programs, which send no origin, and the server's own page may join")
  func own() {
    #expect(Self.status(Self.request()) == nil)
    for (host, origin) in [
      ("localhost:3000", "http://localhost:3000"), ("127.0.0.1:3000", "http://127.0.0.1:3000"),
      ("[::1]:3000", "http://[::1]:3000"), ("LOCALHOST:3000", "http://localhost:3000"),
      ("localhost", "http://localhost"),
      // A proxy has terminated TLS.
      ("chat.localhost", "https://chat.localhost"), ("chat.localhost:443", "https://chat.localhost"),
    ] {
      #expect(Self.status(Self.request(host: host, origin: origin)) == nil, "\(host) \(origin)")
    }
    #expect(
      Self.status(
        Self.request(host: "example.org", origin: "https://example.org"), at: "0.0.0.0", names: ["example.org"]) == nil)
  }

  @Test("a request is known to come from a page of the server by one origin and one host that are the same")
  func ownPage() {
    func isOwn(_ origins: String..., hosts: [String] = ["localhost:3000"]) -> Bool {
      SkyRTCServer.isOwnPage(origins: origins, hosts: hosts)
    }
    #expect(isOwn("http://localhost:3000"))
    #expect(isOwn("https://chat.example", hosts: ["Chat.Example"]))
    #expect(!isOwn("http://localhost:3001"))
    #expect(!isOwn("http://evil.example"))
    #expect(!isOwn("null"))
    #expect(!isOwn("http://localhost:3000", "http://evil.example"))
    #expect(!SkyRTCServer.isOwnPage(origins: [], hosts: ["localhost:3000"]))
    #expect(!isOwn("http://localhost:3000", hosts: []))
  }

  @Test(
    "pages of other origins may not join",
    arguments: [
      "https://evil.example", "http://localhost:3001", "http://localhost", "https://localhost.evil.example:3000",
      "null", "",
      "file://", "http://localhost:3000@evil.example", "http://localhost:3000.evil.example", "http://[::1]:3000",
    ])
  func others(origin: String) {
    #expect(Self.status(Self.request(origin: origin)) == 403)
    #expect(Self.status(Self.request(host: "192.0.2.1:3000", origin: origin), at: "0.0.0.0") == 403)
    #expect(Self.status(Self.request(origin: origin), allowing: ["*"]) == nil)
    #expect(Self.status(Self.request(origin: origin, upgrades: false)) == nil, "the page's files are not secret")
  }

  @Test("an allowed origin may join, and its host is accepted by a server on a loopback address")
  func allowed() {
    let origins = ["https://Chat.example"]
    #expect(Self.status(Self.request(origin: "https://chat.example"), allowing: origins) == nil)
    #expect(Self.status(Self.request(host: "chat.example", origin: "https://chat.example"), allowing: origins) == nil)
    #expect(Self.status(Self.request(origin: "https://other.example"), allowing: origins) == 403)
  }

  @Test("a server on a loopback address rejects other host names", arguments: [true, false])
  func rebinding(upgrades: Bool) {
    for host in [
      "evil.example", "evil.example:3000", "10.0.0.1:3000", "127.evil.example", "localhost.evil.example", "[::2]:3000",
      "",
    ] {
      #expect(Self.status(Self.request(host: host, upgrades: upgrades)) == 421, "\(host)")
      #expect(Self.status(Self.request(host: host, upgrades: upgrades), at: "localhost") == 421, "\(host)")
    }
    for host in ["127.0.0.1", "127.1.2.3:80", "localhost", "room.localhost:3000", "[::1]"] {
      #expect(Self.status(Self.request(host: host, upgrades: upgrades)) == nil, "\(host)")
    }
  }

  @Test(
    "a server that is not on loopback rejects pages of names that are not its own",
    arguments: ["0.0.0.0", "::", "10.0.0.9"]
  )
  func rebindingElsewhere(listening: String) {
    for host in [
      "evil.example", "evil.example:3000", "10.0.0.1.evil.example", "media.example", "localhost.evil.example",
    ] {
      // A page that was loaded by its own name, and one that opens a WebSocket or publishes.
      #expect(Self.status(Self.request(host: host, upgrades: false), at: listening) == 421, "\(host)")
      #expect(Self.status(Self.request(host: host, origin: "http://\(host)"), at: listening) == 421, "\(host)")
      var post = Self.request(host: host, origin: "http://\(host)", upgrades: false)
      post.method = .POST
      #expect(Self.status(post, at: listening) == 421, "\(host)")
      #expect(Self.status(Self.request(host: host, upgrades: false), at: listening, names: ["*"]) == nil)
      // The certificate is not valid for that name.
      #expect(Self.status(Self.request(host: host, upgrades: false), at: listening, isSecure: true) == nil)
    }
  }

  @Test("a server that is not on loopback accepts addresses, localhost, its machine's names and those of its options")
  func ownNames() {
    for host in [
      "192.0.2.1", "192.0.2.1:3000", "[2001:db8::1]:3000", "127.0.0.1:3000", "localhost:3000", "MEDIA.lan.example:3000",
      "media", "media.local:3000", "media.local.", "chat.example", "Calls.example:3000",
    ] {
      let head = Self.request(host: host, origin: "http://\(host)")
      #expect(
        Self.status(head, at: "0.0.0.0", allowing: ["https://chat.example"], names: ["calls.Example"]) == nil, "\(host)"
      )
    }
    #expect(Self.status(Self.request(host: "room.example:3000", upgrades: false), at: "room.example") == nil)
  }

  @Test("programs, which send no origin, reach a server that is not on loopback by any name")
  func programs() {
    #expect(Self.status(Self.request(host: "bot.example:3000"), at: "0.0.0.0") == nil)
    for method: HTTPMethod in [.POST, .PATCH, .DELETE, .OPTIONS] {
      var head = Self.request(host: "bot.example:3000", upgrades: false)
      head.method = method
      #expect(Self.status(head, at: "0.0.0.0") == nil)
    }
  }

  @Test("an upgrade request that violates RFC 6455 is rejected")
  func opening() {
    #expect(Self.status(Self.request(host: nil)) == 400)
    #expect(Self.status(Self.request(version: .http1_0)) == 400)
    for key in [nil, "", "AAAA", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ==AAAA", "\u{1B}[2J"] {
      #expect(Self.status(Self.request(key: key)) == 400)
    }
    var twice = Self.request()
    twice.headers.add(name: "Host", value: "evil.example")
    #expect(Self.status(twice) == 400)
  }

  @Test("a reason is short and contains no control characters")
  func reason() throws {
    let head = Self.request(origin: "http://\u{1B}]0;x\u{7}" + String(repeating: "a", count: 10_000))
    let reason = try #require(RequestRules(host: "127.0.0.1", allowedOrigins: []).rejection(of: head)?.reason)
    #expect(reason.utf8.count < 300 && reason.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
  }
}

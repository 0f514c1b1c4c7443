import Foundation
import HTTPTransport
import NIOCore
import Signalling
import SkyRTC
import Testing

@Suite("Web page", .timeLimit(.minutes(2)))
struct PageTests {
  private func answer(to request: String, at address: SkyRTCServer.Address) async throws -> String {
    let raw = try await RawConnection.connect(to: address.port)
    raw.send(request)
    return await raw.text()
  }

  private func get(_ path: String, method: String = "GET") -> String {
    "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n"
  }

  @Test(
    "each file is served on the WebSocket's port with its type",
    arguments: [
      ("/", "text/html"), ("/index.html", "text/html"), ("/?a=b", "text/html"), ("/app.js", "text/javascript"),
      ("/signalling.js", "text/javascript"), ("/media.js", "text/javascript"), ("/peer.js", "text/javascript"),
      ("/messages.js", "text/javascript"), ("/incoming.js", "text/javascript"), ("/outgoing.js", "text/javascript"),
      ("/panel.js", "text/javascript"), ("/sha256.js", "text/javascript"), ("/tiles.js", "text/javascript"),
      ("/screen.js", "text/javascript"), ("/streams.js", "text/javascript"), ("/layout.js", "text/javascript"),
      ("/figures.js", "text/javascript"), ("/names.js", "text/javascript"), ("/style.css", "text/css"),
      ("/icons.svg", "image/svg+xml"),
      ("/favicon.ico", "image/svg+xml"), ("/settings.json", "application/json"),
    ])
  func files(path: String, type: String) async throws {
    try await withServer { _, address in
      let answer = try await answer(to: get(path), at: address)
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(answer.contains("Content-Type: \(type)"))
      #expect(answer.contains("Content-Security-Policy: default-src 'none'"))
      let length = try #require(answer.firstMatch(of: /Content-Length: (\d+)/)).1
      let body = try #require(answer.split(separator: "\r\n\r\n", maxSplits: 1).last)
      #expect(body.utf8.count == Int(length))
    }
  }

  @Test("the page refers only to files that exist, and to no other server")
  func references() async throws {
    try await withServer { _, address in
      for path in ["/index.html", "/app.js", "/peer.js", "/tiles.js", "/style.css"] {
        let whole = try await answer(to: get(path), at: address)
        let text = try #require(whole.split(separator: "\r\n\r\n", maxSplits: 1).last)
        for match in text.matches(of: /(?:src|href)="([^"#]+)|from '\.\/([^']+)'/) {
          let name = try #require(match.1 ?? match.2)
          let file = try await answer(to: get("/\(name)"), at: address)
          #expect(file.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(name)")
        }
        #expect(text.firstMatch(of: /https?:\/\//) == nil)
      }
    }
  }

  @Test("the page receives the ICE servers of the configuration")
  func settings() async throws {
    let relay = ICEServer(url: "turn:turn.example.org", username: "u", credential: "p\"w")
    try await withServer(iceServers: ["stun:stun.example.org", relay]) { _, address in
      let answer = try await answer(to: get("/settings.json"), at: address)
      let settings =
        #"{"iceServers":[{"urls":"stun:stun.example.org"},"#
        + #"{"credential":"p\"w","urls":"turn:turn.example.org","username":"u"}]}"#
      #expect(answer.hasSuffix("\r\n\r\n" + settings))
    }
  }

  @Test(
    "other requests are answered with an error status",
    arguments: [
      ("GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
      ("GET /../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
      ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", "405"),
      ("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"), ("GET ? HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"),
      ("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "400"),
      ("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "400"),
      (RawConnection.upgrade.replacingOccurrences(of: "GET", with: "POST"), "400"),
      (RawConnection.upgrade.replacingOccurrences(of: "13", with: "8"), "400"),
      ("nonsense\r\n\r\n", "400"), ("GET / HTTP/9.9\r\n\r\n", "400"),
    ])
  func otherRequests(request: String, status: String) async throws {
    try await withServer { _, address in
      let answer = try await answer(to: request, at: address)
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer.prefix(60))")
    }
  }

  @Test(
    "a browser gets a page where there is nothing, with relative links home, and a program one line of text",
    arguments: [("/nonsense", "./"), ("/a/b", "../"), ("/a/b/", "../../"), ("//x", "../"), ("/a?b=/c/d", "./")])
  func nowhere(path: String, home: String) async throws {
    try await withServer { _, address in
      let page = try await answer(
        to: "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAccept: application/xml, TEXT/HTML;q=0.9\r\n\r\n", at: address)
      #expect(page.hasPrefix("HTTP/1.1 404 "))
      #expect(page.contains("Content-Type: text/html") && page.contains("Content-Security-Policy: default-src 'none'"))
      #expect(page.contains("<a class=\"primary\" href=\"\(home)\">") && page.contains("href=\"\(home)style.css\""))
      #expect(!page.contains("nonsense"))
      let text = try await answer(to: get(path), at: address)
      #expect(text.hasPrefix("HTTP/1.1 404 ") && text.contains("Content-Type: text/plain"))
    }
  }

  @Test("HEAD is answered without content")
  func head() async throws {
    try await withServer { _, address in
      let answer = try await answer(to: get("/", method: "HEAD"), at: address)
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(answer.hasSuffix("\r\n\r\n"))
    }
  }

  @Test("a header with thousands of upgrade protocols does not overflow the stack")
  func upgradeBomb() async throws {
    var limits = SkyRTCServer.Limits()
    limits.maximumHeaderBytes = 1 << 20
    try await withServer(limits: limits) { _, address in
      for name in ["a", "websocket"] {
        let list = String(repeating: "\(name),", count: 400_000 / (name.count + 1)) + name
        let answer = try await answer(
          to: "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: \(list)\r\n\r\n", at: address)
        #expect(answer.hasPrefix("HTTP/1.1 400 "))
      }
    }
  }

  @Test("endless headers are cut off")
  func longHeaders() async throws {
    try await withServer { _, address in
      let raw = try await RawConnection.connect(to: address.port)
      raw.send("GET / HTTP/1.1\r\n")
      for number in 0..<2000 { raw.send("X-\(number): \(String(repeating: "x", count: 200))\r\n") }
      _ = await raw.everything()
      let answer = try await answer(to: get("/"), at: address)
      #expect(answer.hasPrefix("HTTP/1.1 200"))
    }
  }

  @Test("an incomplete request is cut off after the timeout")
  func slowRequest() async throws {
    var limits = SkyRTCServer.Limits()
    limits.requestTimeout = .milliseconds(100)
    try await withServer(limits: limits) { _, address in
      for request in ["", "GET / HTTP/1.1\r\nHost:"] {
        let answer = try await answer(to: request, at: address)
        #expect(answer == "")
      }
    }
  }

  @Test("random bytes instead of a request do not crash the server")
  func randomRequests() async throws {
    try await withServer { _, address in
      for _ in 0..<60 {
        let raw = try await RawConnection.connect(to: address.port)
        var bytes = Array(RawConnection.upgrade.utf8)
        for _ in 0..<Int.random(in: 1...5) { bytes[Int.random(in: 0..<bytes.count)] = UInt8.random(in: 0...255) }
        raw.send(bytes)
        raw.send((0..<50).map { _ in UInt8.random(in: 0...255) })
        await raw.close()
      }
      let answer = try await answer(to: get("/"), at: address)
      #expect(answer.hasPrefix("HTTP/1.1 200"))
    }
  }
}

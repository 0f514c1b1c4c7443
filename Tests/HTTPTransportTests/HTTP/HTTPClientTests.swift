import Glibc
import HTTPTransport
import NIOCore
import NIOHTTP1
import NIOPosix
import Signalling
import Synchronization
import TestSupport
import Testing

/// A server that answers with given bytes.
private final class ScriptedServer: Sendable {
  /// What the server does with a request.
  enum Step: Sendable {
    /// Writes this text.
    case write(String)
    /// Writes this text and closes the connection.
    case writeAndClose(String)
    /// Resets the connection.
    case reset
    /// Writes nothing.
    case silence
  }

  private let channel: any Channel
  private let script: Script

  final class Script: Sendable {
    let steps: Mutex<[Step]>
    let requests = Mutex<[String]>([])
    let connectionCount = Mutex(0)
    let connections = Mutex<[any Channel]>([])

    let closesAtOnce: Bool

    init(_ steps: [Step], closesAtOnce: Bool) {
      self.steps = Mutex(steps)
      self.closesAtOnce = closesAtOnce
    }

    func next() -> Step { steps.withLock { $0.isEmpty ? .silence : $0.removeFirst() } }
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    let script: Script
    var received = ""

    init(_ script: Script) { self.script = script }

    func channelActive(context: ChannelHandlerContext) {
      let channel = context.channel
      script.connectionCount.withLock { $0 += 1 }
      script.connections.withLock { $0.append(channel) }
      if script.closesAtOnce { context.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      received += String(buffer: unwrapInboundIn(data))
      guard received.hasSuffix("\r\n\r\n") || received.hasSuffix("(end)") else { return }
      let request = received
      script.requests.withLock { $0.append(request) }
      received = ""
      switch script.next() {
      case .silence: break
      case .reset:
        _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        context.close(promise: nil)
      case .write(let text): context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
      case .writeAndClose(let text):
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        context.close(promise: nil)
      }
    }
  }

  init(_ steps: [Step], closesAtOnce: Bool = false) async throws {
    let script = Script(steps, closesAtOnce: closesAtOnce)
    self.script = script
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Handler(script)) }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  deinit { channel.close(promise: nil) }

  var port: Int { channel.localAddress?.port ?? 0 }
  var connectionCount: Int { script.connectionCount.withLock { $0 } }
  var requests: [String] { script.requests.withLock { $0 } }

  func url(_ path: String = "/") throws -> HTTPURL { try HTTPURL("http://127.0.0.1:\(port)\(path)") }

  func closeConnections() async throws {
    for channel in script.connections.withLock({ $0 }) { try? await channel.close().get() }
  }
}

@Suite("The HTTP client", .timeLimit(.minutes(1)))
struct HTTPClientTests {
  private static func ok(_ body: String, _ headers: String = "") -> String {
    "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
  }

  private func client(_ change: (inout HTTPClient.Options) -> Void = { _ in }) -> HTTPClient {
    var options = HTTPClient.Options()
    change(&options)
    return HTTPClient(options: options)
  }

  @Test("a request has the method, the target, the host, the given headers and the body")
  func request() async throws {
    let server = try await ScriptedServer([.write(Self.ok("yes", "X-A: 1\r\nX-A: 2\r\n"))])
    let response = try await client().send(
      HTTPRequest(
        .POST, server.url("/whip/a%20b?x=1"), headers: ["Content-Type": "application/sdp"],
        body: ByteBuffer(string: "v=0(end)")))
    #expect(response.status == .ok)
    #expect(response.text == "yes")
    #expect(response.headers["X-A"] == ["1", "2"])
    let request = try #require(server.requests.first)
    #expect(request.hasPrefix("POST /whip/a%20b?x=1 HTTP/1.1\r\n"))
    #expect(request.contains("Host: 127.0.0.1:\(server.port)\r\n"))
    #expect(request.contains("Content-Type: application/sdp\r\n"))
    #expect(request.contains("Content-Length: 8\r\n"))
    #expect(request.hasSuffix("\r\n\r\nv=0(end)"))
  }

  @Test("a POST without a body has the length 0")
  func emptyPost() async throws {
    let server = try await ScriptedServer([.write(Self.ok(""))])
    _ = try await client().send(HTTPRequest(.POST, server.url()))
    #expect(server.requests.first?.contains("Content-Length: 0\r\n") == true)
  }

  @Test("a second request uses the same connection")
  func keepAlive() async throws {
    let server = try await ScriptedServer([.write(Self.ok("1")), .write(Self.ok("2"))])
    let client = client()
    #expect(try await client.send(HTTPRequest(.GET, server.url())).text == "1")
    #expect(try await client.send(HTTPRequest(.GET, server.url())).text == "2")
    #expect(server.connectionCount == 1)
  }

  @Test("a request that needs a new connection uses no kept one, and the kept ones are closed")
  func newConnection() async throws {
    let server = try await ScriptedServer([
      .write(Self.ok("1")), .write(Self.ok("2")), .write(Self.ok("3")),
    ])
    let client = client()
    var request = try HTTPRequest(.GET, server.url())
    #expect(try await client.send(request).text == "1")
    request.needsNewConnection = true
    #expect(try await client.send(request).text == "2")
    #expect(server.connectionCount == 2)
    request.needsNewConnection = false
    #expect(try await client.send(request).text == "3")
    #expect(server.connectionCount == 2)
  }

  @Test("after Connection: close the next request uses a new connection")
  func connectionClose() async throws {
    let server = try await ScriptedServer([.write(Self.ok("1", "Connection: close\r\n")), .write(Self.ok("2"))])
    let client = client()
    #expect(try await client.send(HTTPRequest(.GET, server.url())).text == "1")
    #expect(try await client.send(HTTPRequest(.GET, server.url())).text == "2")
    #expect(server.connectionCount == 2)
  }

  @Test(
    "a request on a kept connection that the server closes meanwhile is sent again",
    arguments: [HTTPMethod.GET, .DELETE])
  func closedIdleConnection(method: HTTPMethod) async throws {
    let server = try await ScriptedServer([.write(Self.ok("1")), .writeAndClose(""), .write(Self.ok("2"))])
    let client = client()
    #expect(try await client.send(HTTPRequest(.GET, server.url())).text == "1")
    #expect(try await client.send(HTTPRequest(method, server.url())).text == "2")
    #expect(server.connectionCount == 2)
  }

  @Test("a request on a kept connection that the server resets is sent again")
  func resetConnection() async throws {
    let server = try await ScriptedServer([.write(Self.ok("1")), .reset, .write(Self.ok("2"))])
    let client = client()
    _ = try await client.send(HTTPRequest(.GET, server.url()))
    #expect(try await client.send(HTTPRequest(.DELETE, server.url())).text == "2")
    #expect(server.requests.count == 3)
  }

  @Test("a server that closes the connection during the TLS handshake is unreachable, not untrusted")
  func closedDuringHandshake() async throws {
    let server = try await ScriptedServer([], closesAtOnce: true)
    let url = try HTTPURL("https://127.0.0.1:\(server.port)/")
    do {
      _ = try await client().send(HTTPRequest(.GET, url))
      Issue.record("A response arrived.")
    } catch {
      guard case .unreachable = error else {
        Issue.record("The error is another one: \(error)")
        return
      }
    }
  }

  @Test("a server that does not answer the TLS handshake is given up after the time-out")
  func silentHandshake() async throws {
    let server = try await ScriptedServer([])
    let url = try HTTPURL("https://127.0.0.1:\(server.port)/")
    await #expect(throws: HTTPError.timedOut(url, after: .milliseconds(200))) {
      try await client { $0.connectTimeout = .milliseconds(200) }.send(HTTPRequest(.GET, url))
    }
  }

  @Test(
    "a POST or PATCH on a kept connection that the server closes is not sent twice",
    arguments: [HTTPMethod.POST, .PATCH])
  func notTwice(method: HTTPMethod) async throws {
    let server = try await ScriptedServer([.write(Self.ok("1")), .writeAndClose(""), .write(Self.ok("2"))])
    let client = client()
    _ = try await client.send(HTTPRequest(.GET, server.url()))
    await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest(method, server.url())) }
    #expect(server.requests.count == 2)
  }

  @Test("a POST after the server closed the kept connection uses a new one")
  func postAfterIdleClose() async throws {
    let server = try await ScriptedServer([.write(Self.ok("1")), .write(Self.ok("2"))])
    let client = client()
    _ = try await client.send(HTTPRequest(.GET, server.url()))
    try await server.closeConnections()
    // The client learns of it as soon as its event loop reads.
    for _ in 0..<1_000 where client.unusedConnectionCount > 0 { try await Task.sleep(for: .milliseconds(10)) }
    #expect(try await client.send(HTTPRequest(.POST, server.url())).text == "2")
    #expect(server.connectionCount == 2)
  }

  @Test("a request that may only leave the private network is not sent to this machine, whatever its name resolves to")
  func narrowestScope() async throws {
    let server = try await ScriptedServer([.write(Self.ok("1")), .write(Self.ok("2"))])
    let client = client()
    let port = try server.url().port
    // A connection to this machine is open and unused.
    let first = try await client.send(HTTPRequest(.GET, HTTPURL("http://localhost:\(port)/")))
    #expect(first.scope == .loopback)
    for (host, scope) in [("127.0.0.1", NetworkScope.everywhere), ("localhost", .everywhere), ("localhost", .local)] {
      var request = HTTPRequest(.DELETE, try HTTPURL("http://\(host):\(port)/important"))
      request.narrowestScope = scope
      do {
        _ = try await client.send(request)
        Issue.record("It was sent.")
      } catch {
        guard case .notPermitted(_, let reason) = error else {
          Issue.record("\(error)")
          continue
        }
        #expect(reason.contains("this machine"))
      }
    }
    #expect(server.connectionCount == 1)
    #expect(try await client.send(HTTPRequest(.GET, HTTPURL("http://localhost:\(port)/"))).text == "2")
  }

  @Test("a response whose header is larger than 64 KiB, or has a field of more than 16 KiB, is an error")
  func oversizedHeader() async throws {
    let field = "X-A: " + String(repeating: "a", count: 15_000) + "\r\n"
    let fields = [String(repeating: field, count: 5), "X-A: " + String(repeating: "a", count: 17_000) + "\r\n"]
    for headers in fields + [String(repeating: "X-A: 1\r\n", count: 200)] {
      let server = try await ScriptedServer([.write(Self.ok("1", headers))])
      await #expect(throws: HTTPError.self) { try await client().send(HTTPRequest(.GET, server.url())) }
    }
    let server = try await ScriptedServer([.write(Self.ok("1", String(repeating: field, count: 4)))])
    #expect(try await client().send(HTTPRequest(.GET, server.url())).text == "1")
  }

  @Test("an unused connection is closed after the idle time-out")
  func idleTimeout() async throws {
    let server = try await ScriptedServer([.write(Self.ok("1")), .write(Self.ok("2"))])
    let client = client { $0.idleTimeout = .milliseconds(20) }
    _ = try await client.send(HTTPRequest(.GET, server.url()))
    for _ in 0..<1_000 where client.unusedConnectionCount > 0 { try await Task.sleep(for: .milliseconds(10)) }
    #expect(client.unusedConnectionCount == 0)
    #expect(try await client.send(HTTPRequest(.GET, server.url())).text == "2")
    #expect(server.connectionCount == 2)
  }

  @Test(
    "a body beyond the limit is an error", arguments: ["Content-Length: 2000\r\n\r\n", "Connection: close\r\n\r\n"])
  func oversizedBody(head: String) async throws {
    let server = try await ScriptedServer([
      .writeAndClose("HTTP/1.1 200 OK\r\n\(head)\(String(repeating: "x", count: 2_000))")
    ])
    let client = client { $0.maximumBodyBytes = 1_000 }
    let url = try server.url()
    await #expect(throws: HTTPError.responseTooLarge(url, limit: 1_000)) {
      try await client.send(HTTPRequest(.GET, url))
    }
  }

  @Test("a chunked body is joined, and one of the exact limit is accepted")
  func chunked() async throws {
    let server = try await ScriptedServer([
      .write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    ])
    #expect(try await client { $0.maximumBodyBytes = 5 }.send(HTTPRequest(.GET, server.url())).text == "abcde")
  }

  @Test("a server that does not respond, or not completely, is given up after the time-out", arguments: [true, false])
  func timeout(begins: Bool) async throws {
    let server = try await ScriptedServer([begins ? .write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx") : .silence])
    let url = try server.url()
    await #expect(throws: HTTPError.timedOut(url, after: .milliseconds(150))) {
      try await client().send(HTTPRequest(.GET, url, timeout: .milliseconds(150)))
    }
  }

  @Test("a server that nothing listens for is unreachable")
  func unreachable() async throws {
    let url = try HTTPURL("http://127.0.0.1:1/")
    await #expect(throws: HTTPError.unreachable(url, reason: "Connection refused")) {
      try await client().send(HTTPRequest(.GET, url))
    }
  }

  @Test(
    "a response that is not HTTP/1.1 or incomplete is invalid",
    arguments: [
      "hello\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", "HTTP/1.1 200 OK\r\nX", "",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
  func malformed(text: String) async throws {
    let server = try await ScriptedServer([.writeAndClose(text)])
    let url = try server.url()
    do {
      let response = try await client().send(HTTPRequest(.GET, url, timeout: .seconds(5)))
      Issue.record("The response \(response.status) was accepted.")
    } catch {
      guard case .invalidResponse = error else {
        Issue.record("The error is another one: \(error)")
        return
      }
      #expect([".", "?"].contains(error.description.last))
    }
  }

  @Test(
    "a server that behaves as one with TLS is answered with the question whether it has TLS",
    arguments: ["", "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{46}"])
  func maybeTLS(text: String) async throws {
    let server = try await ScriptedServer([.writeAndClose(text)])
    let url = try server.url()
    let error = await #expect(throws: HTTPError.self) {
      _ = try await client().send(HTTPRequest(.POST, url, timeout: .seconds(5)))
    }
    #expect(error?.description.hasSuffix(". Is it https://\(url.authority)/?") == true)
  }

  @Test("a HEAD request has no body, and its connection is kept")
  func head() async throws {
    let server = try await ScriptedServer([
      .write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), .write(Self.ok("2")),
    ])
    let client = client()
    #expect(try await client.send(HTTPRequest(.HEAD, server.url())).text == "")
    #expect(try await client.send(HTTPRequest(.GET, server.url())).text == "2")
    #expect(server.connectionCount == 1)
  }

  @Test("an interim response is skipped, and 204 has no body")
  func interim() async throws {
    let server = try await ScriptedServer([
      .write(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"),
      .write(Self.ok("2")),
    ])
    let client = client()
    #expect(try await client.send(HTTPRequest(.GET, server.url())).status == .noContent)
    #expect(try await client.send(HTTPRequest(.GET, server.url())).text == "2")
  }

  @Test("bytes after a response end the connection instead of becoming the response to the next request")
  func surplusResponse() async throws {
    let server = try await ScriptedServer([.write(Self.ok("1") + Self.ok("forged")), .write(Self.ok("2"))])
    let client = client()
    #expect(try await client.send(HTTPRequest(.GET, server.url())).text == "1")
    #expect(try await client.send(HTTPRequest(.GET, server.url())).text == "2")
  }

  @Test("requests at the same time use connections of their own")
  func concurrent() async throws {
    let server = try await ScriptedServer((0..<8).map { _ in .write(Self.ok("x")) })
    let client = client()
    let url = try server.url()
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<8 { group.addTask { try await client.send(HTTPRequest(.GET, url)).text } }
      for try await text in group { #expect(text == "x") }
    }
    #expect(server.requests.count == 8)
  }

  @Test("the wait of Retry-After is at most an hour, and a date or nonsense is none")
  func retryAfter() {
    func wait(_ text: String) -> Duration? { HTTPResponse(status: .ok, headers: ["Retry-After": text]).retryAfter }
    #expect(wait("7") == .seconds(7))
    #expect(wait("999999") == .seconds(3_600))
    #expect(wait("99999999999999999999") == nil)
    #expect(wait("-1") == nil)
    #expect(wait("Wed, 21 Oct 2026 07:28:00 GMT") == nil)
  }
}

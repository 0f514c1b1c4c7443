import HTTPTransport
import Media
import NIOCore
import Signalling
import Synchronization
import TestSupport
import Testing
import WHIP

@Suite("The client with our server over sockets", .timeLimit(.minutes(1)))
struct WHIPClientTests {
  private func options(_ change: (inout WHIPClient.Options) -> Void = { _ in }) -> WHIPClient.Options {
    var options = WHIPClient.Options()
    options.minimumRetryDelay = .milliseconds(50)
    options.maximumRetryDelay = .milliseconds(100)
    change(&options)
    return options
  }

  @Test("a session from the first request to the last")
  func session() async throws {
    var serverOptions = WHIPServer.Options()
    serverOptions.iceServers = [ICEServer(url: "stun:stun.example")]
    serverOptions.tokens = TokenList([try BearerToken("s3cret")])
    let server = try await SocketServer(options: serverOptions)
    let token = try BearerToken("s3cret")
    let client = WHIPClient(.publisher, url: try server.url(), options: options { $0.token = token })
    try await client.connect()
    var events = client.events.makeAsyncIterator()
    #expect(await events.next() == .iceServers(serverOptions.iceServers))
    guard case .joined(_, let others) = await events.next(), let other = others.first else {
      Issue.record("The client has not joined.")
      return
    }
    client.send(.offer(Sample.offer()), to: other.id)
    client.send(.candidate(.init(candidate: "candidate:1 1 udp 1 10.0.0.1 5000 typ host", mid: "0")), to: other.id)
    #expect(await events.next() == .iceServers(serverOptions.iceServers))
    #expect(await events.next() == .message(.answer(Sample.answer()), from: other.id))
    #expect(try await server.waitUntil { $0.events.count == 2 })
    client.send(.offer(Sample.offer(fragment: "ysXw")), to: other.id)
    guard case .message(.answer, other.id) = await events.next() else {
      Issue.record("The restart was not answered.")
      return
    }
    await client.leave()
    #expect(await events.next() == nil)
    let (methods, count) = server.core.state.withLock { state in
      (state.requests.map { String($0.prefix { $0 != " " }) }, state.server.sessionCount)
    }
    #expect(methods == ["OPTIONS", "POST", "PATCH", "PATCH", "DELETE"])
    #expect(count == 0)
  }

  @Test("a server that is down for a while gets the offer when it is back")
  func serverReturns() async throws {
    let first = try await SocketServer(port: ServerPort.unused())
    let port = first.port
    let client = WHIPClient(.player, url: try first.url("/whep/100"), options: options { $0.requestsOptions = false })
    try await client.connect()
    try await first.close()
    var events = client.events.makeAsyncIterator()
    let joined = await events.next()
    client.send(.offer(Sample.offer(direction: "recvonly")), to: "127.0.0.1")
    for _ in 0..<3 {
      guard case .connectionLost(let reason, let wait) = await events.next() else {
        Issue.record("No connection was lost.")
        return
      }
      #expect(reason.hasSuffix("cannot be reached: Connection refused."))
      #expect(wait <= .milliseconds(100))
    }
    let second = try await SocketServer(port: port)
    var event = await events.next()
    while case .connectionLost = event { event = await events.next() }
    #expect(event == .message(.answer(Sample.answer()), from: "127.0.0.1"))
    #expect(await events.next() == joined)
    await client.leave()
    try await second.close()
  }

  @Test("leaving a server that does not respond ends after the time-out")
  func silentServer() async throws {
    let server = try await SocketServer()
    server.core.state.withLock { $0.isSilent = true }
    let client = WHIPClient(
      .publisher, url: try server.url(),
      options: options {
        $0.requestsOptions = false
        $0.leaveTimeout = .milliseconds(200)
      })
    try await client.connect()
    client.send(.offer(Sample.offer()), to: "127.0.0.1")
    #expect(try await server.waitUntil { $0.requests.count == 1 })
    let start = ContinuousClock.now
    await client.leave()
    #expect(ContinuousClock.now - start < .seconds(5))
  }

  @Test("connecting fails with one sentence without a server, with a wrong token and without certificates")
  func connectErrors() async throws {
    var serverOptions = WHIPServer.Options()
    serverOptions.tokens = TokenList([try BearerToken("right")])
    let server = try await SocketServer(options: serverOptions)
    let url = try HTTPURL("http://127.0.0.1:1/whip/1")
    let unreachable = WHIPClient(.publisher, url: url)
    await #expect(throws: SignallingConnectError.unreachable("\(url) cannot be reached: Connection refused.")) {
      try await unreachable.connect()
    }
    // It may be called again.
    await #expect(throws: SignallingConnectError.self) { try await unreachable.connect() }
    let untrusted = WHIPClient(.publisher, url: url, options: options { $0.trust = .file("/nonexistent.pem") })
    await #expect(throws: SignallingConnectError.self) { try await untrusted.connect() }
    // Our server, as RFC 9725 says, answers OPTIONS without a token, so the offer shows that it is wrong.
    let wrong = try BearerToken("wrong")
    let client = WHIPClient(.publisher, url: try server.url(), options: options { $0.token = wrong })
    try await client.connect()
    client.send(.offer(Sample.offer()), to: "127.0.0.1")
    var events = client.events.makeAsyncIterator()
    _ = await events.next()
    #expect(await events.next() == .rejected(reason: "The WHIP server responded 401: it rejects the token."))
    #expect(await events.next() == nil)
    await client.leave()
  }

  @Test("leaving before connecting ends the events")
  func neverConnected() async throws {
    let client = WHIPClient(.publisher, url: try HTTPURL("http://127.0.0.1:1/whip/1"))
    await client.leave()
    var events = client.events.makeAsyncIterator()
    #expect(await events.next() == nil)
    try await client.connect()
  }

  @Test("the files of the page are embedded, and load nothing from other hosts")
  func page() {
    #expect(WHIPPage.files.keys.sorted() == ["/whep.html", "/whip.css", "/whip.html", "/whip.js"])
    for (path, file) in WHIPPage.files {
      let text = String(buffer: file.content)
      #expect(!text.isEmpty)
      #expect(!text.contains("://"), "\(path)")
      #expect(!text.contains("style=\"") && !text.contains("onclick="), "\(path)")
    }
  }
}

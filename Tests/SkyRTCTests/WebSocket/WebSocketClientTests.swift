import HTTPTransport
import NIOCore
import NIOPosix
import SkyRTC
import TestSupport
import Testing

@Suite("WebSocket client", .timeLimit(.minutes(2)))
struct WebSocketClientTests {
  /// Sends every message back until "close" or "cut" arrives.
  private func echo() async throws -> ScriptedServer {
    try await ScriptedServer.start { connection, message in
      switch message {
      case .text("close"): connection.close(code: 4321, reason: "as you like")
      case .text("cut"): connection.cut()
      case .text(let text): connection.send(text)
      case .binary(let data): connection.send(binary: String(buffer: data))
      }
    }
  }

  @Test("text and binary messages arrive in order, including large ones")
  func echoes() async throws {
    let server = try await echo()
    var options = WebSocketClient.Options()
    options.limits.maximumMessageBytes = 1 << 20
    options.limits.maximumOutgoingBytes = 2 << 20
    let client = try await WebSocketClient.connect(to: server.url + "/any/path?x=1", options: options)
    let large = String(repeating: "ü", count: 200_000)
    try await client.send(text: "hello")
    try await client.send(binary: ByteBuffer(string: "bytes"))
    client.send(.text(large))
    client.send(.text(""))
    var messages = client.messages.makeAsyncIterator()
    #expect(await messages.next() == .text("hello"))
    #expect(await messages.next() == .binary(ByteBuffer(string: "bytes")))
    #expect(await messages.next() == .text(large))
    #expect(await messages.next() == .text(""))
    client.close(code: 1000, reason: "done")
    #expect(await messages.next() == nil)
    #expect(await client.ended() == .closedLocally(code: 1000, reason: "done"))
    await #expect(throws: (any Error).self) { try await client.send(text: "late") }
    await server.stop()
  }

  @Test("the close code and reason of the other side are reported, and so is a cut connection")
  func endings() async throws {
    let server = try await echo()
    let client = try await WebSocketClient.connect(to: server.url)
    client.send(.text("close"))
    #expect(await client.ended() == .closedByPeer(code: 4321, reason: "as you like"))
    let other = try await WebSocketClient.connect(to: server.url)
    other.send(.text("cut"))
    guard case .failed = await other.ended() else {
      Issue.record("The reason should be a broken connection.")
      return
    }
    await server.stop()
  }

  @Test("a message over the limit closes the connection with code 1009")
  func tooBig() async throws {
    let server = try await echo()
    var options = WebSocketClient.Options()
    options.limits.maximumMessageBytes = 100
    let client = try await WebSocketClient.connect(to: server.url, options: options)
    client.send(.text(String(repeating: "x", count: 101)))
    guard case .closedLocally(code: 1009, _) = await client.ended() else {
      Issue.record("The close code should be 1009.")
      return
    }
    await server.stop()
  }

  @Test("pings detect a silent server")
  func silence() async throws {
    let server = try await ScriptedServer.start(answers: false) { _, _ in }
    var options = WebSocketClient.Options()
    options.limits.pingInterval = .milliseconds(50)
    options.limits.pingTimeout = .milliseconds(50)
    let client = try await WebSocketClient.connect(to: server.url, options: options)
    guard case .pingTimeout = await client.ended() else {
      Issue.record("The reason should be a silent server.")
      return
    }
    await server.stop()
  }

  @Test("a connection is verified on request: a silent server is given up soon, and one that answers is kept")
  func verification() async throws {
    let silent = try await ScriptedServer.start(answers: false) { _, _ in }
    var options = WebSocketClient.Options()
    options.limits.pingTimeout = .milliseconds(50)
    let client = try await WebSocketClient.connect(to: silent.url, options: options)
    client.verify()
    guard case .pingTimeout = await client.ended() else {
      Issue.record("The reason should be a silent server.")
      return
    }
    await silent.stop()

    let server = try await echo()
    let other = try await WebSocketClient.connect(to: server.url)
    #expect(other.hasLocalAddress)
    var messages = other.messages.makeAsyncIterator()
    for _ in 0..<3 {
      other.verify()
      other.send(.text("still here"))
      #expect(await messages.next() == .text("still here"))
    }
    other.close()
    _ = await other.ended()
    await server.stop()
  }

  @Test("a connection to a server that answers pings stays open")
  func kept() async throws {
    let server = try await echo()
    var options = WebSocketClient.Options()
    options.limits.pingInterval = .milliseconds(20)
    options.limits.pingTimeout = .seconds(5)
    let client = try await WebSocketClient.connect(to: server.url, options: options)
    try await Task.sleep(for: .milliseconds(300))
    client.send(.text("still here"))
    var messages = client.messages.makeAsyncIterator()
    #expect(await messages.next() == .text("still here"))
    client.close()
    _ = await client.ended()
    await server.stop()
  }

  @Test("a reader that falls behind loses the connection, not a message in the middle")
  func slowReader() async throws {
    let server = try await ScriptedServer.start { connection, _ in
      for number in 0..<100 { connection.send("\(number)") }
    }
    var options = WebSocketClient.Options()
    options.maximumWaitingMessages = 10
    let client = try await WebSocketClient.connect(to: server.url, options: options)
    client.send(.text("go"))
    #expect(await client.ended() == .closedLocally(code: 1008, reason: "The reader fell behind by 10 messages."))
    var numbers: [String] = []
    for await case .text(let text) in client.messages { numbers.append(text) }
    #expect(numbers == (0..<10).map { "\($0)" })
    await server.stop()
  }

  @Test("too many unread bytes close the connection, unless the reader reads them")
  func manyBytes() async throws {
    let server = try await ScriptedServer.start { connection, _ in
      for _ in 0..<10 { connection.send(String(repeating: "x", count: 10_000)) }
    }
    var options = WebSocketClient.Options()
    options.maximumWaitingBytes = 50_000
    let client = try await WebSocketClient.connect(to: server.url, options: options)
    client.send(.text("go"))
    #expect(await client.ended() == .closedLocally(code: 1008, reason: "The reader fell behind by 50000 bytes."))
    options.maximumWaitingBytes = 100_000
    let reader = try await WebSocketClient.connect(to: server.url, options: options)
    for _ in 0..<3 {
      reader.send(.text("go"))
      var messages = reader.messages.makeAsyncIterator()
      for _ in 0..<10 { #expect(await messages.next()?.size == 10_000) }
    }
    reader.close()
    await server.stop()
  }

  @Test("if no server listens, the error states it")
  func unreachable() async throws {
    let refusing = try RefusingPort()
    let url = "ws://127.0.0.1:\(refusing.number)"
    await #expect { try await WebSocketClient.connect(to: url) } throws: {
      "\($0)" == "\(url) cannot be reached: Connection refused."
    }
    refusing.close()
    await #expect { try await WebSocketClient.connect(to: "ws://no-such-host.invalid") } throws: {
      "\($0)" == "ws://no-such-host.invalid cannot be reached: the name \"no-such-host.invalid\" has no address."
    }
  }

  @Test(
    "a response that is not a WebSocket upgrade is rejected with an error that quotes it",
    arguments: [
      ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "answered \"404 Not Found\""),
      ("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", "answered \"302 Found\""),
      (
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
          + "Sec-WebSocket-Accept: wrong\r\n\r\n", "its Sec-WebSocket-Accept header is wrong"
      ),
      ("SSH-2.0-OpenSSH_9.2\r\n", "did not answer as a WebSocket server does"),
      ("", "did not answer as a WebSocket server does: it closed the connection. Is it wss://127.0.0.1:"),
      ("\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{46}", "what it sent is not HTTP. Is it wss://127.0.0.1:"),
      ("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "WebSocket. Is it wss://127.0.0.1:"),
      (
        "HTTP/1.1 301 Moved Permanently\r\nLocation: https://a.example/\r\nContent-Length: 0\r\n\r\n",
        "it redirects to https://a.example/. Is it wss://127.0.0.1:"
      ),
    ])
  func notAWebSocket(answer: String, expected: String) async throws {
    let server = try await RawServer.start(answer: Array(answer.utf8), closes: true)
    await #expect { try await WebSocketClient.connect(to: "ws://127.0.0.1:\(server.port)") } throws: {
      "\($0)".contains(expected)
    }
    await server.stop()
  }

  @Test("a server without TLS is answered with the question whether it is ws://")
  func withoutTLS() async throws {
    let server = try await RawServer.start(answer: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), closes: true)
    await #expect { try await WebSocketClient.connect(to: "wss://127.0.0.1:\(server.port)") } throws: {
      "\($0)".hasSuffix("failed: what arrived is not TLS. Is it ws://127.0.0.1:\(server.port)?")
    }
    await server.stop()
  }

  @Test("a server that does not answer the upgrade times out, with TLS too")
  func timeout() async throws {
    let server = try await RawServer.start(answer: nil)
    var options = WebSocketClient.Options()
    options.connectTimeout = .milliseconds(100)
    for scheme in ["ws", "wss"] {
      await #expect {
        try await WebSocketClient.connect(to: "\(scheme)://127.0.0.1:\(server.port)", options: options)
      } throws: {
        "\($0)".hasSuffix("did not open a WebSocket within 0.1 seconds.")
      }
    }
    await server.stop()
  }

  @Test("random bytes of a server do not crash the client")
  func randomBytes() async throws {
    for _ in 0..<40 {
      let server = try await RawServer.start(answer: (0..<200).map { _ in .random(in: 0...255) }, closes: true)
      await #expect(throws: WebSocketConnectError.self) {
        try await WebSocketClient.connect(to: "ws://127.0.0.1:\(server.port)")
      }
      await server.stop()
    }
  }
}

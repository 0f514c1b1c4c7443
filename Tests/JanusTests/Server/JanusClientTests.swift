import HTTPTransport
import Janus
import Logging
import Media
import Signalling
import Synchronization
import Testing

/// With servers whose behaviour the test defines.
@Suite("Janus client", .timeLimit(.minutes(1)))
struct JanusClientTests {
  private func client(
    _ server: ScriptedServer, _ change: (inout JanusClient.Options) -> Void = { _ in }
  ) throws -> JanusClient {
    var options = JanusClient.Options(room: .number(1))
    change(&options)
    return JanusClient(
      url: try WebSocketURL("ws://127.0.0.1:\(server.port)/janus"), options: options, logger: .quiet)
  }

  /// Returns the response of a Janus to a request of a client that joins.
  @Sendable private static func response(to text: String) -> String? {
    guard let transaction = transaction(of: text) else { return nil }
    if text.contains("\"create\"") || text.contains("\"attach\"") {
      return #"{"janus":"success","transaction":"\#(transaction)","data":{"id":7}}"#
    }
    if text.contains("\"join\"") {
      return
        #"{"janus":"event","transaction":"\#(transaction)","sender":7,"plugindata":{"plugin":"janus.plugin.videoroom","#
        + #""data":{"videoroom":"joined","id":1,"publishers":[]}}}"#
    }
    return nil
  }

  private static func transaction(of text: String) -> Substring? {
    guard let start = text.firstRange(of: "\"transaction\":\"")?.upperBound else { return nil }
    return text[start...].prefix { $0 != "\"" }
  }

  @Test("the API secret and the token are in each request, the token of the room is in the join, and none is described")
  func secrets() async throws {
    let texts = Mutex<[String]>([])
    let server = try await ScriptedServer.start { text in
      texts.withLock { $0.append(text) }
      return Self.response(to: text).map { [$0] } ?? []
    }
    // The server does not confirm that we leave.
    let client = try client(server) {
      $0.leaveTimeout = .seconds(1)
      $0.apiSecret = "api-s3cret"
      $0.token = "server-t0ken"
      $0.roomToken = "room-t0ken"
      #expect(!"\($0)".contains("s3cret") && !"\($0)".contains("t0ken"))
    }
    try await client.connect()
    await client.leave()
    await server.stop()
    let requests = texts.withLock { $0 }
    #expect(requests.count >= 4, "create, attach, join, destroy")
    for request in requests {
      #expect(request.contains(#""apisecret":"api-s3cret""#), "\(request)")
      #expect(request.contains(#""token":"server-t0ken""#), "\(request)")
      let isJoin = request.contains(#""request":"join""#)
      #expect(request.contains(#""token":"room-t0ken""#) == isJoin, "\(request)")
    }
  }

  @Test("the layers of an address are asked for once a subscription has started")
  func layers() async throws {
    let texts = Mutex<[String]>([])
    let handles = Mutex(6)
    let server = try await ScriptedServer.start { text in
      texts.withLock { $0.append(text) }
      guard let transaction = Self.transaction(of: text) else { return [] }
      func event(_ data: String, offer: String = "") -> [String] {
        let handle = text.contains("subscriber") || text.contains(#""start""#) ? 8 : 7
        return [
          #"{"janus":"event","transaction":"\#(transaction)","sender":\#(handle),"plugindata":{"plugin":"#
            + #""janus.plugin.videoroom","data":\#(data)}\#(offer)}"#
        ]
      }
      let streams = #"[{"type":"video","mid":"0","mindex":0}]"#
      if text.contains(#""create""#) { return Self.response(to: text).map { [$0] } ?? [] }
      if text.contains(#""attach""#) {
        let handle = handles.withLock { handles in
          handles += 1
          return handles
        }
        return [#"{"janus":"success","transaction":"\#(transaction)","data":{"id":\#(handle)}}"#]
      }
      if text.contains("subscriber") {
        return event(
          #"{"videoroom":"attached","streams":\#(streams)}"#, offer: #","jsep":{"type":"offer","sdp":"v=0"}"#)
      }
      if text.contains(#""start""#) { return event(#"{"videoroom":"event","started":"ok"}"#) }
      if text.contains(#""join""#) {
        return event(
          #"{"videoroom":"joined","id":1,"publishers":[{"id":11,"display":"alice","streams":\#(streams)}]}"#)
      }
      return []
    }
    let address = try JanusAddress("ws://127.0.0.1:\(server.port)/janus?substream=0&temporal=1")
    var options = JanusClient.Options(room: .number(1))
    options.videoLayer = (address.substream, address.temporal)
    options.leaveTimeout = .milliseconds(300)
    let client = JanusClient(url: address.url, options: options, logger: .quiet)
    try await client.connect()
    for await event in client.events {
      guard case .message(.offer, let feed) = event else { continue }
      client.send(.answer("v=0"), to: feed)
      break
    }
    let expected = #""streams":[{"mid":"0","substream":0,"temporal":1}]"#
    for _ in 0..<200 where !texts.withLock({ $0.contains { $0.contains(expected) } }) {
      try await Task.sleep(for: .milliseconds(10))
    }
    let configured = texts.withLock { $0.filter { $0.contains(#""request":"configure""#) } }
    #expect(configured.count == 1)
    #expect(configured.first?.contains(expected) == true, "\(configured)")
    await client.leave()
    await server.stop()
  }

  @Test("a server that answers nothing is reported after the join's time-out")
  func silent() async throws {
    let server = try await ScriptedServer.start { _ in [] }
    let client = try client(server) {
      $0.joinTimeout = .milliseconds(300)
      $0.leaveTimeout = .milliseconds(300)
    }
    let error = await #expect(throws: SignallingConnectError.self) { try await client.connect() }
    #expect(error == .unreachable("The server did not let us join within 0.3 seconds."))
    await client.leave()
    await server.stop()
  }

  @Test("malformed messages between the right ones are ignored, and the client joins")
  func malformed() async throws {
    let server = try await ScriptedServer.start { text in
      ["", "{", "[]", "{\"janus\":7}", String(repeating: "[", count: 10_000)] + [Self.response(to: text) ?? "null"]
    }
    let client = try client(server) { $0.leaveTimeout = .milliseconds(300) }
    try await client.connect()
    var events = client.events.makeAsyncIterator()
    #expect(await events.next() == .joined(id: "feed-1", others: []))
    await client.leave()
    await server.stop()
  }

  @Test("a message of more than 256 KiB ends the connection, and the client joins again")
  func large() async throws {
    let server = try await ScriptedServer.start { text in
      if let response = Self.response(to: text) { return [response] }
      return text.contains("publish") ? [String(repeating: "a", count: 300_000)] : []
    }
    let client = try client(server) {
      $0.leaveTimeout = .milliseconds(300)
      $0.minimumRetryDelay = .milliseconds(10)
      $0.publishes = true
    }
    try await client.connect()
    var events = client.events.makeAsyncIterator()
    guard case .joined? = await events.next() else { return #expect(Bool(false)) }
    client.send(.offer("v=0"), to: "publisher")
    guard case .connectionLost? = await events.next() else { return #expect(Bool(false)) }
    while let event = await events.next() {
      if case .joined(_, let others) = event {
        #expect(others.map(\.id) == ["publisher-2"])
        break
      }
    }
    await client.leave()
    await server.stop()
  }

  @Test("leaving a server that does not confirm it takes no longer than the time-out")
  func leaveSilent() async throws {
    let server = try await ScriptedServer.start { Self.response(to: $0).map { [$0] } ?? [] }
    let client = try client(server) { $0.leaveTimeout = .milliseconds(300) }
    try await client.connect()
    let start = ContinuousClock.now
    await client.leave()
    #expect(ContinuousClock.now - start < .seconds(5))
    await client.leave()
    await server.stop()
  }

  @Test("a second connect, and one after leaving, are rejected")
  func twice() async throws {
    let server = try await ScriptedServer.start { Self.response(to: $0).map { [$0] } ?? [] }
    let client = try client(server) { $0.leaveTimeout = .milliseconds(300) }
    try await client.connect()
    await #expect(throws: SignallingConnectError.self) { try await client.connect() }
    await client.leave()
    await #expect(throws: SignallingConnectError.self) { try await client.connect() }
    await server.stop()
  }
}

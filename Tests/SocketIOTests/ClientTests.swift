import HTTPTransport
import Logging
import Media
import Signalling
import Synchronization
import Testing

@testable import SocketIO

/// The client over real sockets, with servers that are written here.
@Suite(.timeLimit(.minutes(2))) struct ClientTests {
  private static let open = #"0{"sid":"a","pingInterval":25000,"pingTimeout":5000}"#

  private func client(
    _ port: Int, _ name: String = "1", calls: [String] = [], _ change: (inout SocketIOClient.Options) -> Void = { _ in }
  ) throws -> SocketIOClient {
    var options = SocketIOClient.Options()
    options.minimumRetryDelay = .milliseconds(20)
    options.maximumRetryDelay = .milliseconds(50)
    options.joinTimeout = .seconds(2)
    change(&options)
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return SocketIOClient(
      url: try HTTPURL("http://127.0.0.1:\(port)"), userName: name, calls: calls, options: options, logger: logger)
  }

  @Test("a server of revision 3 that refuses revision 4 is used")
  func serverRevision3() async throws {
    let targets = Mutex<[String]>([])
    let server = try await ScriptedServer.start(
      opened: { target in
        targets.withLock { $0.append(target) }
        return target.contains("EIO=3") ? [Self.open, "40"] : nil
      },
      received: { connection, text in
        if text.hasPrefix("42[\"login\"") { connection.send(#"42["login",{"success":true}]"#) }
        if text == "40" { connection.close() }
        if text == "2" { connection.send("3") }
      })
    let client = try client(server.port)
    let events = EventReader(client)
    try await client.connect()
    #expect(
      targets.withLock(\.self) == [
        "/socket.io/?EIO=4&transport=websocket", "/socket.io/?EIO=3&transport=websocket",
        "/socket.io/?EIO=3&transport=websocket",
      ])
    try await events.wait { $0.isJoined }
    await client.leave()
    await server.close()
  }

  @Test("after a lost connection the client logs in again, and at the end its events end")
  func afterLostConnection() async throws {
    let server = try await Self.loginServer { connection, text in
      if text.contains("disconnectpeer") { connection.close() }
    }
    let client = try client(server.port)
    let events = EventReader(client)
    try await client.connect()
    try await events.wait { $0.isArrival(of: "2") }
    client.hangUp("2")
    try await events.wait { $0.isLost }
    try await events.wait(for: 2) { $0.isJoined }
    await client.leave()
    try await events.end()
    await server.close()
  }

  @Test("after all refused, the signalling is closed and the events end")
  func afterRefusedSignalling() async throws {
    let server = try await Self.loginServer { connection, text in
      if text.contains("call_request") {
        connection.send(#"42["call_response","{\"from\":\"3\",\"response\":0}"]"#)
      }
    }
    let client = try client(server.port, calls: ["3"]) { $0.callRetryDelay = .milliseconds(50) }
    let events = EventReader(client)
    try await client.connect()
    // The server's scripted call is answered, so it is ended first.
    try await events.wait { $0.isArrival(of: "2") }
    try await Task.sleep(for: .milliseconds(500))
    client.hangUp("2")
    try await events.wait { $0.isClosed }
    try await events.end()
    await client.leave()
    await server.close()
  }

  @Test("a server that sends only damaged messages is survived")
  func serverSendsOnly() async throws {
    let server = try await Self.loginServer { connection, text in
      guard text.contains("login") else { return }
      for _ in 0..<500 {
        for text in ["", "9", "42", "42[", "42[]", "42[\"offer\",\"{}\"]", "42[\"offer\",\"[[[[\"]", "0{}", "b"] {
          connection.send(text)
        }
      }
      connection.send(#"42["call_request","{\"from\":\"5\"}"]"#)
    }
    let client = try client(server.port)
    let events = EventReader(client)
    try await client.connect()
    try await events.wait { $0.isArrival(of: "5") }
    #expect(client.ignoredMessageCount >= 4_000)
    await client.leave()
    await server.close()
  }

  @Test("a server that does not exist is unreachable, and one that is none of Socket.IO is rejected")
  func serverExistUnreachable() async throws {
    let server = try await ScriptedServer.start(opened: { _ in nil }, received: { _, _ in })
    let port = server.port
    let first = try client(port)
    do {
      try await first.connect()
      Issue.record("There is no server.")
    } catch {
      guard case .rejected(let sentence) = error else { throw error }
      #expect(sentence == "http://127.0.0.1:\(port)/socket.io/ answered with the status 400: no.")
    }
    await server.close()
    do {
      try await first.connect()
      Issue.record("There is no server.")
    } catch {
      guard case .unreachable(let sentence) = error else { throw error }
      #expect(!sentence.contains("EIO"))
    }
    await first.leave()
  }

  @Test(
    "a server that knows only long polling is used, whatever its revision",
    arguments: [EngineIOPayload.Format.lengths, .separators])
  func serverKnowsOnlyLong(format: EngineIOPayload.Format)
    async throws
  {
    let packets = Mutex<[String]>([])
    let server = try await PollingServer.start(
      format: format, opened: format == .lengths ? [Self.open, "40"] : [Self.open],
      received: { packet in
        packets.withLock { $0.append(packet) }
        if packet == "40" { return [#"40{"sid":"b"}"#] }
        if packet.contains("login") {
          return [#"42["login",{"success":true}]"#, #"42["call_request","{\"from\":\"2\"}"]"#]
        }
        if packet.contains("answer") { return ["2", #"42["disconnectpeer","{\"from\":\"2\"}"]"#] }
        return []
      })
    let client = try client(server.port)
    let events = EventReader(client)
    try await client.connect()
    try await events.wait { $0.isArrival(of: "2") }
    for number in 1...40 { client.send(.offer("v=\(number)"), to: "2") }
    client.send(.answer("v=41"), to: "2")
    try await events.wait { $0.isDeparture(of: "2") }
    await client.leave()
    try await events.end()
    let sent = packets.withLock(\.self)
    #expect(sent.first == (format == .lengths ? #"42["login","{\"username\":\"1\"}"]"# : "40"))
    #expect(sent.filter { $0.contains("offer") }.count == 40)
    #expect(sent.contains("3"))
    #expect(sent.last == "1")
    await server.close()
  }

  @Test("names that cannot be used are refused before anything is sent")
  func namesCannotUsed() async throws {
    for (name, calls) in [("", []), (String(repeating: "a", count: 257), []), ("1", ["1"]), ("1", [""])] {
      let client = try client(9, name, calls: calls)
      do {
        try await client.connect()
        Issue.record("The name is accepted.")
      } catch {
        guard case .invalidConfiguration = error else { throw error }
      }
    }
  }

  @Test("the path and the query of the address are kept, and errors do not show the query")
  func pathQueryAddress() throws {
    func target(_ text: String, _ way: EngineIOConnector.Way) throws -> String {
      SocketIOClient(url: try HTTPURL(text), userName: "1").connector.target(of: way)
    }
    #expect(
      try target("http://a:9012", .webSocket(.three)) == "/socket.io/?EIO=3&transport=websocket")
    #expect(try target("http://a/calls/?token=x", .polling(.four)) == "/calls/?token=x&EIO=4&transport=polling")
    #expect(try target("http://a/?token=x", .polling(.three)) == "/socket.io/?token=x&EIO=3&transport=polling&b64=1")
    #expect("Is it wss://a/b?token=x?".withoutQueries == "Is it wss://a/b?")
    #expect("ws://a/b?token=x cannot be reached: no.".withoutQueries == "ws://a/b cannot be reached: no.")
    #expect("a b/_~-.ü".escapedForQuery == "a%20b%2F_~-.%C3%BC")
  }

  /// A server of revision 4 that accepts the login and then lets user 2 call.
  private static func loginServer(
    received: @escaping @Sendable (ScriptedServer.Connection, String) -> Void
  ) async throws -> ScriptedServer {
    try await ScriptedServer.start(
      opened: { _ in [Self.open] },
      received: { connection, text in
        if text == "40" { connection.send(#"40{"sid":"b"}"#) }
        if text.hasPrefix("42[\"login\"") {
          connection.send(#"42["login",{"success":true}]"#)
          connection.send(#"42["call_request","{\"from\":\"2\"}"]"#)
        }
        received(connection, text)
      })
  }
}

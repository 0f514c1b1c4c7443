import HTTPTransport
import Logging
import Media
import Signalling
import Testing

@testable import Janus

/// With servers whose behaviour the test defines.
@Suite("Janus client", .timeLimit(.minutes(1)))
struct JanusClientTests {
  private func client(
    _ server: ScriptedServer, _ change: (inout JanusClient.Options) -> Void = { _ in }
  ) throws -> JanusClient {
    var options = JanusClient.Options(room: .number(1))
    options.joinTimeout = .milliseconds(300)
    options.leaveTimeout = .milliseconds(300)
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

  @Test("a server that answers nothing is reported after the join's time-out")
  func silent() async throws {
    let server = try await ScriptedServer.start { _ in [] }
    let client = try client(server)
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
    let client = try client(server)
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
    let client = try client(server)
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
    let client = try client(server)
    try await client.connect()
    await #expect(throws: SignallingConnectError.self) { try await client.connect() }
    await client.leave()
    await #expect(throws: SignallingConnectError.self) { try await client.connect() }
    await server.stop()
  }
}

import JSON
import Media
import SocketIO
import Testing

@Suite struct SessionTests {
  private static let open3 = #"0{"sid":"a","upgrades":[],"pingInterval":25000,"pingTimeout":5000}"#
  private static let open4 = #"0{"sid":"a","upgrades":[],"pingInterval":25000,"pingTimeout":5000,"maxPayload":100000}"#
  private let start = MonotonicInstant.now

  @Test("a server that states a maximum payload is of revision 4, and is asked for the namespace at once")
  func serverStatesMaximum() {
    var session = SocketIOSession(generation: nil, now: start)
    #expect(session.received(Self.open4, now: start) == [.send("40")])
    #expect(session.received(#"40{"sid":"b"}"#, now: start) == [.connected(.four)])
    #expect(session.received("2", now: start) == [.send("3")])
    #expect(session.received("2probe", now: start) == [.send("3probe")])
  }

  @Test("a server that connects the namespace unasked is of revision 3, and gets pings")
  func serverConnectsNamespace() {
    var session = SocketIOSession(generation: nil, now: start)
    #expect(session.received(Self.open3, now: start) == [])
    #expect(session.received("40", now: start) == [.connected(.three)])
    #expect(session.deadline == start + .seconds(25))
    #expect(session.poll(now: start + .seconds(24)) == [])
    #expect(session.poll(now: start + .seconds(25)) == [.send("2")])
    #expect(session.received("3", now: start + .seconds(26)) == [])
    #expect(session.poll(now: start + .seconds(50)) == [.send("2")])
  }

  @Test("an old server of revision 4 states no maximum payload and is asked after half a second")
  func oldServerRevision() {
    var session = SocketIOSession(generation: nil, now: start)
    _ = session.received(Self.open3, now: start)
    #expect(session.deadline == start + .milliseconds(500))
    #expect(session.poll(now: start + .milliseconds(500)) == [.send("40")])
    #expect(session.received(#"40{"sid":"b"}"#, now: start + .seconds(1)) == [.connected(.four)])
    #expect(session.deadline == start + .seconds(31))
  }

  @Test("a slow server of revision 3 is recognised by its bare connect packet")
  func slowServerRevision() {
    var session = SocketIOSession(generation: nil, now: start)
    _ = session.received(Self.open3, now: start)
    _ = session.poll(now: start + .milliseconds(500))
    #expect(session.received("40", now: start + .seconds(1)) == [.connected(.three)])
    #expect(session.poll(now: start + .seconds(26)) == [.send("2")])
  }

  @Test("a server that is silent for its interval and its time-out is lost")
  func serverSilentInterval() {
    for generation in [EngineIOGeneration.three, .four] {
      var session = SocketIOSession(generation: generation, now: start)
      _ = session.received(Self.open3, now: start)
      _ = session.received("40", now: start)
      _ = session.poll(now: start + .seconds(25))
      #expect(session.poll(now: start + .seconds(29)) == [])
      #expect(session.poll(now: start + .seconds(30)) == [.end("The server was silent for 30.0 seconds.")])
      #expect(session.poll(now: start + .seconds(31)) == [])
    }
  }

  @Test("the handshakes are waited for no longer than the join time-out")
  func handshakesWaitedLonger() {
    var session = SocketIOSession(generation: nil, now: start)
    #expect(
      session.poll(now: start + .seconds(10))
        == [.end("The server did not open a connection of Engine.IO within 10.0 seconds.")])
    session = SocketIOSession(generation: nil, now: start)
    _ = session.received(Self.open4, now: start)
    #expect(
      session.poll(now: start + .seconds(10)) == [.end("The server did not connect Socket.IO within 10.0 seconds.")])
  }

  @Test("an event that asks for an acknowledgment gets one")
  func eventAsksAcknowledgment() {
    var session = connected()
    #expect(
      session.received(#"427["login",{"success":true}]"#, now: start)
        == [.send("437[]"), .event(name: "login", arguments: [.object(["success": .bool(true)])])])
  }

  @Test("a refused namespace ends the connection with the server's reason")
  func refusedNamespaceEnds() {
    var session = SocketIOSession(generation: .four, now: start)
    _ = session.received(Self.open4, now: start)
    #expect(
      session.received(#"44{"message":"Authentication error"}"#, now: start)
        == [.end("The server refuses the connection: Authentication error.")])
  }

  @Test("the server may close the namespace or the connection")
  func serverMayClose() {
    var session = connected()
    #expect(session.received("41", now: start) == [.end("The server closed the connection of Socket.IO.")])
    #expect(session.received("42[\"a\"]", now: start) == [])
    session = connected()
    #expect(session.received("1", now: start) == [.end("The server closed the connection.")])
  }

  @Test("packets of other namespaces, and events before the connection, have no effect")
  func packetsOtherNamespaces() {
    var session = SocketIOSession(generation: .four, now: start)
    #expect(session.received("42[\"a\"]", now: start) == [])
    session = connected()
    #expect(session.received("42/admin,[\"a\"]", now: start) == [])
    #expect(session.received("41/admin,", now: start) == [])
  }

  @Test("a message over the limit is ignored and named")
  func messageOverLimit() {
    var session = connected()
    let text = "42[\"" + String(repeating: "a", count: 256 * 1024) + "\"]"
    #expect(session.received(text, now: start) == [.ignored(.tooLarge(bytes: text.utf8.count, limit: 256 * 1024))])
  }

  private func connected() -> SocketIOSession {
    var session = SocketIOSession(generation: .four, now: start)
    _ = session.received(Self.open4, now: start)
    _ = session.received(#"40{"sid":"b"}"#, now: start)
    return session
  }
}

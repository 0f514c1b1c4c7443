import HTTPTransport
import Janus
import Logging
import Media
import Signalling
import Testing

/// With the real Janus, as Debian installs it.
@Suite(
  "Janus server", .serialized, .timeLimit(.minutes(3)),
  .enabled(if: JanusServer.isInstalled, "/usr/bin/janus is missing: apt-get install janus"))
struct JanusServerTests {
  private func withServer(
    options: [String] = [], general: String = "", usesTextIDs: Bool = false,
    _ body: (JanusServer) async throws -> Void
  ) async throws {
    let server = try await JanusServer(options: options, general: general, usesTextIDs: usesTextIDs)
    defer { server.remove() }
    try await body(server)
  }

  private func client(
    _ server: JanusServer, through proxy: TCPProxy? = nil, room: JanusID = .number(1234),
    _ change: (inout JanusClient.Options) -> Void = { _ in }
  ) throws -> JanusClient {
    var options = JanusClient.Options(room: room)
    options.displayName = "recorder"
    change(&options)
    return JanusClient(
      url: try WebSocketURL(proxy.map { "ws://127.0.0.1:\($0.port)" } ?? server.url), options: options, logger: .quiet)
  }

  @Test("a client joins an empty room and leaves it")
  func join() async throws {
    try await withServer { server in
      let client = try client(server)
      var events = client.events.makeAsyncIterator()
      try await client.connect()
      guard case .joined(let id, others: [])? = await events.next() else { return #expect(Bool(false)) }
      #expect(id.text.hasPrefix("feed-"))
      await client.leave()
      #expect(await events.next() == nil)
    }
  }

  @Test(
    "an unknown room, a missing and a wrong PIN and a wrong secret are reported as one sentence; the right PIN joins")
  func refused() async throws {
    try await withServer(general: "api_secret = \"right\"") { server in
      let cases: [(JanusID, String?, String?, SignallingConnectError)] = [
        (
          .number(99), nil, "right",
          .rejected("There is no such room (Janus error 426: \"No such room (99)\").")
        ),
        (
          .text("lounge"), nil, "right",
          .rejected(
            "The room's id is of the wrong kind (Janus error 430: \"Invalid element type (room should be a positive "
              + "integer)\").")
        ),
        (
          .number(5678), nil, "right",
          .unauthorized("The room requires a PIN (Janus error 429: \"Missing mandatory element (pin)\").")
        ),
        (
          .number(5678), "wrong", "right",
          .unauthorized("The room's PIN is wrong (Janus error 433: \"Unauthorized (wrong pin)\").")
        ),
        (
          .number(1234), nil, "wrong",
          .unauthorized(
            "The server rejects the API secret or the token (Janus error 403: \"Unauthorized request (wrong or missing "
              + "secret/token)\").")
        ),
      ]
      for (room, pin, secret, expected) in cases {
        let client = try client(server, room: room) {
          $0.pin = pin
          $0.apiSecret = secret
        }
        let error = await #expect(throws: SignallingConnectError.self) { try await client.connect() }
        #expect(error == expected)
        await client.leave()
      }
      let client = try client(server, room: .number(5678)) {
        $0.pin = "let-me-in"
        $0.apiSecret = "right"
      }
      try await client.connect()
      await client.leave()
    }
  }

  @Test("an unreachable server is reported, and the client can connect once it runs")
  func unreachable() async throws {
    try await withServer { server in
      server.stop()
      let client = try client(server)
      let error = await #expect(throws: SignallingConnectError.self) { try await client.connect() }
      #expect(error == .unreachable("\(server.url) cannot be reached: Connection refused."))
      try await server.start()
      try await client.connect()
      await client.leave()
    }
  }

  @Test("keep-alives keep a session longer than the server's time-out; without them it ends, and a new one begins")
  func keepalive() async throws {
    try await withServer(general: "session_timeout = 2") { server in
      let kept = try client(server) { $0.keepaliveInterval = .seconds(1) }
      let lost = try client(server)
      var keptEvents = kept.events.makeAsyncIterator()
      var lostEvents = lost.events.makeAsyncIterator()
      try await kept.connect()
      try await lost.connect()
      guard case .joined? = await keptEvents.next() else { return #expect(Bool(false)) }
      guard case .joined? = await lostEvents.next() else { return #expect(Bool(false)) }
      guard case .connectionLost(let reason, _)? = await lostEvents.next() else { return #expect(Bool(false)) }
      #expect(reason == "The server has ended the session, because it heard no keep-alive.")
      guard case .joined? = await lostEvents.next() else { return #expect(Bool(false)) }
      try await Task.sleep(for: .seconds(2))
      await kept.leave()
      #expect(await keptEvents.next() == nil)
      await lost.leave()
    }
  }

  @Test("after a restart of the server the client joins again within 5 s, and not at all when the room is gone")
  func restart() async throws {
    try await withServer { server in
      let client = try client(server) { $0.publishes = true }
      var events = client.events.makeAsyncIterator()
      try await client.connect()
      guard case .joined? = await events.next() else { return #expect(Bool(false)) }
      server.stop()
      guard case .connectionLost? = await events.next() else { return #expect(Bool(false)) }
      try await server.start()
      let start = ContinuousClock.now
      while true {
        switch await events.next() {
        case .connectionLost?: continue
        case .participantLeft("publisher", isRejoinVerified: false)?: continue
        case .joined(_, let others)?:
          #expect(others.map(\.id) == ["publisher-2"])
        default: Issue.record("An unexpected event.")
        }
        break
      }
      #expect(ContinuousClock.now - start < .seconds(5))
      server.stop()
      try server.removeRooms()
      try await server.start()
      var last: SignallingEvent?
      while let event = await events.next() { last = event }
      #expect(
        last == .rejected(reason: "There is no such room (Janus error 426: \"No such room (1234)\")."))
      await client.leave()
    }
  }

  @Test(
    "after a lost connection the client has its old id where the server keeps sessions, and elsewhere a new one",
    arguments: [true, false])
  func lostConnection(isKept: Bool) async throws {
    try await withServer(general: isKept ? "reclaim_session_timeout = 20" : "") { server in
      let proxy = try await TCPProxy.start(to: server.port)
      let client = try client(server, through: proxy)
      var events = client.events.makeAsyncIterator()
      try await client.connect()
      guard case .joined(let former, _)? = await events.next() else { return #expect(Bool(false)) }
      for _ in 0..<2 {
        proxy.cut()
        guard case .connectionLost? = await events.next() else { return #expect(Bool(false)) }
        guard case .joined(let id, _)? = await events.next() else { return #expect(Bool(false)) }
        #expect((id == former) == isKept)
      }
      await client.leave()
      await proxy.stop()
    }
  }

  @Test("the server answers our offer with Opus and VP8, and takes our candidates")
  func publishing() async throws {
    try await withServer { server in
      let client = try client(server) { $0.publishes = true }
      var events = client.events.makeAsyncIterator()
      try await client.connect()
      guard case .joined? = await events.next() else { return #expect(Bool(false)) }
      let offer = try RecordedMessages.descriptions("janus112-publisher.json", "sent")[0]
      client.send(.offer(offer), to: "publisher")
      client.send(.candidate(TrickledCandidate(candidate: "", mid: "0")), to: "publisher")
      guard case .message(.answer(let sdp), from: "publisher")? = await events.next() else {
        return #expect(Bool(false))
      }
      for line in ["a=recvonly", "opus/48000/2", "VP8/90000", "a=candidate:"] { #expect(sdp.contains(line)) }
      await client.leave()
    }
  }

  @Test("a room for another codec rejects what we publish in its own words, and the client stays joined")
  func otherCodec() async throws {
    try await withServer { server in
      let client = try client(server, room: .number(2640)) { $0.publishes = true }
      var events = client.events.makeAsyncIterator()
      try await client.connect()
      guard case .joined? = await events.next() else { return #expect(Bool(false)) }
      client.send(.offer(try RecordedMessages.descriptions("janus112-publisher.json", "sent")[0]), to: "publisher")
      #expect(await events.next() == .participantLeft("publisher", isRejoinVerified: false))
      #expect(
        await events.next()
          == .rejected(
            reason: "The server does not let us publish: The room does not accept a codec that we publish "
              + "(Janus error 430: \"Video codec unavailable in this room\")."))
      await client.leave()
    }
  }

  @Test(
    "an offer that a dead connection does not carry is answered on a new one, in a session that ends with its connection"
  )
  func deadConnection() async throws {
    try await withServer { server in
      let proxy = try await TCPProxy.start(to: server.port)
      let client = try client(server, through: proxy) {
        $0.publishes = true
        $0.receives = false
      }
      var events = client.events.makeAsyncIterator()
      try await client.connect()
      guard case .joined(let former, _)? = await events.next() else { return #expect(Bool(false)) }
      let offer = try RecordedMessages.descriptions("janus112-publisher.json", "sent")[0]
      client.send(.offer(offer), to: "publisher")
      guard case .message(.answer, from: "publisher")? = await events.next() else { return #expect(Bool(false)) }
      try await proxy.freeze()
      client.send(.offer(offer), to: "publisher")
      guard case .connectionLost(_, retryAfter: .zero)? = await events.next() else { return #expect(Bool(false)) }
      guard case .joined(let id, let others)? = await events.next() else { return #expect(Bool(false)) }
      #expect(id == former)
      #expect(others.map(\.id) == ["publisher"])
      guard case .message(.answer, from: "publisher")? = await events.next() else { return #expect(Bool(false)) }
      // The session outlives the former connection, which is closed now.
      try await Task.sleep(for: .seconds(1))
      client.send(.offer(offer), to: "publisher")
      guard case .message(.answer, from: "publisher")? = await events.next() else { return #expect(Bool(false)) }
      await client.leave()
      await proxy.stop()
    }
  }

  // MARK: With a publisher

  @Test(
    "a feed is listed with its name and offers; it leaves, and a new one joins",
    .enabled(if: Publisher.isInstalled, "aiortc is missing: apt-get install python3-aiortc python3-aiohttp"),
    arguments: [false, true])
  func feeds(isFullTrickle: Bool) async throws {
    try await withServer(options: isFullTrickle ? ["-f"] : [], usesTextIDs: isFullTrickle) { server in
      let room = isFullTrickle ? "lounge" : "1234"
      let alice = try Publisher(server, room: room, name: "alice")
      let client = try client(server, room: JanusID(room))
      var events = client.events.makeAsyncIterator()
      try await client.connect()
      let id = ParticipantID("feed-\(alice.feed)")
      guard case .joined(_, let others)? = await events.next() else { return #expect(Bool(false)) }
      #expect(
        others == [
          SignalledParticipant(id, name: "alice", offerer: .remote, direction: .receiveOnly, forwardsMedia: true)
        ])
      guard case .message(.offer(let sdp), from: id)? = await events.next() else { return #expect(Bool(false)) }
      for line in ["m=audio", "m=video", "opus/48000/2", "VP8/90000", "a=sendonly"] { #expect(sdp.contains(line)) }
      if isFullTrickle {
        guard case .message(.candidate(let candidate), from: id)? = await events.next() else {
          return #expect(Bool(false))
        }
        #expect(candidate.candidate.hasPrefix("candidate:"))
      }
      alice.leave()
      while let event = await events.next(), event != .participantLeft(id, isRejoinVerified: false) {}
      let bob = try Publisher(server, room: room, name: "bob")
      #expect(
        await events.next()
          == .participantJoined(
            SignalledParticipant(
              ParticipantID("feed-\(bob.feed)"), name: "bob", offerer: .remote, direction: .receiveOnly,
              forwardsMedia: true)))
      bob.crash()
      while let event = await events.next() {
        if case .participantLeft = event { break }
      }
      await client.leave()
    }
  }
}

import HTTPTransport
import Media
import NIOCore
import Signalling
import SkyRTC
import Testing

@Suite("SkyRTC client", .timeLimit(.minutes(2)))
struct SkyRTCClientTests {
  private var quick: SkyRTCClient.Options {
    var options = SkyRTCClient.Options()
    options.minimumRetryDelay = .milliseconds(10)
    options.maximumRetryDelay = .milliseconds(50)
    return options
  }

  private func client(_ url: String, room: String = "1", options: SkyRTCClient.Options) throws -> SkyRTCClient {
    try SkyRTCClient(url: url, room: room, options: options, logger: .quiet)
  }

  @Test("two clients meet and exchange offer, answer and candidates")
  func call() async throws {
    try await withServer { _, address in
      let first = try client(address.webSocketURL, options: quick)
      let second = try client(address.webSocketURL, options: quick)
      var firstEvents = first.events.makeAsyncIterator()
      var secondEvents = second.events.makeAsyncIterator()
      try await first.connect()
      guard case .joined(let firstID, others: [])? = await firstEvents.next(isolation: nil) else {
        throw Participant.Surprise.noWelcome
      }
      try await second.connect()
      guard
        case .joined(
          let secondID, others: [SignalledParticipant(firstID, offerer: .local, isIdentityVerified: true)])? =
          await secondEvents.next(
            isolation: nil)
      else {
        throw Participant.Surprise.noWelcome
      }
      #expect(
        await firstEvents.next(isolation: nil)
          == .participantJoined(SignalledParticipant(secondID, offerer: .remote, isIdentityVerified: true)))
      second.send(.offer("v=0\r\n"), to: firstID)
      second.send(.candidate(.init(candidate: "candidate:1", mid: "0", mLineIndex: 0)), to: firstID)
      second.send(.candidate(.init(candidate: "", mid: nil, mLineIndex: nil)), to: firstID)
      #expect(await firstEvents.next(isolation: nil) == .message(.offer("v=0\r\n"), from: secondID))
      #expect(
        await firstEvents.next(isolation: nil)
          == .message(.candidate(.init(candidate: "candidate:1", mid: "0", mLineIndex: 0)), from: secondID))
      #expect(
        await firstEvents.next(isolation: nil)
          == .message(.candidate(.init(candidate: "", mid: nil, mLineIndex: nil)), from: secondID))
      first.send(.answer("v=1"), to: secondID)
      #expect(await secondEvents.next(isolation: nil) == .message(.answer("v=1"), from: firstID))
      await second.leave()
      #expect(await secondEvents.next(isolation: nil) == nil)
      #expect(await firstEvents.next(isolation: nil) == .participantLeft(secondID, isRejoinVerified: true))
      await first.leave()
    }
  }

  @Test("a reader that is not scheduled loses neither the connection nor any of 3,000 candidates sent at once")
  func burst() async throws {
    try await withServer { _, address in
      var options = quick
      options.maximumWaitingEvents = 500
      let victim = try client(address.webSocketURL, options: options)
      var events = victim.events.makeAsyncIterator()
      try await victim.connect()
      guard case .joined(let victimID, _)? = await events.next(isolation: nil) else {
        throw Participant.Surprise.noWelcome
      }
      let (sender, senderID) = try await Participant.joined(victim.room, at: address)
      #expect(
        await events.next(isolation: nil)
          == .participantJoined(
            SignalledParticipant(ParticipantID(senderID), offerer: .remote, isIdentityVerified: true)))
      for number in 0..<3_000 {
        sender.send(.signal(.candidate(.init(candidate: "\(number)", mid: "0", mLineIndex: 0)), to: victimID.text))
      }
      try await Task.sleep(for: .milliseconds(500))
      for number in 0..<3_000 {
        #expect(
          await events.next(isolation: nil)
            == .message(
              .candidate(.init(candidate: "\(number)", mid: "0", mLineIndex: 0)), from: ParticipantID(senderID)))
      }
      await sender.close()
      await victim.leave()
    }
  }

  @Test("a self-signed server is trusted only by a client that was given its certificate")
  func ownAuthority() async throws {
    try await withServer(tls: .init(certificateFile: Certificate.path, keyFile: Certificate.keyPath)) { _, address in
      var options = quick
      options.trust = .file(Certificate.path)
      let trusting = try client(address.webSocketURL, options: options)
      var events = trusting.events.makeAsyncIterator()
      try await trusting.connect()
      guard case .joined? = await events.next(isolation: nil) else { throw Participant.Surprise.noWelcome }
      await trusting.leave()
      let other = try client(address.webSocketURL, options: quick)
      await #expect {
        try await other.connect()
      } throws: {
        if case SignallingConnectError.rejected(let sentence) = $0 {
          sentence.contains("is self-signed and not trusted; --ca-certificate")
        } else {
          false
        }
      }
    }
  }

  @Test("a file without certificates is reported before a connection is attempted")
  func noCertificate() throws {
    try TLSTrust.system.check()
    try TLSTrust.file(Certificate.path).check()
    for (file, reason) in [
      ("/nowhere/ca.pem", "no such file or directory"), (Certificate.keyPath, "it contains no PEM certificate"),
      ("/dev/null", "it contains no PEM certificate"), ("/", "it contains no PEM certificate"),
    ] {
      let error = #expect(throws: TLSTrust.ContextError.self) { try TLSTrust.file(file).check() }
      #expect(error?.description == "The certificates in \(file) cannot be read: \(reason).")
    }
  }

  @Test("the client reports a lost server, reconnects and joins again with the same id")
  func comesBack() async throws {
    let server = SkyRTCServer(configuration: .init(port: 0), logger: .quiet)
    let address = try await server.start()
    let client = try client(address.webSocketURL, options: quick)
    var events = client.events.makeAsyncIterator()
    try await client.connect()
    guard case .joined(let id, _)? = await events.next(isolation: nil) else { throw Participant.Surprise.noWelcome }
    await server.shutdown()
    guard case .connectionLost(let reason, _)? = await events.next(isolation: nil) else {
      throw Participant.Surprise.noWelcome
    }
    #expect(reason == "The other side closed the connection with code 1001: The server is shutting down.")
    guard case .connectionLost(let rejection, _)? = await events.next(isolation: nil) else {
      throw Participant.Surprise.noWelcome
    }
    #expect(rejection == "\(address.webSocketURL) cannot be reached: Connection refused.")
    client.send(.offer("to no participant"), to: "x")
    let next = SkyRTCServer(configuration: .init(port: address.port), logger: .quiet)
    _ = try await next.start()
    while let event = await events.next(isolation: nil) {
      if case .joined(let you, _) = event {
        #expect(you == id)
        break
      }
    }
    await client.leave()
    await next.shutdown()
  }

  @Test("the client joins again when the connection is cut, also if the server assigns a new id")
  func otherServers() async throws {
    let server = try await ScriptedServer.start { connection, message in
      guard case .text(let text) = message, text.contains("__join") else { return }
      connection.send(.peers(you: "id\(connection.number)", others: []))
      if connection.number == 0 { connection.cut() }
    }
    let client = try client(server.url, options: quick)
    var events = client.events.makeAsyncIterator()
    try await client.connect()
    #expect(await events.next(isolation: nil) == .joined(id: "id0", others: []))
    guard case .connectionLost? = await events.next(isolation: nil) else { throw Participant.Surprise.noWelcome }
    #expect(await events.next(isolation: nil) == .joined(id: "id1", others: []))
    await client.leave()
    await server.stop()
  }

  @Test("a dead connection is noticed by the client's own pings")
  func deadConnection() async throws {
    let server = try await ScriptedServer.start(answers: false) { _, _ in }
    var options = quick
    options.pingInterval = .milliseconds(50)
    options.pingTimeout = .milliseconds(50)
    let client = try client(server.url, options: options)
    var events = client.events.makeAsyncIterator()
    try await client.connect()
    guard case .connectionLost(let reason, _)? = await events.next(isolation: nil) else {
      throw Participant.Surprise.noWelcome
    }
    #expect(reason.hasPrefix("The other side was silent for "))
    await client.leave()
    await server.stop()
  }

  @Test(
    "a verified connection is lost if the server is silent, and a verification ends the wait before the next attempt")
  func verification() async throws {
    let server = try await ScriptedServer.start(answers: false) { _, _ in }
    var options = quick
    options.pingTimeout = .milliseconds(50)
    options.minimumRetryDelay = .milliseconds(200)
    options.maximumRetryDelay = .seconds(600)
    let client = try client(server.url, options: options)
    var events = client.events.makeAsyncIterator()
    try await client.connect()
    // The connection may not be stored yet.
    let verifying = Task {
      while !Task.isCancelled {
        client.verifyConnection()
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    for _ in 0..<3 {
      guard case .connectionLost(let reason, _)? = await events.next(isolation: nil) else {
        throw Participant.Surprise.noWelcome
      }
      #expect(reason.hasPrefix("The other side was silent for "))
    }
    verifying.cancel()
    await client.leave()
    await server.stop()
  }

  @Test("a join that is not answered is attempted again")
  func noWelcome() async throws {
    let server = try await ScriptedServer.start { connection, _ in
      if connection.number > 0 { connection.send(.peers(you: "a", others: ["b"])) }
    }
    var options = quick
    options.joinTimeout = .milliseconds(500)
    let client = try client(server.url, options: options)
    var events = client.events.makeAsyncIterator()
    try await client.connect()
    guard case .connectionLost(let reason, _)? = await events.next(isolation: nil) else {
      throw Participant.Surprise.noWelcome
    }
    #expect(reason.contains("The join was not answered within 0.5 seconds."))
    while let event = await events.next(isolation: nil) {
      if case .connectionLost = event { continue }
      #expect(event == .joined(id: "a", others: [SignalledParticipant("b", offerer: .local, isIdentityVerified: true)]))
      break
    }
    await client.leave()
    await server.stop()
  }

  @Test("ICE servers in the answer to the join are delivered before it")
  func iceServers() async throws {
    let server = try await ScriptedServer.start { connection, message in
      guard case .text(let text) = message, text.contains("__join") else { return }
      connection.send(
        #"{"eventName":"_peers","data":{"connections":[],"you":"a","iceServers":"#
          + #"[7,{"urls":["turn:b"],"username":"u","credential":"p"}]}}"#)
    }
    let client = try client(server.url, options: quick)
    try await client.connect()
    var events = client.events.makeAsyncIterator()
    #expect(
      await events.next(isolation: nil) == .iceServers([ICEServer(url: "turn:b", username: "u", credential: "p")]))
    #expect(await events.next(isolation: nil) == .joined(id: "a", others: []))
    await client.leave()
    await server.stop()
  }

  @Test("valid events are delivered among faulty messages of the server")
  func faultBehaviour() async throws {
    let server = try await ScriptedServer.start { connection, message in
      guard case .text(let text) = message, text.contains("__join") else { return }
      for text in ["", "null", "[]", "{", "{}", #"{"eventName":"_peers"}"#, #"{"eventName":"_new_peer","data":7}"#] {
        connection.send(text)
      }
      connection.send(.signal(.mark("too early"), from: "b"))
      connection.send(.peers(you: "a", others: ["b", "b", "a"]))
      connection.send(.peers(you: "z", others: ["y"]))
      connection.send(.joined("b"))
      connection.send(.joined("a"))
      connection.send(.signal(.mark("from another room"), from: "stranger"))
      connection.send(.signal(.answer(.init(type: "offer", sdp: "its own offer")), from: "b"))
      connection.send(.left("stranger"))
      connection.send(binary: #"{"eventName":"_ice_candidate","data":{"candidate":"early","socketId":"b"}}"#)
      connection.send(#"{"eventName":"_offer","data":{"sdp":"bare","socketId":"b"}}"#)
      connection.send(.left("b"))
      connection.send(.signal(.mark("late"), from: "b"))
      connection.close(code: 1000)
    }
    let client = try client(server.url, options: quick)
    try await client.connect()
    var events: [SignallingEvent] = []
    for await event in client.events {
      if case .connectionLost = event { break }
      events.append(event)
    }
    #expect(
      events == [
        .joined(id: "a", others: [SignalledParticipant("b", offerer: .local, isIdentityVerified: true)]),
        .message(.candidate(.init(candidate: "early")), from: "b"),
        .message(.offer("bare"), from: "b"), .participantLeft("b", isRejoinVerified: false),
      ])
    await client.leave()
    await server.stop()
  }

  @Test("only some of 10,000 faulty messages are logged as warnings")
  func floodOfFaults() async throws {
    let server = try await ScriptedServer.start { connection, message in
      guard case .text(let text) = message, text.contains("__join") else { return }
      connection.send(.peers(you: "a", others: []))
      for _ in 0..<10_000 { connection.send("{") }
      connection.send(.joined("b"))
    }
    let log = WarningCount()
    let client = try SkyRTCClient(url: server.url, room: "1", options: quick, logger: log.logger)
    var events = client.events.makeAsyncIterator()
    try await client.connect()
    #expect(await events.next(isolation: nil) == .joined(id: "a", others: []))
    #expect(
      await events.next(isolation: nil)
        == .participantJoined(SignalledParticipant("b", offerer: .remote, isIdentityVerified: true)))
    // The first twenty, and one more each second.
    #expect((20...100).contains(log.count), "\(log.count) warnings")
    await client.leave()
    await server.stop()
  }

  @Test("a slow reader receives all events that were accepted, and memory stays bounded")
  func slowReader() async throws {
    let (ends, end) = AsyncStream.makeStream(of: Int.self)
    let server = try await ScriptedServer.start(ended: { end.yield($0) }) { connection, message in
      guard case .text(let text) = message, text.contains("__join") else { return }
      connection.send(.peers(you: "a", others: ["b"]))
      if connection.number > 0 { return }
      for number in 0..<20_000 {
        connection.send(.signal(.candidate(.init(candidate: "\(number)", mid: "0", mLineIndex: 0)), from: "b"))
      }
    }
    var options = quick
    options.maximumWaitingEvents = 1_000
    let client = try client(server.url, options: options)
    try await client.connect()
    // Nothing is read before the connection is lost.
    #expect(await ends.first { _ in true } == 0)
    var taken = 0
    for await event in client.events {
      guard case .message(.candidate(let trickled), _) = event else {
        if case .connectionLost(let reason, _) = event {
          #expect(reason.contains("fell behind"))
          break
        }
        continue
      }
      #expect(trickled.candidate == "\(taken)")
      taken += 1
    }
    #expect(taken >= 1_000 && taken < 20_000)
    await client.leave()
    await server.stop()
  }

  @Test("a failed first attempt throws the reason and is not repeated")
  func notReached() async throws {
    let free = try await RawServer.start(answer: nil)
    await free.stop()
    let client = try client("ws://127.0.0.1:\(free.port)", options: quick)
    let error = await #expect(throws: SignallingConnectError.self) { try await client.connect() }
    guard case .unreachable? = error else { Issue.record("\(String(describing: error))"); return }
    await client.leave()
    for await event in client.events { Issue.record("There was an event: \(event)") }
  }

  @Test("closing ends the events at once, even during the wait before the next attempt")
  func closeWhileWaiting() async throws {
    let server = try await ScriptedServer.start { connection, _ in connection.cut() }
    var options = quick
    options.minimumRetryDelay = .seconds(60)
    options.maximumRetryDelay = .seconds(60)
    let client = try client(server.url, options: options)
    try await client.connect()
    for await event in client.events {
      guard case .connectionLost(_, let wait) = event else { continue }
      #expect(wait == .seconds(60))
      break
    }
    let start = ContinuousClock.now
    await client.leave()
    for await _ in client.events {}
    #expect(ContinuousClock.now - start < .seconds(5))
    await server.stop()
  }
}

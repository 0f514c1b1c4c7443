import Foundation
import HTTPTransport
import Logging
import Media
import Signalling
import SocketIO
import TestSupport
import Testing

/// Against servers of python-socketio 4 (Engine.IO 3) and 5 (Engine.IO 4), with phones of the same library and aiortc.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: !PythonProgram.Interpreter.available.isEmpty, Comment(rawValue: PythonProgram.Interpreter.isMissing)))
struct PythonServerTests {
  typealias Interpreter = PythonProgram.Interpreter
  static let both = Interpreter.available

  /// A server and clients on it.
  struct Site {
    let interpreter: Interpreter
    var server: PythonProgram
    let url: HTTPURL

    init(_ interpreter: Interpreter, port: Int = 0, _ arguments: [String] = []) async throws {
      self.interpreter = interpreter
      server = try PythonProgram(interpreter, "socketio-server.py", ["--port", "\(port)"] + arguments)
      let line = try await server.line(with: "listening")
      let found = line.split(separator: " ").last.flatMap { Int($0.dropLast()) }
      url = try HTTPURL("http://127.0.0.1:\(try #require(found))")
    }

    func client(_ name: String, calls: [String] = [], _ change: (inout SocketIOClient.Options) -> Void = { _ in })
      -> SocketIOClient
    {
      var options = SocketIOClient.Options()
      options.callRetryDelay = .milliseconds(200)
      change(&options)
      var logger = Logger(label: "test")
      logger.logLevel = .critical
      return SocketIOClient(url: url, userName: name, calls: calls, options: options, logger: logger)
    }

    func phone(_ name: String, _ arguments: String...) async throws -> PythonProgram {
      let phone = try PythonProgram(interpreter, "socketio-phone.py", [url.description, name] + arguments)
      _ = try await phone.line(with: "\"login\": true")
      return phone
    }
  }

  @Test("two clients call each other, exchange all messages and hang up", arguments: both)
  func twoClientsCall(python: Interpreter)
    async throws
  {
    let site = try await Site(python)
    let callee = site.client("222222")
    let caller = site.client("111111", calls: ["222222"])
    let (calleeEvents, callerEvents) = (EventReader(callee), EventReader(caller))
    try await callee.connect()
    try await caller.connect()
    try await callerEvents.wait { $0.isArrival(of: "222222") }
    #expect(callerEvents.all.first == .joined(id: "111111", others: []))
    caller.send(.offer("v=0\r\ns=Zoë\r\n"), to: "222222")
    let offer = try await calleeEvents.wait { $0.isOffer }
    #expect(offer == .message(.offer("v=0\r\ns=Zoë\r\n"), from: "111111"))
    callee.send(.answer("v=1\r\n"), to: "111111")
    let answer = try await callerEvents.wait { $0.isAnswer }
    #expect(answer == .message(.answer("v=1\r\n"), from: "222222"))
    let candidate = TrickledCandidate(candidate: "candidate:1 1 udp 1 127.0.0.1 9 typ host", mid: "0", mLineIndex: 0)
    caller.send(.candidate(candidate), to: "222222")
    try await calleeEvents.wait { $0 == .message(.candidate(candidate), from: "111111") }
    await caller.leave()
    try await callerEvents.end()
    try await calleeEvents.wait { $0.isDeparture(of: "111111") }
    await callee.leave()
    _ = try await site.server.line(with: "left", "222222")
    #expect(site.server.count(of: "EIO=4") + site.server.count(of: "EIO=3") == 2)
    site.server.end()
  }

  @Test("ICE servers in the reply to the login are delivered before the join", arguments: both)
  func iceServers(python: Interpreter) async throws {
    let site = try await Site(
      python, ["--ice-servers", #"[{"urls": ["turn:turn.example"], "username": "u", "credential": "p"}]"#])
    let client = site.client("111111")
    let events = EventReader(client)
    try await client.connect()
    try await events.wait { $0 == .joined(id: "111111", others: []) }
    #expect(
      events.all.first == .iceServers([ICEServer(url: "turn:turn.example", username: "u", credential: "p")]))
    await client.leave()
    try await events.end()
    site.server.end()
  }

  @Test("a refused login is an error of connect, and connect may be called again", arguments: both)
  func refusedLoginError(
    python: Interpreter
  ) async throws {
    let site = try await Site(python, ["--refuse", "nobody"])
    let client = site.client("nobody")
    for _ in 0..<2 {
      await #expect(
        throws: SignallingConnectError.unauthorized("The server refuses the login of the user \"nobody\".")
      ) { try await client.connect() }
    }
    await client.leave()
    site.server.end()
  }

  @Test("a busy user is called once more, and the signalling ends when all refuse", arguments: both)
  func busyUserCalled(
    python: Interpreter
  ) async throws {
    let site = try await Site(python)
    let busy = site.client("2") { $0.maximumCalls = 1 }
    let first = site.client("1", calls: ["2"])
    let (busyEvents, firstEvents) = (EventReader(busy), EventReader(first))
    try await busy.connect()
    try await first.connect()
    try await firstEvents.wait { $0.isArrival(of: "2") }
    try await busyEvents.wait { $0.isArrival(of: "1") }
    let second = site.client("3", calls: ["2", "4"])
    let secondEvents = EventReader(second)
    try await second.connect()
    let closed = try await secondEvents.wait { $0.isClosed }
    let refusal = "is busy, refused the call or is not known"
    #expect(closed == .closed(reason: "The user 2 \(refusal), the user 4 \(refusal)."))
    try await secondEvents.end()
    #expect(site.server.count(of: "call_request", "\"3\"", "\"to\": \"2\"") == 2)
    await first.leave()
    await busy.leave()
    await second.leave()
    site.server.end()
  }

  @Test("twenty calls one after another", arguments: both)
  func twentyCallsOne(python: Interpreter) async throws {
    let site = try await Site(python)
    let callee = site.client("2")
    let calleeEvents = EventReader(callee)
    try await callee.connect()
    for number in 1...20 {
      let caller = site.client("1", calls: ["2"])
      let events = EventReader(caller)
      try await caller.connect()
      try await events.wait { $0.isArrival(of: "2") }
      caller.send(.offer("v=0"), to: "2")
      try await calleeEvents.wait(for: number) { $0.isOffer }
      callee.send(.answer("v=1"), to: "1")
      try await events.wait { $0.isAnswer }
      await caller.leave()
      try await calleeEvents.wait(for: number) { $0.isDeparture(of: "1") }
    }
    await callee.leave()
    site.server.end()
  }

  @Test("twenty callers at once", arguments: both)
  func twentyCallers(python: Interpreter) async throws {
    let site = try await Site(python)
    let callee = site.client("callee")
    let calleeEvents = EventReader(callee)
    try await callee.connect()
    let callers = (1...20).map { site.client("\($0)", calls: ["callee"]) }
    for caller in callers { try await caller.connect() }
    for number in 1...20 { try await calleeEvents.wait { $0.isArrival(of: ParticipantID("\(number)")) } }
    for (index, caller) in callers.enumerated() {
      caller.send(.offer("v=\(index)"), to: "callee")
      try await calleeEvents.wait { $0 == .message(.offer("v=\(index)"), from: ParticipantID("\(index + 1)")) }
    }
    for caller in callers { await caller.leave() }
    for number in 1...20 { try await calleeEvents.wait { $0.isDeparture(of: ParticipantID("\(number)")) } }
    await callee.leave()
    site.server.end()
  }

  @Test("a killed server loses no call, and after its restart messages arrive again", arguments: both)
  func killedServerLoses(
    python: Interpreter
  ) async throws {
    var site = try await Site(python, port: ServerPort.unused())
    let callee = site.client("2") { $0.maximumRetryDelay = .seconds(1) }
    let caller = site.client("1", calls: ["2"]) { $0.maximumRetryDelay = .seconds(1) }
    let (calleeEvents, callerEvents) = (EventReader(callee), EventReader(caller))
    try await callee.connect()
    try await caller.connect()
    try await callerEvents.wait { $0.isArrival(of: "2") }
    site.server.kill()
    try await callerEvents.wait { $0.isLost }
    try await calleeEvents.wait { $0.isLost }
    site.server = try await Site(python, port: site.url.port).server
    try await callerEvents.wait(for: 2) { $0.isJoined }
    try await calleeEvents.wait(for: 2) { $0.isJoined }
    caller.send(.offer("v=2"), to: "2")
    try await calleeEvents.wait { $0 == .message(.offer("v=2"), from: "1") }
    #expect(!callerEvents.all.contains { $0.isDeparture(of: "2") })
    #expect(!calleeEvents.all.contains { $0.isDeparture(of: "1") })
    await caller.leave()
    try await calleeEvents.wait { $0.isDeparture(of: "1") }
    await callee.leave()
    site.server.end()
  }

  @Test("a server that refuses WebSockets is used by long polling", arguments: both)
  func serverRefusesWebSockets(python: Interpreter)
    async throws
  {
    let site = try await Site(python, ["--polling-only"])
    let callee = site.client("2")
    let caller = site.client("1", calls: ["2"])
    let (calleeEvents, callerEvents) = (EventReader(callee), EventReader(caller))
    try await callee.connect()
    try await caller.connect()
    try await callerEvents.wait { $0.isArrival(of: "2") }
    for number in 1...40 { caller.send(.offer("v=\(number) Zoë"), to: "2") }
    try await calleeEvents.wait(for: 40) { $0.isOffer }
    let offers = calleeEvents.all.filter(\.isOffer)
    #expect(offers == (1...40).map { .message(.offer("v=\($0) Zoë"), from: "1") })
    callee.send(.answer("v=1"), to: "1")
    try await callerEvents.wait { $0.isAnswer }
    await caller.leave()
    try await calleeEvents.wait { $0.isDeparture(of: "1") }
    await callee.leave()
    site.server.end()
  }

  @Test("pings keep a silent connection", arguments: both)
  func pingsKeepSilent(python: Interpreter) async throws {
    let site = try await Site(python, ["--ping-interval", "1", "--ping-timeout", "3"])
    let client = site.client("1")
    let events = EventReader(client)
    try await client.connect()
    try await Task.sleep(for: .seconds(6))
    #expect(events.all == [.joined(id: "1", others: [])])
    await client.leave()
    site.server.end()
  }

  // MARK: Phones

  @Test("a phone is called and answers with all candidates", arguments: both, ["audio", "audio and video"])
  func phoneCalledAnswers(
    python: Interpreter, kind: String
  ) async throws {
    let site = try await Site(python)
    let hasVideo = kind != "audio"
    let phone = hasVideo ? try await site.phone("2", "--video") : try await site.phone("2", "--busy", "1")
    let client = site.client("1", calls: ["2"])
    let events = EventReader(client)
    try await client.connect()
    try await events.wait { $0.isArrival(of: "2") }
    #expect(events.all.contains(.participantJoined(SignalledParticipant("2", name: "2", offerer: .local))))
    client.send(.offer(Self.offer(hasVideo: hasVideo)), to: "2")
    guard case .message(.answer(let sdp), _) = try await events.wait({ $0.isAnswer }) else { return }
    #expect(sdp.contains("a=candidate:"))
    #expect(sdp.contains("opus/48000/2"))
    #expect(sdp.contains("m=video") == hasVideo)
    client.send(
      .candidate(TrickledCandidate(candidate: "candidate:1 1 udp 1 127.0.0.1 9 typ host", mid: "0", mLineIndex: 0)),
      to: "2")
    await client.leave()
    _ = try await phone.line(with: "disconnectpeer", "\"1\"")
    phone.end()
    site.server.end()
  }

  @Test("a phone calls, offers and hangs up", arguments: both)
  func phoneCallsOffers(python: Interpreter) async throws {
    let site = try await Site(python)
    let client = site.client("1")
    let events = EventReader(client)
    try await client.connect()
    let phone = try await site.phone("2", "--call", "1", "--video")
    guard case .message(.offer(let sdp), let user) = try await events.wait({ $0.isOffer }) else { return }
    #expect(user == "2")
    #expect(sdp.contains("m=video"))
    #expect(sdp.contains("a=candidate:"))
    phone.write(#"{"hangUp": "1"}"#)
    try await events.wait { $0.isDeparture(of: "2") }
    phone.write(#"{"call": "1"}"#)
    try await events.wait(for: 2) { $0.isArrival(of: "2") }
    try await events.wait(for: 2) { $0.isOffer }
    client.hangUp("2")
    _ = try await phone.line(with: "disconnectpeer", "\"1\"")
    await client.leave()
    phone.end()
    site.server.end()
  }

  @Test("a phone cancels its call before the offer", arguments: both)
  func phoneCancelsCall(python: Interpreter) async throws {
    let site = try await Site(python)
    let client = site.client("1")
    let events = EventReader(client)
    try await client.connect()
    let phone = try await site.phone("2", "--call", "1", "--cancel")
    try await events.wait { $0.isDeparture(of: "2") }
    let offers = events.all.filter(\.isOffer)
    #expect(offers == [])
    await client.leave()
    phone.end()
    site.server.end()
  }

  @Test("a phone that does not answer is given up", arguments: both)
  func phoneAnswerGiven(python: Interpreter) async throws {
    let site = try await Site(python)
    let phone = try await site.phone("2", "--silent")
    let client = site.client("1", calls: ["2"]) { $0.responseTimeout = .seconds(1) }
    let events = EventReader(client)
    try await client.connect()
    let closed = try await events.wait { $0.isClosed }
    #expect(closed == .closed(reason: "The user 2 did not answer within 1.0 seconds."))
    #expect(phone.count(of: "call_request") == 2)
    await client.leave()
    phone.end()
    site.server.end()
  }

  /// An offer as a browser writes it.
  private static func offer(hasVideo: Bool) -> String {
    func media(_ kind: String, _ mid: Int, _ type: Int, _ codec: String) -> [String] {
      [
        "m=\(kind) 9 UDP/TLS/RTP/SAVPF \(type)", "c=IN IP4 0.0.0.0", "a=rtcp:9 IN IP4 0.0.0.0", "a=ice-ufrag:abcd",
        "a=ice-pwd:abcdefghijklmnopqrstuvwx", "a=ice-options:trickle",
        "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":"), "a=setup:actpass",
        "a=mid:\(mid)", "a=sendrecv", "a=msid:ARDAMS ARDAMS\(kind)", "a=rtcp-mux", "a=rtpmap:\(type) \(codec)",
        "a=ssrc:\(mid + 1) cname:a",
      ]
    }
    let head = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0\(hasVideo ? " 1" : "")"]
    let audio = media("audio", 0, 111, "opus/48000/2")
    let video = hasVideo ? media("video", 1, 96, "VP8/90000") : []
    return (head + audio + video + [""]).joined(separator: "\r\n")
  }
}

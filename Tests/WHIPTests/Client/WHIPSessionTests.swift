import HTTPTransport
import Media
import NIOCore
import NIOHTTP1
import Signalling
import TestSupport
import Testing
import WHIP

/// Drives a session and answers its requests by hand.
struct ManualSession {
  var session: WHIPSession
  var now = ContinuousClock.now
  var requests: [(number: Int, request: HTTPRequest)] = []
  var events: [SignallingEvent] = []
  var log: [String] = []

  init(_ role: WHIPClient.Role = .publisher, token: String? = nil, url: String = "https://whip.example/live/1") throws {
    var options = WHIPClient.Options()
    options.token = try token.map { try BearerToken($0) }
    session = WHIPSession(role, endpoint: try HTTPURL(url), options: options, generator: SeededGenerator(seed: 1))
  }

  mutating func perform(_ actions: [WHIPSession.Action]) {
    for action in actions {
      switch action {
      case .send(let number, let request): requests.append((number, request))
      case .deliver(let event): events.append(event)
      case .log(_, let text): log.append(text)
      }
    }
  }

  mutating func send(_ message: SignallingMessage) {
    perform(session.send(message, to: session.participant.id, now: now))
  }

  /// Responds to the newest request.
  mutating func respond(_ status: UInt, _ headers: HTTPHeaders = [:], body: String = "") throws {
    let number = try #require(requests.last?.number)
    respond(to: number, status, headers, body: body)
  }

  mutating func respond(to number: Int, _ status: UInt, _ headers: HTTPHeaders = [:], body: String = "") {
    let response = HTTPResponse(
      status: HTTPResponseStatus(statusCode: Int(status)), headers: headers, body: ByteBuffer(string: body))
    perform(session.responded(to: number, .success(response), now: now))
  }

  mutating func fail(_ error: HTTPError) throws {
    let number = try #require(requests.last?.number)
    perform(session.responded(to: number, .failure(error), now: now))
  }

  mutating func created(_ headers: HTTPHeaders = [:]) throws {
    var all: HTTPHeaders = ["Content-Type": "application/sdp", "Location": "/sessions/7", "ETag": "\"xyzzy\""]
    all.add(contentsOf: headers)
    try respond(201, all, body: Sample.answer())
  }

  /// Moves the clock to the next deadline.
  mutating func advance() throws {
    now = try #require(session.deadline)
    perform(session.timePassed(now: now))
  }

  var last: HTTPRequest? { requests.last?.request }
  var lastBody: String { last?.body.map { String(buffer: $0) } ?? "" }
  var participant: ParticipantID { session.participant.id }
}

@Suite("A session with a WHIP or WHEP server")
struct WHIPSessionTests {
  @Test("the server is the only participant, who receives from a publisher and sends to a player")
  func participants() throws {
    let publisher = try ManualSession(.publisher).session.participant
    #expect(publisher.id == "whip.example")
    #expect(publisher.offerer == .local)
    #expect(publisher.direction == .sendOnly)
    #expect(try ManualSession(.player).session.participant.direction == .receiveOnly)
  }

  @Test("an offer is posted with the token, and the body of the response is the answer")
  func offerAndAnswer() throws {
    var manual = try ManualSession(token: "s3cret")
    manual.send(.offer(Sample.offer()))
    #expect(manual.last?.method == .POST)
    #expect(manual.last?.url.description == "https://whip.example/live/1")
    #expect(manual.last?.headers["Content-Type"] == ["application/sdp"])
    #expect(manual.last?.headers["Authorization"] == ["Bearer s3cret"])
    #expect(manual.lastBody == Sample.offer())
    try manual.created(["Link": "<stun:stun.example>; rel=\"ice-server\""])
    #expect(
      manual.events == [
        .iceServers([ICEServer(url: "stun:stun.example")]),
        .message(.answer(Sample.answer()), from: manual.participant),
      ])
  }

  @Test("candidates are sent together 50 ms after the first, with the entity tag, once the session exists")
  func trickling() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    manual.send(.candidate(.init(candidate: "candidate:1 1 udp 1 10.0.0.1 5000 typ host", mid: "0")))
    #expect(manual.session.deadline == nil)
    let start = manual.now
    try manual.created()
    manual.send(.candidate(.init(candidate: "candidate:2 1 udp 1 10.0.0.1 5001 typ host", mid: "0")))
    #expect(manual.session.deadline == start + .milliseconds(50))
    try manual.advance()
    #expect(manual.last?.method == .PATCH)
    #expect(manual.last?.url.description == "https://whip.example/sessions/7")
    #expect(manual.last?.headers["If-Match"] == ["\"xyzzy\""])
    #expect(manual.last?.headers["Content-Type"] == ["application/trickle-ice-sdpfrag"])
    #expect(try SDPFragment(parsing: manual.lastBody).trickled.count == 2)
    #expect(manual.requests.count == 2)
  }

  @Test("candidates wait while others are on the way")
  func oneTrickleAtATime() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    try manual.created()
    manual.send(.candidate(.init(candidate: "candidate:1 1 udp 1 10.0.0.1 5000 typ host")))
    try manual.advance()
    manual.send(.candidate(.init(candidate: "candidate:2 1 udp 1 10.0.0.1 5001 typ host")))
    #expect(manual.session.deadline == nil)
    try manual.respond(204)
    try manual.advance()
    #expect(manual.requests.count == 3)
    #expect(try SDPFragment(parsing: manual.lastBody).trickled.count == 1)
  }

  @Test("a server that takes no candidates does not end the session", arguments: [405, 412, 415, 422, 428, 500, 501])
  func tricklingRefused(status: UInt) throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    try manual.created()
    let count = manual.events.count
    manual.send(.candidate(.init(candidate: "candidate:1 1 udp 1 10.0.0.1 5000 typ host")))
    try manual.advance()
    try manual.respond(status)
    #expect(manual.events.count == count)
    manual.send(.candidate(.init(candidate: "candidate:2 1 udp 1 10.0.0.1 5001 typ host")))
    #expect(manual.session.deadline == nil)
    #expect(manual.log == ["The WHIP server takes no further candidates: it responded \(status)."])
  }

  @Test("a session that the server ended is reported, and the participant returns after a wait", arguments: [404, 410])
  func endedByServer(status: UInt) throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    try manual.created()
    manual.send(.candidate(.init(candidate: "candidate:1 1 udp 1 10.0.0.1 5000 typ host")))
    try manual.advance()
    try manual.respond(status)
    #expect(manual.events.last == .participantLeft(manual.participant, isRejoinVerified: false))
    try manual.advance()
    #expect(manual.events.last == .participantJoined(manual.session.participant))
    manual.send(.offer(Sample.offer(fragment: "next")))
    #expect(manual.last?.method == .POST)
  }

  @Test("a refusal of the offer is permanent", arguments: [400, 401, 403, 404, 405, 410, 413, 415, 422, 301, 302])
  func refused(status: UInt) throws {
    var manual = try ManualSession(token: "s3cret")
    manual.send(.offer(Sample.offer()))
    try manual.respond(status)
    guard case .closed(let reason) = manual.events.last else {
      Issue.record("The refusal is not permanent: \(manual.events)")
      return
    }
    #expect(reason.hasPrefix("The WHIP server ") && reason.hasSuffix(".") && !reason.contains("s3cret"))
    #expect(manual.session.isFinished)
    manual.send(.offer(Sample.offer()))
    #expect(manual.requests.count == 1)
  }

  @Test(
    "an overloaded server gets the same offer again after its wait", arguments: [408, 409, 425, 429, 500, 503, 599])
  func overloaded(status: UInt) throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    let start = manual.now
    try manual.respond(status, ["Retry-After": "7"])
    #expect(
      manual.events == [.connectionLost(reason: "The WHIP server responded \(status).", retryAfter: .seconds(7))])
    try manual.advance()
    #expect(manual.now == start + .seconds(7))
    #expect(manual.last?.method == .POST)
    #expect(manual.lastBody == Sample.offer())
    try manual.created()
    #expect(manual.events[1] == .message(.answer(Sample.answer()), from: manual.participant))
    #expect(manual.events[2] == .joined(id: WHIPSession.ownID, others: [manual.session.participant]))
    // The peer offers again when it hears that; the session stays.
    manual.send(.offer(Sample.offer().replacing("118931041 2 IN", with: "118931041 3 IN")))
    #expect(manual.events[3] == .message(.answer(Sample.answer()), from: manual.participant))
    #expect(manual.requests.count == 2)
  }

  @Test("an offer that is repeated while it is on the way is sent once")
  func repeatedWhilePosting() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    manual.send(.candidate(.init(candidate: "candidate:1 1 udp 1 10.0.0.1 5000 typ host")))
    manual.send(.offer(Sample.offer().replacing("118931041 2 IN", with: "118931041 3 IN")))
    try manual.created()
    #expect(manual.requests.count == 1)
    #expect(manual.events == [.message(.answer(Sample.answer()), from: manual.participant)])
    #expect(manual.session.deadline != nil, "The candidate was forgotten.")
  }

  @Test("after a counter-offer, a repeated offer of the peer gets the server's description as its answer")
  func offerAfterCounterOffer() throws {
    var manual = try ManualSession(.player)
    manual.send(.offer(Sample.offer(direction: "recvonly")))
    let theirs = Sample.answer().replacing("a=setup:passive", with: "a=setup:actpass")
    try manual.respond(406, ["Content-Type": "application/sdp", "Location": "/s/1"], body: theirs)
    manual.send(.answer(Sample.offer(direction: "recvonly", setup: "active")))
    try manual.respond(204)
    manual.send(.offer(Sample.offer(direction: "recvonly")))
    #expect(manual.events.last == .message(.answer(Sample.answer()), from: manual.participant))
    #expect(manual.requests.map(\.request.method) == [.POST, .PATCH])
  }

  @Test("an unreachable server is tried again after a growing wait, with the newest offer")
  func unreachable() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    var waits: [Duration] = []
    for _ in 0..<12 {
      try manual.fail(.unreachable(manual.session.endpoint, reason: "Connection refused"))
      guard case .connectionLost(_, let wait) = manual.events.last else { break }
      waits.append(wait)
      manual.send(.offer(Sample.offer(fragment: "newr")))
      try manual.advance()
    }
    #expect(waits.count == 12)
    #expect(waits.allSatisfy { $0 >= .milliseconds(500) && $0 <= .seconds(30) })
    #expect((waits.max() ?? .zero) > .seconds(5))
    #expect(manual.lastBody == Sample.offer(fragment: "newr"))
  }

  @Test("a certificate that is not trusted is permanent")
  func notTrusted() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    try manual.fail(.notTrusted(manual.session.endpoint, reason: "certificate verify failed"))
    #expect(manual.session.isFinished)
  }

  @Test("an offer follows redirects, with the token only at the same origin")
  func redirects() throws {
    var manual = try ManualSession(token: "s3cret")
    manual.send(.offer(Sample.offer()))
    try manual.respond(307, ["Location": "/other"])
    #expect(manual.last?.url.description == "https://whip.example/other")
    #expect(manual.last?.headers["Authorization"] == ["Bearer s3cret"])
    try manual.respond(308, ["Location": "https://edge.example/live"])
    #expect(manual.last?.url.description == "https://edge.example/live")
    #expect(manual.last?.headers["Authorization"] == [])
    #expect(manual.lastBody == Sample.offer())
    try manual.respond(201, ["Location": "sessions/9"], body: Sample.answer())
    manual.perform(manual.session.leave())
    #expect(manual.last?.url.description == "https://edge.example/sessions/9")
    #expect(manual.last?.headers["Authorization"] == [])
  }

  @Test("endless redirects, redirects without a place and those to http are refused")
  func badRedirects() throws {
    for headers: HTTPHeaders in [
      ["Location": "/again"], [:], ["Location": "http://whip.example/"], ["Location": "\\:"],
    ] {
      var manual = try ManualSession()
      manual.send(.offer(Sample.offer()))
      for _ in 0..<6 where !manual.session.isFinished { try manual.respond(307, headers) }
      #expect(manual.session.isFinished, "\(headers)")
      #expect(manual.requests.count <= 6)
    }
  }

  @Test("a counter-offer of a WHEP server is answered with a PATCH")
  func counterOffer() throws {
    var manual = try ManualSession(.player)
    manual.send(.offer(Sample.offer(direction: "recvonly")))
    let theirs = Sample.answer()
    try manual.respond(
      406, ["Content-Type": "application/sdp; valid-until=\"x\"", "Location": "https://whip.example/s/1"], body: theirs)
    #expect(manual.events == [.message(.offer(theirs), from: manual.participant)])
    manual.send(.answer("v=0\r\nours\r\n"))
    #expect(manual.last?.method == .PATCH)
    #expect(manual.last?.url.description == "https://whip.example/s/1")
    #expect(manual.last?.headers["Content-Type"] == ["application/sdp"])
    #expect(manual.last?.headers["If-Match"] == [])
    #expect(manual.lastBody == "v=0\r\nours\r\n")
    try manual.respond(204)
    #expect(manual.events.count == 1)
    manual.perform(manual.session.leave())
    #expect(manual.last?.method == .DELETE)
  }

  @Test("a counter-offer whose answer is refused ends the session, and the participant returns")
  func counterOfferRefused() throws {
    var manual = try ManualSession(.player)
    manual.send(.offer(Sample.offer(direction: "recvonly")))
    try manual.respond(406, ["Content-Type": "application/sdp", "Location": "/s/1"], body: Sample.answer())
    manual.send(.answer("v=0\r\n"))
    try manual.respond(422)
    #expect(manual.last?.method == .DELETE)
    #expect(manual.events.last == .participantLeft(manual.participant, isRejoinVerified: false))
    try manual.advance()
    #expect(manual.events.last == .participantJoined(manual.session.participant))
  }

  @Test("406 is a refusal for a publisher, and without a description for a player", arguments: [true, false])
  func notAcceptable(isPublisher: Bool) throws {
    var manual = try ManualSession(isPublisher ? .publisher : .player)
    manual.send(.offer(Sample.offer()))
    try manual.respond(406, ["Content-Type": isPublisher ? "application/sdp" : "text/plain"], body: "v=0\r\n")
    #expect(manual.session.isFinished)
  }

  @Test("a player waits for a stream that does not exist yet only if it is asked to")
  func waitsForStream() throws {
    var options = WHIPClient.Options()
    options.waitsForStream = true
    var manual = try ManualSession(.player)
    manual.session = WHIPSession(.player, endpoint: manual.session.endpoint, options: options)
    manual.send(.offer(Sample.offer()))
    try manual.respond(404)
    #expect(!manual.session.isFinished)
    #expect(manual.session.deadline != nil)
  }

  @Test("an ICE restart is a PATCH for any entity tag, and its answer has the server's new credentials")
  func restart() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    try manual.created()
    manual.send(.offer(Sample.offer(fragment: "ysXw")))
    #expect(manual.last?.method == .PATCH)
    #expect(manual.last?.headers["If-Match"] == ["*"])
    #expect(manual.lastBody.hasPrefix("a=ice-ufrag:ysXw\r\n"))
    #expect(manual.lastBody.contains(Sample.candidate))
    manual.send(.candidate(.init(candidate: "candidate:3 1 udp 1 10.0.0.1 5003 typ host")))
    #expect(manual.session.deadline == nil)
    try manual.respond(200, ["ETag": "\"abccd\""], body: "a=ice-ufrag:289b\r\na=ice-pwd:0b66f472495ef0ccac7bda65\r\n")
    guard case .message(.answer(let sdp), _) = manual.events.last else {
      Issue.record("No answer was delivered.")
      return
    }
    #expect(SDPOutline(sdp).credentials?.usernameFragment == "289b")
    try manual.advance()
    #expect(manual.last?.headers["If-Match"] == ["\"abccd\""])
    #expect(manual.lastBody.hasPrefix("a=ice-ufrag:ysXw\r\n"))
  }

  @Test(
    "after a refused ICE restart the session is deleted, and a new one begins", arguments: [204, 404, 412, 422, 501])
  func restartRefused(status: UInt) throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    try manual.created()
    let next = Sample.offer(fragment: "ysXw")
    manual.send(.offer(next))
    try manual.respond(status)
    let methods = manual.requests.map(\.request.method)
    #expect(methods == (status == 404 ? [.POST, .PATCH, .POST] : [.POST, .PATCH, .DELETE, .POST]))
    #expect(manual.lastBody == next)
    try manual.created()
    #expect(manual.events.last == .message(.answer(Sample.answer()), from: manual.participant))
  }

  @Test("an offer of a new connection replaces the session")
  func newConnection() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    try manual.created()
    manual.send(.offer(Sample.offer(fragment: "othr", fingerprint: "00:11")))
    #expect(manual.requests.map(\.request.method) == [.POST, .DELETE, .POST])
  }

  @Test("the answer to an offer that was replaced meanwhile is not delivered")
  func replacedWhilePosting() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    manual.send(.offer(Sample.offer(fragment: "othr", fingerprint: "00:11")))
    try manual.created()
    #expect(manual.events == [])
    #expect(manual.requests.map(\.request.method) == [.POST, .DELETE, .POST])
  }

  @Test("leaving deletes the session")
  func leaving() throws {
    var manual = try ManualSession(token: "s3cret")
    manual.send(.offer(Sample.offer()))
    try manual.created()
    manual.perform(manual.session.leave())
    #expect(manual.last?.method == .DELETE)
    #expect(manual.last?.headers["Authorization"] == ["Bearer s3cret"])
    #expect(manual.last?.headers["If-Match"] == [])
    #expect(!manual.session.isFinished)
    try manual.respond(200)
    #expect(manual.session.isFinished)
  }

  @Test("leaving while the offer is on the way deletes the session that the response names")
  func leavingWhilePosting() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    manual.perform(manual.session.leave())
    #expect(!manual.session.isFinished)
    try manual.created()
    #expect(manual.last?.method == .DELETE)
    #expect(manual.events == [])
    try manual.respond(200)
    #expect(manual.session.isFinished)
  }

  @Test("an accepted offer without an answer is a refusal")
  func noAnswer() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    try manual.respond(201, ["Content-Type": "text/html", "Location": "/s"], body: "<html>")
    #expect(manual.last?.method == .DELETE)
    #expect(manual.events == [.closed(reason: "The WHIP server accepted the offer without an answer in SDP.")])
  }

  @Test("messages for another participant and responses to unknown requests are ignored")
  func ignored() throws {
    var manual = try ManualSession()
    manual.perform(manual.session.send(.offer(Sample.offer()), to: "stranger", now: manual.now))
    manual.respond(to: 99, 201, body: Sample.answer())
    manual.send(.answer("v=0\r\n"))
    #expect(manual.requests.isEmpty)
    #expect(manual.events.isEmpty)
  }

  @Test("random responses do no harm", arguments: 0..<300)
  func randomResponses(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var manual = try ManualSession(Bool.random(using: &generator) ? .publisher : .player, token: "s3cret")
    let statuses: [UInt] = [200, 201, 204, 307, 308, 400, 404, 405, 406, 412, 422, 429, 500, 503, 600, 999]
    let locations = ["/s", "s", "https://other.example/", "http://x", "//", "\\", "a b", "https://u:p@h/", ""]
    let fragments = ["a=ice-ufrag:289b\r\na=ice-pwd:0b66f472495ef0ccac7bda65\r\n", Sample.answer(), "", "x"]
    for step in 0..<40 {
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: manual.send(.offer(Sample.damaged(Sample.offer(fragment: "u\(step)abc"), using: &generator)))
      case 1: manual.send(.candidate(.init(candidate: Sample.damaged(Sample.candidate, using: &generator))))
      case 2: manual.send(.answer(Sample.answer()))
      case 3: if manual.session.deadline != nil { try manual.advance() }
      default:
        guard let number = manual.requests.randomElement(using: &generator)?.number else { continue }
        let text = fragments.randomElement(using: &generator) ?? ""
        manual.respond(
          to: number, statuses.randomElement(using: &generator) ?? 200,
          [
            "Location": locations.randomElement(using: &generator) ?? "", "ETag": "\"\(step)\"",
            "Content-Type": Bool.random(using: &generator) ? "application/sdp" : "application/trickle-ice-sdpfrag",
            "Retry-After": "99999999999999999999",
          ], body: Bool.random(using: &generator) ? text : Sample.damaged(text, using: &generator))
      }
      #expect(
        manual.requests.allSatisfy {
          $0.request.url.host == "whip.example" || $0.request.headers["Authorization"] == []
        })
    }
    manual.perform(manual.session.leave())
    for (number, _) in manual.requests { manual.respond(to: number, 200) }
    for (number, _) in manual.requests { manual.respond(to: number, 200) }
    #expect(manual.session.isFinished)
  }
}

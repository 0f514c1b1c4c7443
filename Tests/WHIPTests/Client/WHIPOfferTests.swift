import HTTPTransport
import Media
import NIOHTTP1
import Signalling
import Testing
import WHIP

@Suite("The offer of a session with a WHIP or WHEP server")
struct WHIPOfferTests {
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

  @Test(
    "a refusal of the offer is permanent", arguments: [400, 401, 403, 404, 405, 410, 413, 415, 422, 301, 302, 501, 505])
  func refused(status: UInt) throws {
    var manual = try ManualSession(token: "s3cret")
    manual.send(.offer(Sample.offer()))
    try manual.respond(status)
    guard case .rejected(let reason) = manual.events.last else {
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

  @Test("with the option, an offer follows redirects to other origins, with the token only at the same origin")
  func redirects() throws {
    var manual = try ManualSession(token: "s3cret", followsOtherOrigins: true)
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

  @Test("the answer to an offer that was replaced meanwhile is not delivered")
  func replacedWhilePosting() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    manual.send(.offer(Sample.offer(fragment: "othr", fingerprint: "00:11")))
    try manual.created()
    #expect(manual.events == [])
    #expect(manual.requests.map(\.request.method) == [.POST, .DELETE, .POST])
  }

  @Test("an accepted offer without an answer is a refusal")
  func noAnswer() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    try manual.respond(201, ["Content-Type": "text/html", "Location": "/s"], body: "<html>")
    #expect(manual.last?.method == .DELETE)
    #expect(manual.events == [.rejected(reason: "The WHIP server accepted the offer without an answer in SDP.")])
  }

  @Test(
    "an address without a room is rejected with one that has a room",
    arguments: [
      (404, "https://a.example", "https://a.example/whip/ROOM"),
      (405, "https://a.example/whip/", "https://a.example/whip/ROOM"),
      (405, "https://a.example/live/WHIP", "https://a.example/live/WHIP/ROOM"),
    ] as [(UInt, String, String)])
  func noRoom(status: UInt, url: String, example: String) throws {
    var manual = try ManualSession(url: url)
    manual.send(.offer(Sample.offer()))
    try manual.respond(status)
    let sentence = "The WHIP server responded \(status): the address names no room; it ends with one, as in \(example)."
    #expect(manual.events == [.rejected(reason: sentence)])
  }

  @Test("what the server says of an offer is quoted by its first line, as a part of the sentence")
  func problem() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    try manual.respond(406, ["Content-Type": "text/plain"], body: "No video, please.\r\nTry again.\n")
    #expect(
      manual.events == [.rejected(reason: "The WHIP server responded 406 to the offer: No video, please.")])
  }
}

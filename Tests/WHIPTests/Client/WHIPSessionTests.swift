import HTTPTransport
import Media
import NIOHTTP1
import Signalling
import TestSupport
import Testing
import WHIP

@Suite("An established session with a WHIP or WHEP server")
struct WHIPSessionTests {
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

  @Test(
    "an ICE restart is a PATCH for any entity tag, and its answer has the server's new credentials",
    arguments: [WHIPClient.Role.publisher, .player])
  func restart(role: WHIPClient.Role) throws {
    var manual = try ManualSession(role)
    manual.send(.offer(Sample.offer()))
    try manual.created()
    manual.send(.offer(Sample.offer(fragment: "ysXw")))
    #expect(manual.last?.method == .PATCH)
    #expect(manual.last?.headers["If-Match"] == ["*"])
    #expect(manual.last?.needsNewConnection == true, "The network may have changed.")
    #expect(manual.lastBody.hasPrefix("a=ice-options:trickle\r\na=ice-ufrag:ysXw\r\n"))
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
    let answer = Sample.answer(fingerprint: "00:11:22")
    try manual.created(answer: answer)
    #expect(manual.events.last == .message(.answer(answer), from: manual.participant))
  }

  /// The peer would go on with the association of the former session, which the server has ended.
  @Test("a new session of a server with one certificate for all sessions needs a new connection of the peer")
  func sameCertificate() throws {
    var manual = try ManualSession(.player)
    manual.send(.offer(Sample.offer()))
    try manual.created()
    manual.send(.offer(Sample.offer(fragment: "ysXw")))
    try manual.respond(404)
    try manual.created()
    #expect(manual.last?.method == .DELETE)
    #expect(manual.events.last == .participantLeft(manual.participant, isRejoinVerified: false))
    try manual.advance()
    #expect(manual.events.last == .participantJoined(manual.session.participant))
    manual.send(.offer(Sample.offer(fragment: "next", fingerprint: "00:11")))
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
    try manual.created()
    #expect(manual.events.last == .message(.answer(Sample.answer()), from: manual.participant))
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

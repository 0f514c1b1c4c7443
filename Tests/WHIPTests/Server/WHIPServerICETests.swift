import HTTPTransport
import NIOCore
import NIOHTTP1
import Signalling
import TestSupport
import Testing
import WHIP

@Suite("A WHIP server's requirements of RFC 9725 on trickled candidates and ICE restarts")
struct WHIPServerICETests {
  private static let fragment =
    "a=ice-ufrag:EsAw\r\na=ice-pwd:bP+XJMM09aR8AiX1jdukzR6Y\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\n"
    + "a=\(Sample.candidate)\r\na=end-of-candidates\r\n"
  private static let restart = "a=ice-ufrag:ysXw\r\na=ice-pwd:vw5LmwG4y/e6dPP/zAP9Gp5k\r\n"

  private func patch(
    _ manual: inout ManualServer, _ location: String, ifMatch: String?, type: String = ManualServer.fragment,
    body: String = fragment
  ) -> HTTPResponse? {
    var headers: HTTPHeaders = ["Content-Type": type]
    if let ifMatch { headers.add(name: "If-Match", value: ifMatch) }
    return manual.send(.PATCH, location, headers, body: body)
  }

  @Test("candidates with the current entity tag are answered with 204 without a body and an ETag (4.3.2)")
  func trickle() throws {
    var manual = ManualServer()
    let created = try manual.create()
    let tag = created.header("ETag")
    let patched = patch(&manual, created.header("Location"), ifMatch: tag)
    let response = try #require(patched)
    #expect(response.status == .noContent)
    #expect(response.body.readableBytes == 0)
    #expect(!response.headers.contains(name: "ETag"))
    let id = try #require(manual.session)
    #expect(
      manual.events.suffix(2) == [
        .candidate(id, TrickledCandidate(candidate: Sample.candidate, mid: "0")),
        .candidate(id, TrickledCandidate(candidate: "", mid: "0")),
      ])
    #expect(patch(&manual, created.header("Location"), ifMatch: "\"x\", \(tag)")?.status == .noContent)
    #expect(patch(&manual, created.header("Location"), ifMatch: "*")?.status == .noContent)
  }

  @Test("a PATCH without If-Match is refused with 428, and with another entity tag with 412 (4.3.2)")
  func preconditions() throws {
    var manual = ManualServer()
    let created = try manual.create()
    let count = manual.events.count
    #expect(patch(&manual, created.header("Location"), ifMatch: nil)?.status == .preconditionRequired)
    #expect(patch(&manual, created.header("Location"), ifMatch: "\"other\"")?.status == .preconditionFailed)
    #expect(
      patch(&manual, created.header("Location"), ifMatch: "W/\(created.header("ETag"))")?.status == .preconditionFailed)
    #expect(manual.events.count == count)
  }

  @Test("a PATCH of another type is refused with 415, and a malformed fragment with 400 (4.3.1)")
  func malformed() throws {
    var manual = ManualServer()
    let location = try manual.create().header("Location")
    #expect(patch(&manual, location, ifMatch: "*", type: "application/sdp")?.status == .unsupportedMediaType)
    for body in ["", "hello", "a=ice-ufrag:x\r\n", "a=mid:0\r\n"] {
      #expect(patch(&manual, location, ifMatch: "*", body: body)?.status == .badRequest)
    }
  }

  @Test(
    "an ICE restart is answered with 200, the ICE options, new credentials and a new ETag, which is the current one then (4.3.3)"
  )
  func restarted() throws {
    var manual = ManualServer()
    let created = try manual.create()
    let location = created.header("Location")
    #expect(patch(&manual, location, ifMatch: "*", body: Self.restart) == nil)
    let id = try #require(manual.session)
    guard case .restart(id, let offer) = manual.events.last else {
      Issue.record("\(manual.events)")
      return
    }
    #expect(ICERestart.isRestart(from: Sample.offer(), to: offer))
    let renewed = Sample.answer().replacing("38sd", with: "289b")
    let response = try manual.answer(renewed.replacing("a=setup", with: "a=ice-options:trickle\r\na=setup"))
    #expect(response.status == .ok)
    #expect(response.text.hasPrefix("a=ice-options:trickle\r\n"))
    #expect(try SDPFragment(parsing: response.text).options == "trickle")
    #expect(response.header("Content-Type") == ManualServer.fragment)
    #expect(try SDPFragment(parsing: response.text).credentials?.usernameFragment == "289b")
    #expect(response.header("ETag") != created.header("ETag") && !response.header("ETag").isEmpty)
    #expect(patch(&manual, location, ifMatch: created.header("ETag"))?.status == .preconditionFailed)
    let fragment = Self.fragment.replacing("EsAw", with: "ysXw")
      .replacing("bP+XJMM09aR8AiX1jdukzR6Y", with: "vw5LmwG4y/e6dPP/zAP9Gp5k")
    #expect(patch(&manual, location, ifMatch: response.header("ETag"), body: fragment)?.status == .noContent)
  }

  @Test(
    "an ICE restart that is refused or not answered keeps the session and its ICE session (4.3.3)",
    arguments: [true, false])
  func restartRefused(isRefused: Bool) throws {
    var manual = ManualServer()
    let created = try manual.create()
    let location = created.header("Location")
    #expect(patch(&manual, location, ifMatch: "*", body: Self.restart) == nil)
    let id = try #require(manual.session)
    if isRefused {
      manual.perform(manual.server.refused(id, reason: "No.", now: manual.now))
    } else {
      manual.now = try #require(manual.server.deadline)
      manual.perform(manual.server.timePassed(now: manual.now))
    }
    #expect(manual.responses[2]?.status == (isRefused ? .unprocessableEntity : .serviceUnavailable))
    #expect(patch(&manual, location, ifMatch: created.header("ETag"))?.status == .noContent)
    #expect(!manual.events.contains(.ended(id)))
  }

  @Test("an ICE restart needs If-Match: * and waits for no other one")
  func restartConditions() throws {
    var manual = ManualServer()
    let created = try manual.create()
    let location = created.header("Location")
    #expect(
      patch(&manual, location, ifMatch: created.header("ETag"), body: Self.restart)?.status == .unprocessableEntity)
    #expect(patch(&manual, location, ifMatch: "*", body: Self.restart) == nil)
    let other = Self.restart.replacing("ysXw", with: "othr")
    #expect(patch(&manual, location, ifMatch: "*", body: other)?.status == .conflict)
  }

  @Test("an ICE restart is answered with 404 if its session ends before", arguments: [true, false])
  func restartOfEndedSession(isDeleted: Bool) throws {
    var manual = ManualServer()
    let location = try manual.create().header("Location")
    #expect(patch(&manual, location, ifMatch: "*", body: Self.restart) == nil)
    let id = try #require(manual.session)
    if isDeleted {
      #expect(manual.send(.DELETE, location)?.status == .ok)
    } else {
      manual.perform(manual.server.ended(id))
    }
    #expect(manual.responses[2]?.status == .notFound)
    #expect(manual.server.sessionCount == 0)
  }

  @Test("candidates beyond the limit are ignored")
  func candidateLimit() throws {
    var manual = ManualServer { $0.maximumCandidates = 3 }
    let created = try manual.create()
    for _ in 0..<5 {
      #expect(patch(&manual, created.header("Location"), ifMatch: created.header("ETag"))?.status == .noContent)
    }
    #expect(manual.events.count == 1 + 3)
  }

  @Test("our client and our server understand each other: offer, candidates, restart and end")
  func clientAndServer() throws {
    var manual = ManualServer { $0.iceServers = [ICEServer(url: "stun:s.example")] }
    var client = try ManualSession(url: "http://server.example/whip/100")
    var carried = 0
    func carry() {
      while carried < client.requests.count {
        let (number, request) = client.requests[carried]
        carried += 1
        var response = manual.send(
          request.method, request.url.target, request.headers, body: request.body.map { String(buffer: $0) } ?? "")
        if response == nil { response = try? manual.answer() }
        if let response {
          client.respond(to: number, response.status.code, response.headers, body: response.text)
        }
      }
    }
    client.send(.offer(Sample.offer()))
    carry()
    #expect(client.events.last == .message(.answer(Sample.answer()), from: client.participant))
    client.send(.candidate(.init(candidate: "candidate:1 1 udp 1 10.0.0.1 5000 typ host", mid: "0")))
    try client.advance()
    carry()
    client.send(.offer(Sample.offer(fragment: "ysXw")))
    carry()
    client.perform(client.session.leave())
    carry()
    #expect(client.requests.map(\.request.method) == [.POST, .PATCH, .PATCH, .DELETE])
    #expect(manual.responses.keys.sorted().compactMap { manual.responses[$0]?.status.code } == [201, 204, 200, 200])
    #expect(client.session.isFinished)
    #expect(manual.server.sessionCount == 0)
    #expect(client.log == [])
  }

  @Test("random requests do no harm and leave no session behind", arguments: 0..<200)
  func randomRequests(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var manual = ManualServer { $0.maximumSessions = 8 }
    let location = try manual.create().header("Location")
    let methods: [HTTPMethod] = [.GET, .POST, .PATCH, .DELETE, .OPTIONS, .PUT, .RAW(value: "X")]
    for _ in 0..<60 {
      let targets = ["/whip/100", location, "/whep/100", Sample.damaged(location, using: &generator)]
      let bodies = [Sample.offer(), Self.fragment, Self.restart]
      let headers: HTTPHeaders = [
        "Content-Type": Bool.random(using: &generator) ? ManualServer.sdp : ManualServer.fragment,
        "If-Match": Bool.random(using: &generator) ? "*" : "\"x\"",
        "Authorization": Sample.damaged("Bearer x", using: &generator),
      ]
      manual.send(
        methods.randomElement(using: &generator) ?? .GET, targets.randomElement(using: &generator) ?? "/", headers,
        body: Sample.damaged(bodies.randomElement(using: &generator) ?? "", using: &generator))
      manual.now = manual.now + .milliseconds(Int64.random(in: 0...500, using: &generator))
      if Int.random(in: 0..<3, using: &generator) == 0, let id = manual.session {
        manual.perform(
          manual.server.answered(id, sdp: Sample.damaged(Sample.answer(), using: &generator), now: manual.now))
      }
      #expect(manual.server.sessionCount <= 8)
    }
    manual.now = manual.now + .seconds(60)
    manual.perform(manual.server.timePassed(now: manual.now))
    #expect(manual.server.deadline == nil)
  }
}

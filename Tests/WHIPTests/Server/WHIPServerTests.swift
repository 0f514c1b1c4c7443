import HTTPTransport
import Media
import NIOCore
import NIOHTTP1
import Signalling
import TestSupport
import Testing
import WHIP

@Suite("A WHIP server's requirements of RFC 9725")
struct WHIPServerTests {
  @Test("a POST with an offer is answered with 201, the answer, its type, the session's Location and an ETag (4.2)")
  func created() throws {
    var manual = ManualServer()
    let response = try manual.create()
    #expect(response.status == .created)
    #expect(response.header("Content-Type") == "application/sdp")
    #expect(response.text == Sample.answer())
    #expect(response.header("Location").hasPrefix("/whip/100/sessions/"))
    #expect(response.header("ETag").hasPrefix("\"") && response.header("ETag").hasSuffix("\""))
    #expect(response.header("Accept-Patch") == ManualServer.fragment)
    let id = try #require(manual.session)
    #expect(manual.events == [.offer(id, .publisher, sdp: Sample.offer(), room: "100", name: nil)])
  }

  @Test("a client is told the ICE servers in Link headers of the 201 response (4.6)")
  func links() throws {
    let servers = [
      ICEServer(url: "stun:stun.example"), ICEServer(url: "turn:t?transport=udp", username: "a\"b", credential: "c\\d"),
    ]
    var manual = ManualServer { $0.iceServers = servers }
    #expect(WebLink.iceServers(in: try manual.create().headers) == servers)
    let options = try manual.fetch(.OPTIONS, "/whip/100")
    #expect(WebLink.iceServers(in: options.headers) == servers)
    let preflight = try manual.fetch(.OPTIONS, "/whip/100", ["Access-Control-Request-Method": "POST"])
    #expect(WebLink.iceServers(in: preflight.headers) == [])
  }

  @Test("a room and a name are percent-decoded, and the Location has the room encoded")
  func roomAndName() throws {
    var manual = ManualServer()
    manual.send(
      .POST, "/whip/a%2Fb%20%C3%BC?x=1&name=Ann+B%26c", ["Content-Type": ManualServer.sdp], body: Sample.offer())
    let location = try manual.answer().header("Location")
    #expect(location.hasPrefix("/whip/a%2Fb%20%C3%BC/sessions/"))
    guard case .offer(_, _, _, "a/b ü", "Ann B&c") = manual.events.first else {
      Issue.record("\(manual.events)")
      return
    }
    #expect(manual.send(.DELETE, location)?.status == .ok)
  }

  @Test("a player can ask for those whom it can choose, with the token that a session needs")
  func participants() throws {
    var manual = try ManualServer { $0.tokens = TokenList([try BearerToken("s3cret")]) }
    #expect(try manual.fetch(.GET, "/whep/a%2Fb/participants").status == .unauthorized)
    let list = try manual.fetch(.GET, "/whep/a%2Fb/participants", ["Authorization": "Bearer s3cret"])
    #expect(list.status == .ok && list.header("Content-Type") == "application/json")
    #expect(list.text == #"{"participants":[{"id":"0f3a","name":"a/b\"é"},{"id":"77"}]}"#)
    #expect(try manual.fetch(.POST, "/whep/1/participants").status == .methodNotAllowed)
    #expect(try manual.fetch(.OPTIONS, "/whep/1/participants").status == .ok)
    for path in ["/whip/1/participants", "/whep/1/sessions", "/whep/1/participants/2"] {
      #expect(try manual.fetch(.GET, path).status == .notFound, "\(path)")
    }
  }

  @Test("a DELETE of the Location ends the session, with any entity tag (4.2, 4.3.1)")
  func delete() throws {
    var manual = ManualServer()
    let location = try manual.create().header("Location")
    #expect(manual.send(.DELETE, location, ["If-Match": "\"other\""])?.status == .ok)
    #expect(manual.events.last == .ended(try #require(manual.session)))
    #expect(manual.server.sessionCount == 0)
    #expect(manual.send(.DELETE, location)?.status == .notFound)
  }

  @Test(
    "an endpoint responds 405 to methods other than OPTIONS, GET, HEAD and POST",
    arguments: [HTTPMethod.PUT, .PATCH, .DELETE, .TRACE])
  func endpointMethods(method: HTTPMethod) throws {
    var manual = ManualServer()
    let response = try manual.fetch(method, "/whip/100")
    #expect(response.status == .methodNotAllowed)
    #expect(response.header("Allow") == "OPTIONS, GET, HEAD, POST")
  }

  @Test(
    "a session responds 405 to methods other than OPTIONS, GET, HEAD, PATCH and DELETE",
    arguments: [HTTPMethod.PUT, .POST])
  func sessionMethods(method: HTTPMethod) throws {
    var manual = ManualServer()
    let location = try manual.create().header("Location")
    let response = try manual.fetch(method, location)
    #expect(response.status == .methodNotAllowed)
    #expect(response.header("Allow") == "OPTIONS, GET, HEAD, PATCH, DELETE")
  }

  @Test("GET and HEAD are answered with a 2xx response without content (4.1)", arguments: [HTTPMethod.GET, .HEAD])
  func get(method: HTTPMethod) throws {
    var manual = ManualServer()
    let location = try manual.create().header("Location")
    for target in ["/whip/100", location] {
      let response = try manual.fetch(method, target)
      #expect(response.status == .noContent)
      #expect(response.body.readableBytes == 0)
    }
  }

  @Test("OPTIONS is answered with 200, the CORS headers and Accept-Post, without a token (4.2)")
  func options() throws {
    var manual = try ManualServer { $0.tokens = TokenList([try BearerToken("right")]) }
    let response = try manual.fetch(
      .OPTIONS, "/whip/100", ["Origin": "https://a", "Access-Control-Request-Method": "POST"])
    #expect(response.status == .ok)
    #expect(response.header("Accept-Post") == "application/sdp")
    #expect(response.header("Access-Control-Allow-Origin") == "*")
    #expect(response.header("Access-Control-Allow-Methods").contains("PATCH"))
    #expect(response.header("Access-Control-Allow-Headers").contains("Authorization"))
    #expect(response.header("Access-Control-Expose-Headers").contains("Location"))
  }

  @Test("an offer of another type is refused with 415", arguments: ["text/plain", "application/json", ""])
  func offerType(type: String) {
    var manual = ManualServer()
    let headers: HTTPHeaders = type.isEmpty ? [:] : ["Content-Type": type]
    #expect(manual.send(.POST, "/whip/100", headers, body: Sample.offer())?.status == .unsupportedMediaType)
  }

  @Test("a type with a parameter or in capitals is accepted")
  func offerTypeVariants() {
    var manual = ManualServer()
    #expect(manual.send(.POST, "/whip/100", ["Content-Type": "Application/SDP; x=y"], body: Sample.offer()) == nil)
  }

  @Test("a malformed offer is refused with 400", arguments: ["", "v=0", "hello", "v=0\r\nm=audio 9 RTP 0\r\n"])
  func malformedOffer(text: String) {
    var manual = ManualServer()
    #expect(manual.send(.POST, "/whip/100", ["Content-Type": ManualServer.sdp], body: text)?.status == .badRequest)
    #expect(manual.events.isEmpty)
  }

  @Test(
    "an offer with several tracks of a kind, several streams, no bundle, no rtcp-mux, a wrong role or direction is 422 (4.4)",
    arguments: [
      Sample.offer(mids: ["0", "1", "2"]), Sample.offer().replacing("a=msid:- track1", with: "a=msid:other track1"),
      Sample.offer().replacing("a=group:BUNDLE 0 1", with: "a=group:BUNDLE 0"),
      Sample.offer().replacing("a=rtcp-mux\r\n", with: "").replacing("a=rtcp-mux-only\r\n", with: ""),
      Sample.offer(setup: "holdconn"), Sample.offer(direction: "recvonly"), Sample.offer(direction: "inactive"),
      Sample.offer().replacing("m=video", with: "m=text"),
    ])
  func notAllowed(sdp: String) {
    var manual = ManualServer()
    let response = manual.send(.POST, "/whip/100", ["Content-Type": ManualServer.sdp], body: sdp)
    #expect(response?.status == .unprocessableEntity)
    #expect(response?.text.hasSuffix(".\n") == true)
  }

  @Test("an offer with a definite setup role is accepted (4.4.4)", arguments: ["active", "passive"])
  func definiteRole(setup: String) {
    var manual = ManualServer()
    #expect(
      manual.send(.POST, "/whip/1", ["Content-Type": ManualServer.sdp], body: Sample.offer(setup: setup)) == nil)
  }

  @Test("a slash at the end of an endpoint or a session changes nothing")
  func slashAtTheEnd() throws {
    var manual = ManualServer()
    manual.send(.POST, "/whip/100/?name=Ann", ["Content-Type": ManualServer.sdp], body: Sample.offer())
    guard case .offer(_, .publisher, _, "100", "Ann") = manual.events.first else {
      Issue.record("\(manual.events)")
      return
    }
    let location = try manual.answer().header("Location")
    #expect(manual.send(.DELETE, location + "/")?.status == .ok)
    for target in ["/whip/", "/whip//", "/whip/100//", "/whip/100/sessions/"] {
      #expect(!WHIPServer.handles(target))
    }
  }

  // MARK: Answers that reject media (4.4.3)

  private static let noVP8 = RejectedSection(
    index: 1, kind: "video", reason: .noSupportedCodec, offered: ["H264"], supported: ["VP8"])
  private static let data = RejectedSection(index: 2, kind: "application", reason: .unusableDataChannels)

  @Test("a publisher one of whose tracks cannot be taken is refused with 422, in a sentence with the codecs")
  func partialPublisher() throws {
    var manual = ManualServer()
    manual.send(.POST, "/whip/1", ["Content-Type": ManualServer.sdp], body: Sample.offer())
    let response = try manual.answer(rejected: [Self.noVP8])
    #expect(response.status == .unprocessableEntity)
    #expect(
      response.text == "We refused the video of section 1: only H264 is offered, but we support VP8.\n")
    #expect(manual.events.last == .ended(try #require(manual.session)))
    #expect(manual.server.sessionCount == 0)
  }

  @Test("a player one of whose tracks cannot be sent gets the others, and a Warning that says so")
  func partialPlayer() throws {
    var manual = ManualServer()
    manual.send(.POST, "/whep/1", ["Content-Type": ManualServer.sdp], body: Sample.offer(direction: "recvonly"))
    let response = try manual.answer(rejected: [Self.noVP8])
    #expect(response.status == .created)
    #expect(
      response.headers["Warning"] == [
        "199 chatbot \"We refused the video of section 1: only H264 is offered, but we support VP8.\""
      ])
    #expect(response.header("Access-Control-Expose-Headers").contains("Warning"))
  }

  @Test("a rejected section without audio or video does not refuse a publisher, but is named in a Warning")
  func rejectedData() throws {
    var manual = ManualServer()
    manual.send(.POST, "/whip/1", ["Content-Type": ManualServer.sdp], body: Sample.offer())
    let response = try manual.answer(rejected: [Self.data])
    #expect(response.status == .created)
    #expect(response.headers["Warning"].count == 1)
    #expect(response.header("Warning").contains("data channels"))
  }

  @Test("what an offer names cannot end the quotes of a Warning")
  func quotedWarning() throws {
    var manual = ManualServer()
    manual.send(.POST, "/whep/1", ["Content-Type": ManualServer.sdp], body: Sample.offer(direction: "recvonly"))
    let odd = RejectedSection(
      index: 1, kind: "video", reason: .noSupportedCodec, offered: ["a\"b\\"], supported: ["VP8"])
    #expect(try manual.answer(rejected: [odd]).header("Warning").contains(#"a\"b\\"#))
  }

  @Test("a player's offer at the WHEP endpoint must not be sendonly")
  func whep() throws {
    var manual = ManualServer()
    let headers: HTTPHeaders = ["Content-Type": ManualServer.sdp]
    #expect(manual.send(.POST, "/whep/100", headers, body: Sample.offer())?.status == .unprocessableEntity)
    #expect(manual.send(.POST, "/whep/100", headers, body: Sample.offer(direction: "recvonly")) == nil)
    #expect(try manual.answer().header("Location").hasPrefix("/whep/100/sessions/"))
  }

  @Test("a body of more than 64 KiB is refused with 413")
  func tooLarge() {
    var manual = ManualServer()
    let body = Sample.offer() + String(repeating: "a=x\r\n", count: 14_000)
    #expect(manual.send(.POST, "/whip/1", ["Content-Type": ManualServer.sdp], body: body)?.status == .payloadTooLarge)
  }

  @Test("a peer that refuses the offer makes 422, and one that is silent makes 503 with Retry-After")
  func noAnswer() throws {
    var manual = ManualServer()
    manual.send(.POST, "/whip/1", ["Content-Type": ManualServer.sdp], body: Sample.offer())
    let first = try #require(manual.session)
    manual.perform(manual.server.refused(first, reason: "No codec fits.", now: manual.now))
    #expect(manual.responses[1]?.status == .unprocessableEntity)
    #expect(manual.events.last == .ended(first))
    manual.send(.POST, "/whip/1", ["Content-Type": ManualServer.sdp], body: Sample.offer())
    manual.now = try #require(manual.server.deadline)
    manual.perform(manual.server.timePassed(now: manual.now))
    #expect(manual.responses[2]?.status == .serviceUnavailable)
    #expect(manual.responses[2]?.header("Retry-After") == "2")
    #expect(manual.server.sessionCount == 0)
    #expect(manual.server.deadline == nil)
  }

  @Test("a client that goes away before the answer ends its session")
  func abandoned() throws {
    var manual = ManualServer()
    manual.send(.POST, "/whip/1", ["Content-Type": ManualServer.sdp], body: Sample.offer())
    manual.perform(manual.server.abandoned(request: 1))
    let id = try #require(manual.session)
    #expect(manual.events.last == .ended(id))
    manual.perform(manual.server.answered(id, sdp: Sample.answer(), now: manual.now))
    #expect(manual.responses.isEmpty)
  }

  // MARK: Authorization (4.7)

  @Test(
    "a request without the right token is refused with 401 and WWW-Authenticate",
    arguments: ["", "Bearer wrong", "Bearer righ", "Bearer rightt", "Basic right", "right", "Bearer", "Bearer  "])
  func unauthorized(header: String) throws {
    var manual = try ManualServer { $0.tokens = TokenList([try BearerToken("right")]) }
    var headers: HTTPHeaders = ["Content-Type": ManualServer.sdp]
    if !header.isEmpty { headers.add(name: "Authorization", value: header) }
    let response = try manual.fetch(.POST, "/whip/1", headers, body: Sample.offer())
    #expect(response.status == .unauthorized)
    #expect(response.header("WWW-Authenticate").hasPrefix("Bearer realm=\"whip\""))
    #expect(manual.events.isEmpty)
  }

  @Test("a session accepts only the token that created it")
  func tokenOfTheSession() throws {
    var manual = try ManualServer { $0.tokens = TokenList([try BearerToken("one"), try BearerToken("two")]) }
    let location = try manual.create(token: "two").header("Location")
    #expect(manual.send(.DELETE, location)?.status == .unauthorized)
    #expect(manual.send(.DELETE, location, ["Authorization": "Bearer one"])?.status == .forbidden)
    #expect(manual.send(.DELETE, location, ["authorization": "bearer two"])?.status == .ok)
  }

  @Test("a page of an origin that is not allowed is refused with 403")
  func origin() {
    var manual = ManualServer { $0.allowedOrigins = ["https://good.example"] }
    let headers: HTTPHeaders = ["Content-Type": ManualServer.sdp, "Origin": "https://evil.example"]
    #expect(manual.send(.POST, "/whip/1", headers, body: Sample.offer())?.status == .forbidden)
    #expect(
      manual.send(
        .POST, "/whip/1", ["Content-Type": ManualServer.sdp, "Origin": "https://good.example"], body: Sample.offer())
        == nil)
  }

  // MARK: Limits

  @Test("a full server responds 503, and an address with too many sessions 429, both with Retry-After")
  func limits() throws {
    var manual = ManualServer {
      $0.maximumSessions = 3
      $0.maximumSessionsPerAddress = 2
    }
    let headers: HTTPHeaders = ["Content-Type": ManualServer.sdp]
    for _ in 0..<2 { #expect(manual.send(.POST, "/whip/1", headers, body: Sample.offer(), address: "a") == nil) }
    let third = try manual.fetch(.POST, "/whip/1", headers, body: Sample.offer(), address: "a")
    #expect(third.status == .tooManyRequests && third.header("Retry-After") == "2")
    #expect(manual.send(.POST, "/whip/1", headers, body: Sample.offer(), address: "b") == nil)
    let fifth = try manual.fetch(.POST, "/whip/1", headers, body: Sample.offer(), address: "b")
    #expect(fifth.status == .serviceUnavailable && fifth.header("Retry-After") == "2")
  }

  @Test("new sessions and requests are limited to a rate (5)")
  func rates() {
    var manual = ManualServer {
      $0.sessionBurst = 2
      $0.requestBurst = 5
    }
    let headers: HTTPHeaders = ["Content-Type": ManualServer.sdp]
    let statuses = (0..<6).map { _ in manual.send(.POST, "/whip/1", headers, body: Sample.offer())?.status }
    #expect(statuses.map { $0 == nil } == [true, true, false, false, false, false])
    #expect(statuses[5] == .tooManyRequests)
    manual.now = manual.now + .seconds(1)
    #expect(manual.send(.POST, "/whip/1", headers, body: Sample.offer()) == nil)
  }

  @Test("an address that exceeds its rates takes nothing from the others, and this machine has only the common limits")
  func ratesOfAnAddress() {
    var manual = ManualServer {
      $0.sessionBurst = 4
      $0.sessionBurstPerAddress = 2
      $0.requestBurstPerAddress = 5
      $0.maximumSessionsPerAddress = 3
    }
    let headers: HTTPHeaders = ["Content-Type": ManualServer.sdp]
    func post(_ address: String) -> HTTPResponseStatus? {
      manual.send(.POST, "/whip/1", headers, body: Sample.offer(), address: address)?.status
    }
    #expect((0..<4).map { _ in post("a") } == [nil, nil, .tooManyRequests, .tooManyRequests])
    #expect(manual.send(.GET, "/whip/1", address: "a")?.status == .noContent)
    #expect(manual.send(.GET, "/whip/1", address: "a")?.status == .tooManyRequests)
    #expect(post("b") == nil)
    #expect(post("") == nil)
    #expect(post("") == .tooManyRequests)
    manual.now = manual.now + .seconds(1)
    #expect((0..<3).map { _ in post("") } == [nil, nil, nil])
  }

  @Test("the rates of very many addresses are not kept")
  func manyAddresses() {
    var manual = ManualServer {
      $0.requestBurst = 100_000
      $0.requestBurstPerAddress = 1
    }
    for number in 0...5_000 { #expect(manual.send(.GET, "/whip/1", address: "\(number)")?.status == .noContent) }
    #expect(manual.send(.GET, "/whip/1", address: "5000")?.status == .tooManyRequests)
  }

  @Test("a body and headers that would take long to compare are refused with 400")
  func combiningMarks() {
    var manual = ManualServer()
    let marks = String(repeating: "\u{301}\u{323}", count: 17)
    let headers: HTTPHeaders = ["Content-Type": ManualServer.sdp]
    #expect(manual.send(.POST, "/whip/1", headers, body: Sample.offer() + "a=\(marks)\r\n")?.status == .badRequest)
    #expect(manual.send(.POST, "/whip/1", headers, body: Sample.offer() + "a=ü\r\n") == nil)
    for name in ["Authorization", "Content-Type", "If-Match"] {
      #expect(manual.send(.POST, "/whip/1", [name: marks], body: Sample.offer())?.status == .badRequest)
    }
  }

  @Test("a second publisher of a room is refused with 409 if only one is allowed")
  func conflict() throws {
    var manual = ManualServer { $0.allowsSeveralPublishers = false }
    _ = try manual.create()
    let headers: HTTPHeaders = ["Content-Type": ManualServer.sdp]
    #expect(manual.send(.POST, "/whip/100", headers, body: Sample.offer())?.status == .conflict)
    #expect(manual.send(.POST, "/whip/101", headers, body: Sample.offer()) == nil)
  }

  @Test(
    "other paths are 404",
    arguments: [
      "/", "/whip", "/whip/", "/whip/a/b", "/whip/a/sessions", "/whip/a/sessions/", "/other/a", "whip/a", "/whip/%zz",
      "/whip/%ff", "/whip/%00", "/whip/a%0Ab",
      "/whip/" + String(repeating: "x", count: 129), "/whip/a/sessions/unknown", "*", "",
    ])
  func notFound(target: String) {
    var manual = ManualServer()
    #expect(manual.send(.DELETE, target)?.status == .notFound)
  }
}

import HTTPTransport
import NIOHTTP1
import Signalling
import Testing
import WHIP

@Suite("A server that leads a client elsewhere")
struct OtherOriginTests {
  @Test(
    "a redirect to another origin is not followed without the option, and the reason names it",
    arguments: [
      "http://127.0.0.1:8080/admin", "https://127.0.0.1/admin", "https://other.example/", "https://whip.example:8443/",
      "https://whip.example.other.example/", "//other.example/live",
    ], [307, 308] as [UInt])
  func redirect(location: String, status: UInt) throws {
    var manual = try ManualSession(token: "s3cret")
    manual.send(.offer(Sample.offer()))
    try manual.respond(status, ["Location": location])
    #expect(manual.requests.count == 1)
    #expect(manual.session.isFinished)
    guard case .rejected(let reason) = manual.events.last else {
      Issue.record("\(manual.events)")
      return
    }
    #expect(reason.contains("--allow-redirects") || location.hasPrefix("http:"))
  }

  @Test("a redirect within the origin, and to the same host over TLS, is followed without the option")
  func sameOrigin() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    try manual.respond(307, ["Location": "https://WHIP.example:443/other"])
    #expect(manual.last?.url.target == "/other")
    #expect(manual.last?.method == .POST)
    var plain = try ManualSession(url: "http://whip.example/live")
    plain.send(.offer(Sample.offer()))
    try plain.respond(308, ["Location": "https://whip.example/live"])
    #expect(plain.last?.url.description == "https://whip.example/live")
    try plain.created()
    plain.perform(plain.session.leave())
    #expect(plain.last?.url.description == "https://whip.example/sessions/7")
    #expect(plain.last?.method == .DELETE)
  }

  @Test("a session at another origin is not requested: no candidate, no restart and no DELETE goes there")
  func resource() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    try manual.respond(
      201, ["Content-Type": "application/sdp", "Location": "https://other.example/containers/important?force=1"],
      body: Sample.answer())
    #expect(manual.events.last == .message(.answer(Sample.answer()), from: manual.participant))
    #expect(manual.log.contains { $0.contains("another origin") && $0.contains("--allow-redirects") })
    manual.send(.candidate(.init(candidate: "candidate:1 1 udp 1 10.0.0.1 5000 typ host", mid: "0")))
    if manual.session.deadline != nil { try manual.advance() }
    manual.perform(manual.session.leave())
    #expect(manual.requests.map(\.request.method) == [.POST])
    #expect(manual.session.isFinished)
  }

  @Test(
    "with the option, what a server names is requested only in its own network or a wider one",
    arguments: [NetworkScope.loopback, .local, .everywhere])
  func scope(scope: NetworkScope) throws {
    var manual = try ManualSession(followsOtherOrigins: true)
    manual.send(.offer(Sample.offer()))
    // The user has named the endpoint itself.
    #expect(manual.last?.narrowestScope == .loopback)
    try manual.respond(307, ["Location": "https://edge.example/live"], from: scope)
    #expect(manual.last?.narrowestScope == scope)
    try manual.respond(
      201, ["Content-Type": "application/sdp", "Location": "https://other.example/s/1"], body: Sample.answer(),
      from: scope)
    manual.perform(manual.session.leave())
    #expect(manual.last?.url.description == "https://other.example/s/1")
    #expect(manual.last?.narrowestScope == scope)
  }

  @Test("a resource of the same origin is requested only where the server was: its name may resolve elsewhere later")
  func rebinding() throws {
    var manual = try ManualSession(url: "http://whip.example/live")
    manual.send(.offer(Sample.offer()))
    try manual.created(from: .everywhere)
    manual.send(.candidate(.init(candidate: "candidate:1 1 udp 1 10.0.0.1 5000 typ host", mid: "0")))
    try manual.advance()
    #expect(manual.last?.method == .PATCH && manual.last?.narrowestScope == .everywhere)
    manual.send(.offer(Sample.offer(fragment: "ysXw")))
    #expect(manual.last?.method == .PATCH && manual.last?.narrowestScope == .everywhere)
    manual.perform(manual.session.leave())
    #expect(manual.last?.method == .DELETE && manual.last?.narrowestScope == .everywhere)
  }

  @Test("an address that is not permitted ends the session instead of being tried again")
  func notPermitted() throws {
    var manual = try ManualSession(followsOtherOrigins: true)
    manual.send(.offer(Sample.offer()))
    try manual.respond(307, ["Location": "https://edge.example/live"])
    try manual.fail(.notPermitted(try HTTPURL("https://edge.example/live"), reason: "its address is in this machine"))
    #expect(manual.session.isFinished)
  }

  @Test("ICE servers of Link headers are used only in the network of the server that names them, or a wider one")
  func iceServers() throws {
    var manual = try ManualSession()
    manual.send(.offer(Sample.offer()))
    try manual.created(
      ["Link": "<turn:127.0.0.1:3478>; rel=\"ice-server\"; username=u; credential=c"], from: .everywhere)
    let servers = manual.events.compactMap { event -> [ICEServer]? in
      if case .iceServers(let servers) = event { servers } else { nil }
    }
    #expect(servers.flatMap(\.self).map(\.narrowestScope) == [.everywhere])
  }
}

import HTTPTransport
import Media
import NIOCore
import NIOHTTP1
import Signalling
import TestSupport
import Testing

@testable import WHIP

@Suite("WHIP: texts that nobody should send")
struct HostileTextsTests {
  /// One character of 60,000 bytes, which takes more than half a second to compare.
  private static let marks = "e" + String(repeating: "\u{0301}\u{0316}", count: 15_000)

  @Test("a long run of combining marks costs no time", arguments: ["", "v=0", "m=", "a=mid:", "a=fingerprint:"])
  func combiningMarks(prefix: String) {
    let text = prefix + Self.marks
    let taken = ProcessorTime.least(within: .milliseconds(50)) {
      #expect(throws: SDPFragment.ParseError.notASCII(limit: 64)) { try SDPFragment(parsing: text) }
      #expect(throws: OfferRequirements.Problem.notADescription) {
        try OfferRequirements.check(Sample.offer() + text, of: .publisher)
      }
      #expect(!HTTPResponse(status: .created, body: ByteBuffer(string: "v=0\r\n" + text)).hasSessionDescription)
      #expect(WebLink.parse("<stun:a>; rel=ice-server; x=" + String(Self.marks.unicodeScalars.prefix(64))) == [])
    }
    #expect(taken < .milliseconds(50))
  }

  @Test("a header outside ASCII is rejected", arguments: ["Origin", "Authorization", "Content-Type", "If-Match"])
  func header(name: String) {
    var server = WHIPServer()
    let request = WHIPServer.Request(.POST, "/whip/1", headers: [name: "é"], address: "192.0.2.9")
    let outcomes = server.received(request, number: 1, now: .uptimeNanoseconds(0))
    guard case .respond(1, let response)? = outcomes.first else { return #expect(Bool(false)) }
    #expect(response.status == .badRequest)
    #expect(response.text == "The \(name) header is not ASCII.\n")
    #expect(WHIPPath(target: "/whip/é") == nil)
  }

  @Test("the sentence about an offer is short and has no control characters")
  func sentences() {
    let kind = "\u{1B}[31m" + String(repeating: "x", count: 1_000)
    for line in ["m=\(kind) 9 x", "m=audio 9 x\r\na=rtcp-mux\r\na=setup:\(kind)"] {
      let offer = "v=0\r\na=ice-ufrag:a\r\na=ice-pwd:b\r\na=fingerprint:x\r\n" + line
      do throws(OfferRequirements.Problem) {
        try OfferRequirements.check(offer, of: .publisher)
        Issue.record("\(line) is accepted")
      } catch {
        #expect(error.description.utf8.count < 200)
        #expect(error.description.contains(#"\u{1b}[31m"#))
      }
    }
  }

  @Test("a media line without a kind is no line, because it could not be written")
  func emptyMediaLine() {
    let text = "a=ice-ufrag:a\r\na=ice-pwd:b\r\nm=audio 9 x\r\na=mid:0\r\nm=\r\na=mid:1\r\n"
    #expect(throws: SDPFragment.ParseError.notALine(number: 5)) { try SDPFragment(parsing: text) }
  }

  @Test("an ICE restart cannot multiply the size of an offer")
  func growingOffer() throws {
    var server = WHIPServer(generator: SeededGenerator(seed: 1))
    let now = NIODeadline.uptimeNanoseconds(0)
    let offer = Sample.offer() + String(repeating: "a=ice-ufrag:x\r\n", count: 4_000)
    let post = WHIPServer.Request(
      .POST, "/whip/1", headers: ["Content-Type": "application/sdp"], body: ByteBuffer(string: offer), address: "a")
    guard case .event(.offer(let id, _, _, _, _))? = server.received(post, number: 1, now: now).first else {
      return #expect(Bool(false))
    }
    _ = server.answered(id, sdp: Sample.answer(), now: now)
    let fragment = SDPFragment(
      credentials: .init(usernameFragment: String(repeating: "u", count: 256), password: "password"))
    let patch = WHIPServer.Request(
      .PATCH, "/whip/1/sessions/\(id.text)", headers: ["Content-Type": SDPFragment.mediaType, "If-Match": "*"],
      body: ByteBuffer(string: fragment.text), address: "a")
    guard case .respond(2, let response)? = server.received(patch, number: 2, now: now).first else {
      return #expect(Bool(false))
    }
    #expect(response.status == .unprocessableEntity)
  }

  @Test("an offer for a session that the server has ended is discarded, because its participant has left")
  func offerAfterTheEnd() throws {
    let endpoint = try HTTPURL("https://example.org/whip/1")
    var session = WHIPSession(
      .publisher, endpoint: endpoint, options: .init(), generator: SeededGenerator(seed: 1))
    let now = MonotonicInstant.now
    let id = session.participant.id
    _ = session.send(.offer(Sample.offer()), to: id, now: now)
    let created = HTTPResponse(
      status: .created, headers: ["Location": "/s/1", "Content-Type": "application/sdp"],
      body: ByteBuffer(string: Sample.answer()))
    _ = session.responded(to: 1, .success(created), now: now)
    _ = session.send(.candidate(TrickledCandidate(candidate: "candidate:x")), to: id, now: now)
    _ = session.timePassed(now: now + .seconds(1))
    _ = session.responded(to: 2, .success(HTTPResponse(status: .notFound)), now: now)
    let actions = session.send(.offer(Sample.offer(fragment: "next")), to: id, now: now)
    guard case .log? = actions.first, actions.count == 1 else { return #expect(Bool(false), "\(actions)") }
  }
}

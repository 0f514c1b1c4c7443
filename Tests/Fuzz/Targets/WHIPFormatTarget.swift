import HTTPTransport
import Media
import NIOCore
import NIOHTTP1
import Signalling

@testable import WHIP

/// The texts of WHIP and WHEP: fragments and outlines of descriptions, links, paths, tokens.
enum WHIPFormatTarget {
  static func run(_ input: [UInt8]) throws(InvariantViolation) {
    let text = String(decoding: input, as: UTF8.self)
    try fragment(text)
    // Longer runs are rejected before a text is treated as a description.
    if !text.utf8.hasRunOutsideASCII(over: SDPOutline.maximumRunOutsideASCII) { try restart(text) }
    try links(text)
    try path(text)
    for role in [WHIPClient.Role.publisher, .player] {
      do throws(OfferRequirements.Problem) { try OfferRequirements.check(text, of: role) } catch {
        try sentence(error.description)
      }
    }
    try token(text)
    try require(TokenList([.known]).match(text) != .open, "A list with a token is open.")
  }

  private static func token(_ text: String) throws(InvariantViolation) {
    let token: BearerToken
    do throws(BearerToken.ParseError) { token = try BearerToken(text) } catch { return try sentence(error.description) }
    try require("\(token)" == "(a bearer token)", "A token describes itself.")
    try require(TokenList([token]).match(token.headerValue) == .token(0), "A token does not match itself.")
  }

  private static let before =
    "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\na=ice-ufrag:old\r\na=ice-pwd:old\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\n"

  private static func fragment(_ text: String) throws(InvariantViolation) {
    let fragment: SDPFragment
    do throws(SDPFragment.ParseError) { fragment = try SDPFragment(parsing: text) } catch {
      return try sentence(error.description)
    }
    try require((try? SDPFragment(parsing: fragment.text)) == fragment, "A fragment does not round-trip.")
    try require(
      fragment.trickled.count <= 2 * SDPFragment.maximumCandidates + text.utf8.count / 2, "Too many candidates.")
    guard let credentials = fragment.credentials else { return }
    guard let answer = ICERestart.answer(from: before, fragment: fragment) else {
      throw InvariantViolation("A fragment with credentials does not restart ICE.")
    }
    let outline = SDPOutline(answer)
    try require(outline.credentials == credentials, "The answer to a restart has other credentials.")
    try require(outline.sections.count == 1, "The answer to a restart has \(outline.sections.count) sections.")
    let candidates = fragment.sections.flatMap(\.candidates)
    try require(outline.sections.flatMap(\.candidates).map(String.init) == candidates, "A candidate is lost.")
  }

  /// Reads the text as a description that is restarted.
  private static func restart(_ text: String) throws(InvariantViolation) {
    try require(ICERestart.isRepetition(of: text, by: text), "A description does not repeat itself.")
    try require(!ICERestart.isRestart(from: text, to: text), "A description restarts itself.")
    guard let own = SDPFragment(restartingWith: text) else { return }
    let other = SDPFragment(credentials: .init(usernameFragment: "new-fragment", password: "new-password"))
    guard own.credentials != other.credentials, let answer = ICERestart.answer(from: text, fragment: other) else {
      return
    }
    try require(SDPOutline(answer).credentials == other.credentials, "A restarted description has other credentials.")
    try require(ICERestart.isRestart(from: text, to: answer), "A restarted description is not a restart.")
    let more = SDPFragment(adding: [TrickledCandidate(candidate: "candidate:1"), .init(candidate: text)], to: text)
    if let more {
      try require(more.sections.flatMap(\.candidates).count <= 2, "A description is added as several candidates.")
    }
  }

  private static func links(_ text: String) throws(InvariantViolation) {
    let links = WebLink.parse(text)
    try require(links.count <= WebLink.maximumCount, "A header has \(links.count) links.")
    for server in links.compactMap(\.iceServer) {
      try require(server.url.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "The URL of a server is not ASCII.")
      guard let username = server.username, let credential = server.credential,
        (username + credential).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), text.utf8.count < 2_048
      else { continue }
      // What our own server says of it is read as the same.
      var options = WHIPServer.Options()
      options.iceServers = [server]
      var server = WHIPServer(options: options, generator: FixedGenerator(seed: 1))
      let outcomes = server.received(.init(.OPTIONS, "/whip/1", address: "a"), number: 1, now: .uptimeNanoseconds(0))
      guard case .respond(_, let response)? = outcomes.first else { continue }
      try headers(response.headers.map { ($0.name, $0.value) })
      try require(WebLink.iceServers(in: response.headers) == options.iceServers, "A link does not round-trip.")
    }
  }

  private static func path(_ text: String) throws(InvariantViolation) {
    guard case .session(let role, let room, let id)? = WHIPPath(target: text) else { return }
    let again = WHIPPath(target: WHIPPath.sessionPath(role, room: room, id: id))
    // The id is one of ours only if it needs no encoding.
    try require(again == .session(role, room: room, id: id), "The path of a session does not round-trip.")
  }
}

extension BearerToken {
  /// A token for tests.
  static let known = {
    guard let token = try? BearerToken("known-7f3a91c2d4") else { preconditionFailure("This is a token.") }
    return token
  }()
}

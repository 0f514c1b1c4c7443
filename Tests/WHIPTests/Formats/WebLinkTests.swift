import NIOHTTP1
import Signalling
import TestSupport
import Testing
import WHIP

@Suite("Links to ICE servers")
struct WebLinkTests {
  @Test("the ICE servers of the example in RFC 9725 are read")
  func example() {
    var headers = HTTPHeaders()
    headers.add(name: "Link", value: "<stun:stun.example.net>; rel=\"ice-server\"")
    headers.add(
      name: "Link",
      value: "<turn:turn.example.net?transport=udp>; rel=\"ice-server\"; username=\"user\"; credential=\"myPassword\"; "
        + "credential-type=\"password\"")
    #expect(
      WebLink.iceServers(in: headers) == [
        ICEServer(url: "stun:stun.example.net"),
        ICEServer(url: "turn:turn.example.net?transport=udp", username: "user", credential: "myPassword"),
      ])
  }

  @Test("several links in one field, quoted commas and escaped quotes are read")
  func severalInOneField() {
    let links = WebLink.parse(
      #"<stun:a>;rel=ice-server , <turn:b>; REL="foo ice-server"; username="a,b\"c" ;credential=QUJD== ,<x:y>;z"#)
    #expect(links.map(\.target) == ["stun:a", "turn:b", "x:y"])
    #expect(links.compactMap(\.iceServer).map(\.username) == [nil, "a,b\"c"])
    #expect(links.compactMap(\.iceServer).map(\.credential) == [nil, "QUJD=="])
    #expect(links[2].parameters == ["z": ""])
  }

  @Test(
    "links with another relation, scheme or kind of credential are no ICE servers",
    arguments: [
      "<https://a/sse>; rel=\"urn:ietf:params:whip:ext:example\"", "<https://a>; rel=ice-server", "<stun:a>",
      "<turn:a>; rel=ice-server; credential-type=oauth", "<turn:a b>; rel=ice-server", "<turn:a; rel=ice-server", "<",
      ">", "", "rel=ice-server", "<turn:a\u{0}>; rel=ice-server", ";;;,,,<>\"",
    ])
  func others(field: String) {
    #expect(WebLink.parse(field).compactMap(\.iceServer) == [])
  }

  @Test("the number of links and their size are limited")
  func limits() {
    let field = String(repeating: "<stun:a>;rel=ice-server,", count: 300)
    #expect(WebLink.parse(field).count == 64)
    #expect(WebLink.iceServers(in: ["Link": field]).count == 16)
    #expect(WebLink.parse(String(repeating: "<stun:a>;rel=ice-server,", count: 400)).isEmpty)
  }

  @Test("damaged fields do no harm", arguments: 0..<200)
  func damaged(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let field = #"<turn:b?transport=udp>; rel="ice-server"; username="a,b\"c"; credential=QUJD==, <stun:a>;rel=x"#
    for link in WebLink.parse(Sample.damaged(field, using: &generator)) { _ = link.iceServer }
  }
}

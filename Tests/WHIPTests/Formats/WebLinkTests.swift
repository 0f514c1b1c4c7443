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

  @Test(
    "fields that are full of one character cost no more than others, and 64 of 8 kB are read in a moment",
    arguments: ["=", "a=", ";a==", "<>;a=b==", "\"", "<", ";", ",", "a"])
  func costly(filling: String) {
    var headers = HTTPHeaders()
    let filled = "<turn:a>;rel=ice-server;credential=a" + String(repeating: filling, count: 8_100 / filling.utf8.count)
    for _ in 0..<64 { headers.add(name: "Link", value: filled + ";") }
    let took = ProcessorTime.measure {
      for link in WebLink.parse(filled + ";") { _ = link.iceServer }
      _ = WebLink.iceServers(in: headers)
    }
    // Generous: it takes some milliseconds, and reading each character again for each one before took half a minute.
    #expect(took < .seconds(2))
  }

  @Test("fields beyond 32 KiB in a response, links beyond 64 and parameters beyond 16 are ignored")
  func responseLimits() {
    var headers = HTTPHeaders()
    for _ in 0..<4 { headers.add(name: "Link", value: "<x:" + String(repeating: "a", count: 8_180) + ">") }
    headers.add(name: "Link", value: "<stun:a>;rel=ice-server")
    #expect(WebLink.iceServers(in: headers) == [ICEServer(url: "stun:a")])
    headers.replaceOrAdd(name: "Link", value: "<x:a>")
    for _ in 0..<5 { headers.add(name: "Link", value: "<x:" + String(repeating: "a", count: 8_180) + ">") }
    headers.add(name: "Link", value: "<stun:a>;rel=ice-server")
    #expect(WebLink.iceServers(in: headers) == [])
    #expect(
      WebLink.iceServers(in: ["Link": String(repeating: "<x:a>,", count: 63) + "<stun:a>;rel=ice-server"]).count == 1)
    var many = HTTPHeaders()
    for _ in 0..<8 { many.add(name: "Link", value: String(repeating: "<x:a>,", count: 8)) }
    many.add(name: "Link", value: "<stun:a>;rel=ice-server")
    #expect(WebLink.iceServers(in: many) == [])
    let parameters = (0..<40).map { ";p\($0)=1" }.joined()
    #expect(WebLink.parse("<stun:a>" + parameters).first?.parameters.count == 16)
  }

  @Test("damaged fields do no harm", arguments: 0..<200)
  func damaged(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let field = #"<turn:b?transport=udp>; rel="ice-server"; username="a,b\"c"; credential=QUJD==, <stun:a>;rel=x"#
    for link in WebLink.parse(Sample.damaged(field, using: &generator)) { _ = link.iceServer }
  }
}

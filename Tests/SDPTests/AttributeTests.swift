import SDP
import Testing

@Suite("Attributes")
struct AttributeTests {
  @Test("a fingerprint is parsed in either case and written in capitals")
  func fingerprint() throws {
    let digest = (0..<32).map { UInt8($0 * 8) }
    let hexadecimal = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    let fingerprint = try #require(Fingerprint(parsing: "SHA-256 \(hexadecimal)"))
    #expect(fingerprint == Fingerprint(algorithm: "sha-256", digest: digest))
    #expect(fingerprint.text == "sha-256 \(hexadecimal.uppercased())")
    #expect(Fingerprint(parsing: fingerprint.text) == fingerprint)
  }

  @Test(
    "a malformed fingerprint is rejected",
    arguments: [
      "", "sha-256", "sha-256 ", "sha-256 AB:CD", "md5 A", "md5 ABC", "md5 AB:", "md5 GG", "md5 é", "md5 A:B", "a b c",
    ])
  func malformedFingerprint(text: String) {
    #expect(Fingerprint(parsing: text) == nil)
  }

  @Test("a fingerprint of an unknown hash is kept")
  func unknownHash() {
    #expect(Fingerprint(parsing: "md5 AB:01")?.digest == [0xAB, 0x01])
  }

  @Test(
    "a header extension is written back unchanged",
    arguments: [
      "4 urn:ietf:params:rtp-hdrext:sdes:mid", "2/recvonly urn:ietf:params:rtp-hdrext:csrc-audio-level",
      "4096 urn:x long attributes",
    ])
  func extensionMap(text: String) throws {
    #expect(try #require(HeaderExtensionMap(parsing: text)).text == text)
  }

  @Test(
    "a malformed header extension is rejected",
    arguments: ["", "4", "x urn:y", "4/up urn:y", "-1 urn:y", "70000 urn:y"])
  func malformedExtensionMap(text: String) {
    #expect(HeaderExtensionMap(parsing: text) == nil)
  }

  @Test(
    "a source attribute is written back unchanged",
    arguments: ["1 cname:a", "4294967295 msid:stream track", "5 x", "6 previous-ssrc:"])
  func source(text: String) throws {
    #expect(try #require(SourceAttribute(parsing: text)).text == text)
  }

  @Test("a malformed source attribute is rejected", arguments: ["", "1", "1 ", "x cname:a", "4294967296 cname:a"])
  func malformedSource(text: String) {
    #expect(SourceAttribute(parsing: text) == nil)
  }

  @Test("a source group is written back unchanged")
  func sourceGroup() throws {
    let group = try #require(SourceGroup(parsing: "FID 1 2"))
    #expect(group.semantics == "FID" && group.sources == [1, 2] && group.text == "FID 1 2")
    #expect(SourceGroup(parsing: "FID 1 x") == nil)
    #expect(SourceGroup(parsing: "") == nil)
  }

  @Test("the restrictions of a stream are written back unchanged")
  func restrictionIdentifier() throws {
    let stream = try #require(RestrictionIdentifier(parsing: "hi send pt=96,97;max-width=1280"))
    #expect(stream.id == "hi" && stream.direction == .send && stream.payloadTypes == [96, 97])
    #expect(stream.text == "hi send pt=96,97;max-width=1280")
    #expect(try #require(RestrictionIdentifier(parsing: "l recv")).payloadTypes == nil)
    for malformed in ["", "l", "l both", "a/b send", "é send"] {
      #expect(RestrictionIdentifier(parsing: malformed) == nil)
    }
  }

  @Test("alternatives and paused streams of a simulcast are parsed")
  func simulcast() throws {
    let simulcast = try #require(SimulcastDescription(parsing: "send l,~k;~h recv 1"))
    #expect(simulcast.sent == [["l", "k"], ["h"]])
    #expect(simulcast.received == [["1"]])
    #expect(simulcast.text == "send l,k;h recv 1")
    for malformed in ["", "send", "send a send b", "up a", "send a recv"] {
      #expect(SimulcastDescription(parsing: malformed) == nil)
    }
  }

  @Test("a direction seen from the other side is reversed")
  func direction() {
    #expect(MediaDirection.allCases.map(\.reversed) == [.sendAndReceive, .receiveOnly, .sendOnly, .inactive])
    #expect(MediaDirection.allCases.map(\.reversed.reversed) == MediaDirection.allCases)
  }

  @Test("an origin needs user, session, version and address")
  func origin() {
    #expect(Origin(parsing: "- 1 2") == nil)
    #expect(Origin(parsing: "a 1 2 IN IP6 ::1")?.address == "IN IP6 ::1")
  }

  @Test("an attribute that is not ASCII counts as absent and is kept, and a media line that is not ASCII is refused")
  func outsideASCII() throws {
    let text =
      "v=0\r\no=Zoë 1 2 IN IP4 x\r\ns=Zoë\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n" + "a=mid:é\r\na=é:1\r\na=mid:0\r\n"
    let description = try SessionDescription(parsing: text)
    #expect(description.sections.first?.attributes("mid") == ["0"])
    #expect(description.sections.first?.hasAttribute("é") == false)
    #expect(description.origin?.sessionID == "1")
    #expect(description.text.utf8.elementsEqual(text.utf8))
    #expect(throws: SessionDescription.ParseError.badMediaLine(number: 2)) {
      try SessionDescription(parsing: "v=0\r\nm=audïo 9 UDP/TLS/RTP/SAVPF 111\r\n")
    }
  }
}

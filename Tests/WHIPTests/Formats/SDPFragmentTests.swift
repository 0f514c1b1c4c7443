import Signalling
import TestSupport
import Testing
import WHIP

@Suite("SDP fragments")
struct SDPFragmentTests {
  /// The example of RFC 9725, 4.3.2.
  static let example = [
    "a=ice-ufrag:EsAw", "a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1", "m=audio 9 RTP/AVP 0", "a=mid:0",
    "a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0 ufrag EsAw network-id 1",
    "a=candidate:473322822 1 tcp 1518280447 192.0.2.1 9 typ host tcptype active generation 0 ufrag EsAw network-id 1",
    "a=end-of-candidates",
  ].map { $0 + "\r\n" }.joined()

  @Test("a fragment that was read is written with the same bytes")
  func roundTrip() throws {
    let fragment = try SDPFragment(parsing: Self.example)
    #expect(fragment.text == Self.example)
    #expect(fragment.credentials == ICECredentials(usernameFragment: "EsAw", password: "P2uYro0UCOQ4zxjKXaWCBui1"))
    #expect(fragment.trickled.map(\.mid) == ["0", "0", "0"])
    #expect(fragment.trickled.last?.candidate == "")
  }

  @Test("lines may end with LF, and unknown lines are ignored")
  func tolerance() throws {
    let fragment = try SDPFragment(parsing: "a=ice-lite\na=ice-ufrag:u\na=ice-pwd:p\na=unknown\nb=AS:1\n")
    #expect(fragment == SDPFragment(credentials: ICECredentials(usernameFragment: "u", password: "p")))
  }

  @Test("candidates before the first media section are read")
  func candidatesOfTheSession() throws {
    let fragment = try SDPFragment(parsing: "a=candidate:1 1 udp 1 10.0.0.1 5000 typ host\r\n")
    #expect(fragment.trickled.map(\.candidate) == ["candidate:1 1 udp 1 10.0.0.1 5000 typ host"])
  }

  @Test(
    "a malformed fragment is rejected with the reason",
    arguments: [
      ("hello\r\n", SDPFragment.ParseError.notALine(number: 1)),
      ("a=mid:0\r\nx\r\n", .notALine(number: 2)),
      ("a=ice-ufrag:abcd\r\n", .invalidCredentials),
      ("a=ice-ufrag:ab cd\r\na=ice-pwd:x\r\n", .invalidCredentials),
      ("a=mid:0\r\n", .empty),
      ("", .empty),
      (String(repeating: "a=x\r\n", count: 20_000), .tooLarge(limit: 65_536)),
      (String(repeating: "a=candidate:1\r\n", count: 257), .tooManyCandidates(limit: 256)),
    ])
  func rejected(text: String, reason: SDPFragment.ParseError) {
    #expect(throws: reason) { try SDPFragment(parsing: text) }
  }

  @Test("a fragment that adds candidates has the credentials and the first mid of the offer")
  func adding() throws {
    let host = "candidate:1 1 udp 1 10.0.0.1 5000 typ host"
    let fragment = try #require(
      SDPFragment(
        adding: [
          .init(candidate: host, mid: "1"), .init(candidate: host, mid: "1"), .init(candidate: Sample.candidate),
          .init(candidate: "candidate:2\r\na=evil"), .init(candidate: ""),
        ], to: Sample.offer()))
    #expect(
      fragment.text
        == "a=ice-ufrag:EsAw\r\na=ice-pwd:bP+XJMM09aR8AiX1jdukzR6Y\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\na=\(host)\r\n"
        + "a=end-of-candidates\r\n")
    #expect(SDPFragment(adding: [.init(candidate: Sample.candidate)], to: Sample.offer()) == nil)
    #expect(SDPFragment(adding: [.init(candidate: host)], to: "v=0\r\n") == nil)
  }

  @Test("damaged fragments do no harm", arguments: 0..<200)
  func damaged(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let text = Sample.damaged(Self.example, using: &generator)
    guard let fragment = try? SDPFragment(parsing: text) else { return }
    _ = fragment.text
    _ = fragment.trickled
    if let answer = ICERestart.answer(from: Sample.damaged(Sample.answer(), using: &generator), fragment: fragment) {
      #expect(!answer.isEmpty)
    }
  }
}

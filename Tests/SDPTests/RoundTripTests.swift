import Foundation
import SDP
import TestSupport
import Testing

@Suite("Writing of parsed descriptions")
struct RoundTripTests {
  static let fixtures = [
    "chromium156_answer_to_chatbot", "chromium156_answer_to_firefox", "chromium156_offer",
    "chromium156_offer_recvonly_nopermission", "chromium156_offer_simulcast", "firefox153_answer_to_aiortc",
    "firefox153_answer_to_chatbot", "firefox153_answer_to_chromium", "firefox153_offer", "firefox153_offer_max_bundle",
    "firefox153_offer_simulcast", "plan_b_offer",
  ]

  @Test("a real description is written back byte for byte", arguments: fixtures)
  func realDescription(name: String) throws {
    let text = try Fixture.text("\(name).sdp", in: .module)
    let description = try SessionDescription(parsing: text)
    #expect(Array(description.text.utf8) == Array(text.utf8))
    #expect(!description.sections.isEmpty)
  }

  @Test("a description with bare line feeds keeps them", arguments: fixtures)
  func lineFeeds(name: String) throws {
    let text = try Fixture.text("\(name).sdp", in: .module).replacingOccurrences(of: "\r\n", with: "\n")
    #expect(Array(try SessionDescription(parsing: text).text.utf8) == Array(text.utf8))
  }

  @Test(
    "an unusual description is written back byte for byte",
    arguments: [
      "v=0", "v=0\r\n", "v=0\n\r\ns=-\r\n\n", "v=0\r\na=\r\na=:\r\na=x:\r\na=x\r\n", "v=0\r\r\n",
      "v=0\r\nm=audio  9/2 RTP/SAVPF   0 \r\na=mid: 0\r\n", "v=0\r\nm=audio 09 X 0",
      "v=0\r\ns=\u{301}\r\na=\u{301}:\u{301}\r\n",
    ])
  func anomaly(text: String) throws {
    #expect(Array(try SessionDescription(parsing: text).text.utf8) == Array(text.utf8))
  }

  @Test("a changed description differs in the changed lines only")
  func changedLines() throws {
    let text = try Fixture.text("chromium156_offer.sdp", in: .module)
    var description = try SessionDescription(parsing: text)
    description.sections[1].mediaLine = MediaLine(
      kind: "video", port: 0, transportProtocol: "UDP/TLS/RTP/SAVPF", formats: ["96"])
    description.sections[2].append("end-of-candidates")
    let before = text.components(separatedBy: "\r\n")
    let after = description.text.components(separatedBy: "\r\n")
    #expect(after.count == before.count + 1)
    #expect(Set(after).subtracting(before) == ["m=video 0 UDP/TLS/RTP/SAVPF 96", "a=end-of-candidates"])
  }
}

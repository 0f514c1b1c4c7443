import Foundation
import Media
import PeerEngine
import SDP
import Testing

/// Bundles whose transport is described in one section only (RFC 9143, 7; RFC 8829, 5.2.1).
@Suite("The tagged section of a bundle")
struct TaggedSectionTests {
  /// The prefixes of a section's transport lines.
  private static let transportLines = [
    "a=ice-ufrag:", "a=ice-pwd:", "a=ice-options:", "a=fingerprint:", "a=setup:", "a=rtcp-mux\r", "a=candidate:",
  ]

  /// Returns the description with transport lines only in the first section.
  private static func tagged(_ text: String) -> String {
    var isTagged = true
    var sections = 0
    return text.components(separatedBy: "\n").filter { line in
      if line.hasPrefix("m=") {
        sections += 1
        isTagged = sections == 1
      }
      return isTagged || !transportLines.contains { (line + (line.hasSuffix("\r") ? "" : "\r")).hasPrefix($0) }
    }.joined(separator: "\n")
  }

  @Test(
    "rtcp-mux and the transport of the first section apply to all sections of the bundle",
    arguments: ["chromium156_offer", "firefox153_offer"])
  func onlyInTheFirst(name: String) throws {
    let offer = Self.tagged(try recorded(name))
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: offer)
    #expect(session.media.map(\.kind) == [.audio, .video])
    let media = answer.sections.filter { $0.mediaLine.kind != "application" }
    #expect(media.count == 2 && media.allSatisfy { $0.mediaLine.port != 0 && $0.hasAttribute("rtcp-mux") })
  }

  @Test("a data channel section may come first and be the only one that describes the transport")
  func dataChannelFirst() throws {
    let offer = """
      v=0\r
      o=- 1 1 IN IP4 0.0.0.0\r
      s=-\r
      t=0 0\r
      a=group:BUNDLE data video\r
      m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r
      a=mid:data\r
      a=ice-ufrag:abcd\r
      a=ice-pwd:abcdefghijklmnopqrstuv\r
      a=fingerprint:sha-256 \(Array(repeating: "AB", count: 32).joined(separator: ":"))\r
      a=setup:active\r
      a=candidate:1 1 udp 2130706431 192.0.2.9 5000 typ host\r
      a=rtcp-mux\r
      m=video 9 UDP/TLS/RTP/SAVPF 96\r
      a=mid:video\r
      a=sendrecv\r
      a=rtpmap:96 VP8/90000\r

      """
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: offer)
    #expect(session.media.map(\.kind) == [.video])
    #expect(session.remoteUsernameFragment == "abcd" && session.dtlsRole == .server)
    #expect(session.remoteCandidates == ["candidate:1 1 udp 2130706431 192.0.2.9 5000 typ host"])
    #expect(answer.bundles == [["video"]])
    #expect(answer.sections[0].mediaLine.port == 0)
  }

  @Test("rtcp-mux of a bundle does not apply to a section outside it")
  func outside() throws {
    let offer = """
      v=0\r
      a=group:BUNDLE 0\r
      m=audio 9 UDP/TLS/RTP/SAVPF 111\r
      a=mid:0\r
      a=ice-ufrag:abcd\r
      a=ice-pwd:abcdefghijklmnopqrstuv\r
      a=fingerprint:sha-256 \(Array(repeating: "AB", count: 32).joined(separator: ":"))\r
      a=setup:actpass\r
      a=rtcp-mux\r
      a=rtpmap:111 opus/48000/2\r
      m=video 9 UDP/TLS/RTP/SAVPF 96\r
      a=mid:1\r
      a=rtpmap:96 VP8/90000\r

      """
    var negotiator = Negotiator.seeded()
    let (_, session) = try negotiator.answer(to: offer)
    #expect(session.media.map(\.kind) == [.audio])
  }

  @Test("an answer that copies our session id is accepted")
  func copiedSessionID() throws {
    var negotiator = Negotiator.seeded()
    let offer = try SessionDescription(parsing: negotiator.createOffer())
    let ours = try #require(offer.origin)
    // GStreamer 1.22 does this.
    let answer =
      try recorded("chromium156_answer_to_chatbot").split(separator: "\r\n").map { line in
        line.hasPrefix("o=") ? "o=\(ours.text)" : String(line)
      }.joined(separator: "\r\n") + "\r\n"
    #expect(try negotiator.receivedAnswer(answer)?.media.count == 2)
  }
}

import Media
import PeerEngine
import SDP
import Testing

@Suite("Descriptions that cannot be used")
struct NegotiationErrorTests {
  /// Changes of a valid offer, each with the sentence of the error that it must cause.
  static let cases: [(change: @Sendable (String) throws -> String, sentence: String)] = [
    ({ _ in "" }, "The SDP is empty."),
    ({ _ in "{\"sdp\":1}" }, "This is not an SDP: its first line is not \"v=0\"."),
    (
      { $0 + "a=" + String(repeating: "x", count: 262_144) },
      "The SDP has 267878 bytes, but at most 262144 are read."
    ),
    (
      { try $0.without("a=fingerprint") },
      "The SDP has no a=fingerprint line, so the other side's certificate could not be checked."
    ),
    (
      { try $0.changing("sha-256 A6", to: "md5 A6") },
      "The SDP's fingerprint (md5 A6:3C:E2:D2:70:7) cannot be checked; only SHA-1 and SHA-2 are supported."
    ),
    (
      { try $0.without("a=ice-ufrag") },
      "The SDP has no a=ice-ufrag or no a=ice-pwd line, so no connection can be made."
    ),
    ({ try $0.without("a=ice-pwd") }, "The SDP has no a=ice-ufrag or no a=ice-pwd line, so no connection can be made."),
    (
      { try $0.changing("a=ice-ufrag:p/CY", to: "a=ice-ufrag:p/C") },
      "The SDP's ice-ufrag has 3 characters and its ice-pwd 24; 4 to 256 and 22 to 256 are allowed."
    ),
    (
      { try $0.changing("a=ice-pwd:oSW", to: "a=ice-pwd:") },
      "The SDP's ice-ufrag has 4 characters and its ice-pwd 21; 4 to 256 and 22 to 256 are allowed."
    ),
    ({ String($0[..<($0.firstRange(of: "m=")?.lowerBound ?? $0.endIndex)]) }, "The SDP has no media section."),
    (
      { try $0.without("a=rtcp-mux") },
      """
      The SDP has no media that can be used: section 0: no rtcp-mux; section 1: no rtcp-mux; \
      section 2: data channels are not used here.
      """
    ),
    (
      {
        try $0.changing("opus/", to: "opium/").changing("G722/", to: "G729/").changing("PCM", to: "LPC").changing(
          "VP8/", to: "VP7/"
        ).changing("H264/", to: "H263/").changing("VP9/", to: "VP10/").changing(
          "AV1/", to: "AV0/")
      },
      """
      The SDP has no media that can be used: section 0: only opium, G729, LPCU and LPCA are offered, but we support \
      opus, G722, PCMU and PCMA; section 1: only VP7, H263, AV0 and VP10 are offered, but we support VP8, H264, \
      VP9, AV1 and H265; \
      section 2: data channels are not used here.
      """
    ),
    (
      { try $0.changing("audio 9", to: "audio 0").changing("UDP/TLS/RTP/SAVPF 96", to: "RTP/AVP 96") },
      """
      The SDP has no media that can be used: section 0: refused by the other side; \
      section 1: protocol "RTP/AVP" is not supported; we support UDP/TLS/RTP/SAVPF; section 2: data channels are not used here.
      """
    ),
  ]

  @Test("an unusable offer throws an error with a clear sentence and changes nothing", arguments: cases.indices)
  func offer(index: Int) throws {
    let (change, sentence) = Self.cases[index]
    let offer = try change(try recorded("chromium156_offer"))
    for isLater in [false, true] {
      var negotiator = Negotiator.seeded()
      if isLater { _ = try negotiator.answer(to: try recorded("firefox153_offer")) }
      var untouched = negotiator
      let error = #expect(throws: NegotiationError.self) { try negotiator.receivedOffer(offer) }
      #expect(error?.description == sentence)
      #expect(negotiator.session == untouched.session)
      #expect(negotiator.createOffer() == untouched.createOffer())
    }
  }

  @Test("an unusable answer throws an error with a clear sentence, and the right answer is still awaited")
  func answer() throws {
    let good = try recorded("chromium156_answer_to_chatbot")
    let cases = [
      ("nonsense", "This is not an SDP: its first line is not \"v=0\"."),
      (
        try good.without("a=fingerprint"),
        "The SDP has no a=fingerprint line, so the other side's certificate could not be checked."
      ),
      (
        try good.without("a=ice-ufrag"),
        "The SDP has no a=ice-ufrag or no a=ice-pwd line, so no connection can be made."
      ),
      (good + "m=audio 0 RTP/SAVPF 0\r\n", "The answer has 3 media sections, but the offer had 2."),
      (
        try good.changing("m=video", to: "m=audio"),
        "Section 1 of the answer is audio with mid \"1\", but video with mid \"1\" was offered."
      ),
      (
        try good.changing("a=mid:0", to: "a=mid:5"),
        "Section 0 of the answer is audio with mid \"5\", but audio with mid \"0\" was offered."
      ),
      (
        try good.changing("m=audio 9", to: "m=audio 0").changing("m=video 9", to: "m=video 0"),
        """
        The SDP has no media that can be used: section 0: refused by the other side; section 1: refused by the other side.
        """
      ),
    ]
    for (answer, sentence) in cases {
      var negotiator = Negotiator.seeded()
      _ = negotiator.createOffer()
      let error = #expect(throws: NegotiationError.self) { try negotiator.receivedAnswer(answer) }
      #expect(error?.description == sentence)
      #expect(negotiator.isAwaitingAnswer && negotiator.session == nil)
      #expect(try negotiator.receivedAnswer(good) != nil)
    }
  }

  @Test("a SHA-1 fingerprint is used only if there is no stronger one")
  func weakFingerprint() throws {
    let weak = "a=fingerprint:sha-1 " + Array(repeating: "AB", count: 20).joined(separator: ":") + "\r\n"
    let offer = try recorded("firefox153_offer")
    var negotiator = Negotiator.seeded()
    let (_, both) = try negotiator.answer(to: try offer.changing("a=group", to: "\(weak)a=group"))
    #expect(both.remoteFingerprints.map(\.algorithm) == ["sha-256"])
    let (_, alone) = try negotiator.answer(
      to: try offer.without("a=fingerprint").changing("a=group", to: "\(weak)a=group"))
    #expect(alone.remoteFingerprints.map(\.algorithm) == ["sha-1"])
  }
}

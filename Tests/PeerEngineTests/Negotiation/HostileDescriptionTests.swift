import Media
import PeerEngine
import SDP
import TestSupport
import Testing

/// Descriptions that are built to be expensive: slow to parse, or answered with more text than they contain.
@Suite("Hostile descriptions")
struct HostileDescriptionTests {
  /// The CPU time within which any description must be answered or refused.
  private static let limit = Duration.milliseconds(50)

  /// The lines of a video section that is accepted, with simulcast extensions.
  private static let video = """
    m=video 9 UDP/TLS/RTP/SAVPF 96 97\r
    a=mid:1\r
    a=ice-ufrag:abcd\r
    a=ice-pwd:abcdefghijklmnopqrstuv\r
    a=fingerprint:sha-256 \(Array(repeating: "AB", count: 32).joined(separator: ":"))\r
    a=setup:actpass\r
    a=rtcp-mux\r
    a=rtpmap:96 VP8/90000\r
    a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r

    """

  private static func repeated(_ lines: String, to bytes: Int) -> String {
    String(repeating: lines, count: bytes / lines.utf8.count)
  }

  private static let payloadTypes = (0..<2_000).map { "\($0 % 128)" }.joined(separator: ",")

  private static let attacks: [(name: String, sdp: String)] = [
    (
      "payload types of rids, for thousands of simulcast alternatives",
      video + (0..<26).map { "a=rid:r\($0) send pt=\(payloadTypes)\r\n" }.joined()
        + "a=simulcast:send \((0..<4_000).map { "r\($0 % 26)" }.joined(separator: ","))\r\n"
    ),
    (
      "rids of all sections",
      (0..<64).map { _ in
        video + (0..<40).map { "a=rid:r\($0) send max-width=1\r\n" }.joined()
          + "a=simulcast:send \((0..<60).map { "r\($0 % 40)" }.joined(separator: ";"))\r\n"
      }.joined()
    ),
    ("thousands of rids", video + repeated("a=rid:h send max-width=1\r\n", to: 250_000)),
    ("thousands of candidates", video + repeated("a=candidate:1 1 udp 1 192.0.2.1 5000 typ host\r\n", to: 250_000)),
    (
      "thousands of sections",
      repeated("m=video 9 RTP/SAVPF 96\r\na=rtcp-mux\r\na=rtpmap:96 VP8/90000\r\n", to: 250_000)
    ),
    ("a long line", "\(video)a=x:\(String(repeating: "x", count: 250_000))\r\n"),
    ("thousands of formats", "m=video 9 RTP/SAVPF\(String(repeating: " 96", count: 2_700))\r\n"),
    ("thousands of feedback lines for all payload types", video + repeated("a=rtcp-fb:* x\r\n", to: 250_000)),
    ("thousands of feedback lines", video + repeated("a=rtcp-fb:96 nack\r\n", to: 250_000)),
    ("long format parameters", video + repeated("a=fmtp:96 \(String(repeating: "a;", count: 4_000))\r\n", to: 250_000)),
    ("thousands of lines of one source", video + repeated("a=ssrc:1 cname:x\r\n", to: 250_000)),
    ("thousands of sources", video + (0..<12_000).map { "a=ssrc:\($0) cname:x\r\n" }.joined()),
    ("thousands of source groups", video + repeated("a=ssrc-group:FID 1 2\r\n", to: 250_000)),
    ("thousands of extensions", video + repeated("a=extmap:9 urn:x\r\n", to: 250_000)),
    (
      "large bundles",
      repeated("a=group:BUNDLE \((0..<2_000).map { "\($0)" }.joined(separator: " "))\r\n", to: 200_000) + video
    ),
    ("thousands of fingerprints", video + repeated("a=fingerprint:sha-256 AB:CD\r\n", to: 250_000)),
    (
      "attribute names of combining marks in non-canonical order",
      video
        + repeated(
          "a=\(String(repeating: "\u{301}", count: 2_000))\(String(repeating: "\u{316}", count: 2_000))\r\n",
          to: 250_000)
    ),
    ("thousands of blank lines", video + repeated("\r\n", to: 250_000)),
    ("thousands of short lines", video + repeated("a=x\n", to: 250_000)),
  ]

  @Test(
    "a hostile description is answered or refused within 50 ms, as an offer and as an answer",
    arguments: attacks.map(\.name))
  func time(name: String) throws {
    let sdp = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\n" + (try #require(Self.attacks.first { $0.name == name }).sdp)
    #expect(sdp.utf8.count < 262_144)
    var problems: [String] = []
    let took = [
      ProcessorTime.least(within: Self.limit) {
        var answering = Negotiator.seeded()
        do { _ = try answering.receivedOffer(sdp) } catch { problems.append("\(error)") }
      },
      ProcessorTime.least(within: Self.limit) {
        var offering = Negotiator.seeded(2)
        _ = offering.createOffer()
        do { _ = try offering.receivedAnswer(sdp) } catch { problems.append("\(error)") }
      },
    ]
    print("measured: hostile SDP of \(sdp.utf8.count) bytes, \(name): \(took[0]) and \(took[1])")
    #expect(took.allSatisfy { $0 < Self.limit })
    #expect(problems.allSatisfy { $0.utf8.count < 300 })
  }

  @Test("a random description takes at most 50 ms, whatever its size")
  func random() throws {
    var generator = SeededGenerator(seed: 11)
    let pieces = try ["chromium156_offer_simulcast", "firefox153_offer", "chromium156_offer"].flatMap { name in
      try recorded(name).split(separator: "\r\n").map(String.init)
    }
    var longest = Duration.zero
    for round in 0..<60 {
      var sdp = "v=0\r\n"
      let size = [2_000, 20_000, 130_000, 250_000][round % 4]
      while sdp.utf8.count < size {
        var line = pieces[Int.random(in: 0..<pieces.count, using: &generator)]
        switch Int.random(in: 0..<8, using: &generator) {
        case 0:
          let token = line.split(separator: " ").last.map(String.init) ?? ""
          let most = max(1, min(2_000, 8_000 / (token.utf8.count + 1)))
          line += String(repeating: " \(token)", count: Int.random(in: 0..<most, using: &generator))
        case 1:
          let token = line.split(separator: ";").last.map(String.init) ?? ""
          let most = max(1, min(2_000, 8_000 / (token.utf8.count + 1)))
          line += String(repeating: ";\(token)", count: Int.random(in: 0..<most, using: &generator))
        default: break
        }
        if line.hasPrefix("m="), Int.random(in: 0..<4, using: &generator) > 0 { continue }
        let times = Int.random(in: 0..<10, using: &generator) == 0 ? Int.random(in: 1...200, using: &generator) : 1
        for _ in 0..<times where sdp.utf8.count + line.utf8.count < size + 8_000 { sdp += line + "\r\n" }
      }
      sdp = String(sdp.prefix(260_000))
      let took = ProcessorTime.least(within: Self.limit) {
        var negotiator = Negotiator.seeded()
        _ = try? negotiator.receivedOffer(sdp)
      }
      longest = max(longest, took)
    }
    print("measured: random SDP: at most \(longest)")
    #expect(longest < Self.limit)
  }

  @Test("an answer is small, whatever the offer contains")
  func answerIsSmall() throws {
    let long = String(repeating: "m", count: 60)
    let refused = (0..<62).map { "m=\(long)\($0) 9 \(long) \(long)\r\na=mid:\(long)\($0)\r\n" }.joined()
    let rids = (0..<8).map { number in
      "a=rid:\(String(repeating: "r", count: 254))\(number) send "
        + (0..<16).map { "max-width\($0)=\(String(repeating: "1", count: 400))" }.joined(separator: ";") + "\r\n"
    }.joined()
    let names = (0..<8).map { "\(String(repeating: "r", count: 254))\($0)" }.joined(separator: ";")
    let offer = "v=0\r\n" + refused + Self.video + rids + "a=simulcast:send \(names)\r\n"
    var negotiator = Negotiator.seeded()
    let reply = try #require(try negotiator.receivedOffer(offer))
    print("measured: an offer of \(offer.utf8.count) bytes is answered with \(reply.answer.utf8.count)")
    #expect(reply.session.media.first?.remoteStreamIDs.count == 8)
    #expect(reply.answer.utf8.count < 32_768)
  }

  @Test(
    "ICE credentials with characters that neither the RFC nor browsers allow are refused",
    arguments: ["ab cd", "ab:cd", "abc\u{1B}d", "ab.cd"])
  func characters(fragment: String) throws {
    let offer = "v=0\r\n" + (try Self.video.changing("ufrag:abcd", to: "ufrag:\(fragment)"))
    var negotiator = Negotiator.seeded()
    #expect(throws: NegotiationError.badICECharacters) { try negotiator.receivedOffer(offer) }
    // What is not ASCII is no attribute.
    for fragment in ["äbcd", "ab+c\u{301}"] {
      let other = "v=0\r\n" + (try Self.video.changing("ufrag:abcd", to: "ufrag:\(fragment)"))
      #expect(throws: NegotiationError.noICECredentials) { try negotiator.receivedOffer(other) }
    }
  }

  /// ZLMediaKit and others write base64 with an index, `wKjZsR9AH0A=_6`.
  @Test(
    "ICE credentials with the characters that browsers accept beside those of the RFC are used",
    arguments: ["-", "_", "=", "#"])
  func legacyCharacters(character: String) throws {
    let offer =
      "v=0\r\n"
      + (try Self.video.changing("ufrag:abcd", to: "ufrag:ab\(character)d").changing("pwd:a", to: "pwd:\(character)"))
    var negotiator = Negotiator.seeded()
    let session = try negotiator.answer(to: offer).session
    #expect(session.remoteUsernameFragment == "ab\(character)d")
    #expect(session.remotePassword.hasPrefix(character))
  }
}

import Media
import PeerEngine
import SDP
import TestSupport
import Testing

@Suite("Damaged offers and answers")
struct DamagedDescriptionTests {
  @Test(
    "a damaged offer is either refused without a change of state or answered section by section",
    arguments: AnswerTests.offers)
  func offers(name: String) throws {
    let original = Array(try recorded(name).utf8)
    var generator = SeededGenerator(seed: 7)
    var answered = 0
    for _ in 0..<120 {
      let offer = Self.damaged(original, using: &generator)
      var negotiator = Negotiator.seeded()
      _ = try negotiator.answer(to: try recorded("firefox153_offer"))
      var untouched = negotiator
      do {
        guard let reply = try negotiator.receivedOffer(offer) else { continue }
        let (theirs, ours) = (try SessionDescription(parsing: offer), try SessionDescription(parsing: reply.answer))
        #expect(theirs.sections.map(\.mediaLine.kind) == ours.sections.map(\.mediaLine.kind))
        #expect(!reply.session.media.isEmpty && reply.session.media.count <= 2)
        _ = try SessionDescription(parsing: negotiator.createOffer())
        answered += 1
      } catch {
        #expect(error is NegotiationError)
        #expect(negotiator.createOffer() == untouched.createOffer())
      }
    }
    #expect(answered > 10)
  }

  @Test(
    "a damaged answer is either refused without a change of state or completes the offer",
    arguments: ["chromium156_answer_to_chatbot", "firefox153_answer_to_chatbot"])
  func answers(name: String) throws {
    let original = Array(try recorded(name).utf8)
    var generator = SeededGenerator(seed: 8)
    for _ in 0..<200 {
      let answer = Self.damaged(original, using: &generator)
      var negotiator = Negotiator.seeded()
      _ = negotiator.createOffer()
      if let session = try? negotiator.receivedAnswer(answer) {
        #expect(!session.media.isEmpty && session.media.allSatisfy { $0.index < 2 })
        #expect(!negotiator.isAwaitingAnswer)
      } else {
        #expect(negotiator.isAwaitingAnswer && negotiator.session == nil)
      }
    }
  }

  @Test("a description built to be slow is processed within a second")
  func slow() throws {
    let head = "v=0\r\n" + String(repeating: "a=ssrc:1 x\r\n", count: 9_000)
    let sections = String(repeating: "m=video 9 RTP/SAVPF 96\r\na=rtcp-mux\r\na=rtpmap:96 VP8/90000\r\n", count: 128)
    let feedback =
      "m=video 9 RTP/SAVPF 96\r\na=rtcp-mux\r\na=rtpmap:96 VP8/90000\r\n"
      + String(repeating: "a=rtcp-fb:* x\r\n", count: 16_000)
    let bundles = String(repeating: "a=group:BUNDLE 0 1\r\n", count: 12_000)
    for text in [head + sections, "v=0\r\n" + feedback, "v=0\r\n" + bundles + feedback.prefix(60)] {
      var negotiator = Negotiator.seeded()
      let took = ProcessorTime.measure { _ = try? negotiator.receivedOffer(text) }
      // Before the limits existed, these took minutes.
      #expect(took < .seconds(1))
    }
  }

  private static func damaged(_ original: [UInt8], using generator: inout SeededGenerator) -> String {
    var bytes = original
    for _ in 0..<Int.random(in: 1...8, using: &generator) where !bytes.isEmpty {
      let position = Int.random(in: 0..<bytes.count, using: &generator)
      let end = min(bytes.count, position + Int.random(in: 1...60, using: &generator))
      switch Int.random(in: 0..<12, using: &generator) {
      case 0...4: bytes[position] = UInt8.random(in: 0...255, using: &generator)
      case 5...7: bytes.removeSubrange(position..<end)
      case 8, 9: bytes.insert(contentsOf: bytes[position..<end], at: position)
      case 10: bytes.insert(contentsOf: Array("99999999999999999999".utf8), at: position)
      default: bytes.removeSubrange(bytes.index(position, offsetBy: (bytes.count - position) / 2)...)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

import Media
import PeerEngine
import SDP
import Testing

@Suite("Clients from the time of Plan B")
struct OldClientTests {
  @Test("a Plan B offer over RTP/SAVPF with a fingerprint is answered in its own terms")
  func planB() throws {
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: try recorded("plan_b_offer"))
    #expect(answer.bundles == [["audio", "video"]])
    #expect(answer.sections.map(\.mediaLine.text) == ["audio 9 RTP/SAVPF 111", "video 9 RTP/SAVPF 100"])
    #expect(answer.sections.map(\.mid) == ["audio", "video"])
    #expect(session.media.map(\.payloadType) == [111, 100])
    #expect(session.media.map(\.retransmissionPayloadType) == [nil, nil])
    #expect(session.media.map(\.localRetransmissionSSRC) == [nil, nil])
    #expect(session.media[1].remoteSources == [.init(ssrc: 2_985_140_672, cname: "Rk2vPz9sLq4XwYb7")])
    #expect(answer.sections[1].attribute("ssrc-group") == nil)
    #expect(answer.sections[1].attributes("rtcp-fb") == ["100 goog-remb", "100 ccm fir", "100 nack", "100 nack pli"])
    // Without the sequence number extension, transport-wide feedback is impossible.
    #expect(!session.media[1].feedback.transportWide)
  }

  @Test("all sources of one Plan B section are known")
  func severalSources() throws {
    var negotiator = Negotiator.seeded()
    let offer = try recorded("plan_b_offer").changing(
      "a=ssrc:2985140672 cname",
      to: "a=ssrc-group:FID 5 6\r\na=ssrc:5 cname:x\r\na=ssrc:6 cname:x\r\na=ssrc:2985140672 cname")
    let (_, session) = try negotiator.answer(to: offer)
    #expect(session.media[1].remoteSources.map(\.ssrc) == [5, 2_985_140_672])
    #expect(session.media[1].remoteSources.map(\.retransmissionSSRC) == [6, nil])
  }

  @Test("an offer without a=setup is answered as active")
  func noSetup() throws {
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: try recorded("plan_b_offer").without("a=setup"))
    #expect(answer.sections.map { $0.attribute("setup") } == ["active", "active"])
    #expect(session.dtlsRole == .client)
  }

  @Test("without a bundle, each section needs its own transport: the first section is accepted, the second refused")
  func noBundle() throws {
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: try recorded("plan_b_offer").without("a=group"))
    #expect(session.media.map(\.kind) == [.audio])
    #expect(answer.bundles.isEmpty)
    #expect(answer.sections.map(\.mediaLine.port) == [9, 0])
    #expect(answer.sections.map(\.mid) == ["audio", "video"])
    #expect(answer.sections[0].attributes("candidate").count == 1)
  }

  @Test("an offer without mids is answered without mids")
  func noMids() throws {
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: try recorded("plan_b_offer").without("a=group", "a=mid"))
    #expect(answer.sections.map(\.mid) == [nil, nil])
    #expect(answer.bundles.isEmpty)
    #expect(session.media.map(\.mid) == [nil])
    #expect(session.media.map(\.kind) == [.audio])

    let next = try SessionDescription(parsing: negotiator.createOffer())
    #expect(next.sections.map(\.mediaLine.port) == [9, 0])
    #expect(next.sections.map(\.mid) == [nil, nil])
  }

  @Test("an answer without mids and setup is matched by the order of its sections")
  func answerWithoutMids() throws {
    var negotiator = Negotiator.seeded()
    _ = negotiator.createOffer()
    let answer = try recorded("chromium156_answer_to_chatbot").without("a=mid", "a=setup")
    let session = try #require(try negotiator.receivedAnswer(answer))
    #expect(session.media.map(\.kind) == [.audio, .video])
    #expect(session.media.map(\.mid) == ["0", "1"])
    #expect(session.dtlsRole == .client)
  }

  @Test("an answer without a bundle leaves only the first section")
  func answerWithoutBundle() throws {
    var negotiator = Negotiator.seeded()
    _ = negotiator.createOffer()
    let session = try #require(
      try negotiator.receivedAnswer(try recorded("chromium156_answer_to_chatbot").without("a=group")))
    #expect(session.media.map(\.kind) == [.audio])
    let next = try SessionDescription(parsing: negotiator.createOffer())
    #expect(next.sections.map(\.mediaLine.port) == [9, 0])
  }

  @Test("lines that end in bare line feeds are accepted")
  func lineFeeds() throws {
    var negotiator = Negotiator.seeded()
    let (_, session) = try negotiator.answer(to: try recorded("plan_b_offer").changing("\r\n", to: "\n"))
    #expect(session.media.count == 2)
  }
}

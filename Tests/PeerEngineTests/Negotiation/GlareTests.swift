import ICE
import Media
import PeerEngine
import PeerEngineTestSupport
import RTP
import SDP
import Signalling
import Testing

@Suite("Offers from both sides at once")
struct GlareTests {
  @Test("the polite side rolls its offer back and answers")
  func polite() throws {
    var negotiator = Negotiator.seeded(isPolite: true)
    _ = negotiator.createOffer()
    let (answer, session) = try negotiator.answer(to: try recorded("chromium156_offer"))
    #expect(answer.sections.count == 3 && session.media.count == 2)
    #expect(session.dtlsRole == .client)
    #expect(!negotiator.isAwaitingAnswer && !negotiator.needsOffer)
  }

  @Test("the impolite side ignores the remote offer and receives its answer")
  func impolite() throws {
    var negotiator = Negotiator.seeded(isPolite: false)
    _ = negotiator.createOffer()
    #expect(try negotiator.receivedOffer(try recorded("chromium156_offer")) == nil)
    #expect(try negotiator.receivedOffer("nonsense") == nil)
    #expect(negotiator.isAwaitingAnswer)
    #expect(try negotiator.receivedAnswer(try recorded("chromium156_answer_to_chatbot"))?.media.count == 2)
    // Without a pending offer of ours, the remote offer is answered.
    #expect(try negotiator.receivedOffer(try recorded("chromium156_offer")) != nil)
  }

  @Test(
    "a media server never gives way, so we do, whatever the ids are",
    arguments: [SignalledParticipant.Direction.receiveOnly, .sendOnly, .sendReceive])
  func mediaServer(direction: SignalledParticipant.Direction) throws {
    let demultiplexer = PeerDemultiplexer(.init(policy: .init(sending: [.audio]), isPolite: { _ in false }))
    demultiplexer.localAddresses = [DemultiplexerCall.botAddress]
    demultiplexer.announce(SignalledParticipant("server", offerer: .local, direction: direction))
    demultiplexer.offer(to: "server", now: .now)
    demultiplexer.received(.offer(try recorded("chromium156_offer")), from: "server", now: .now)
    var answers = 0
    demultiplexer.poll(now: .now, wallClock: NTPTime(secondsSince1970: 1_700_000_000)) { action, _ in
      if case .event(.signal(.answer)) = action { answers += 1 }
    }
    #expect(answers == (direction == .sendReceive ? 0 : 1))
  }

  @Test("two negotiators that offer at once agree on one session")
  func eachOther() throws {
    var polite = Negotiator.seeded(1, isPolite: true)
    var impolite = Negotiator.seeded(2, isPolite: false)
    let (lost, won) = (polite.createOffer(), impolite.createOffer())
    #expect(try impolite.receivedOffer(lost) == nil)
    let reply = try #require(try polite.receivedOffer(won))
    let session = try #require(try impolite.receivedAnswer(reply.answer))
    #expect(session.dtlsRole == .server && reply.session.dtlsRole == .client)
    #expect(session.remoteUsernameFragment == reply.session.localCredentials.usernameFragment)
    #expect(reply.session.remoteUsernameFragment == session.localCredentials.usernameFragment)
  }

  @Test("the answer of a peer that rolled back as well still completes our offer")
  func bothGaveWay() throws {
    var negotiator = Negotiator.seeded(isPolite: true)
    _ = negotiator.createOffer()
    _ = try negotiator.answer(to: try recorded("chromium156_offer"))
    let session = try #require(try negotiator.receivedAnswer(try recorded("chromium156_answer_to_chatbot")))
    #expect(session.dtlsRole == .server && session.isICERestart)
    #expect(session.media.map(\.index) == [0, 1])
    #expect(try negotiator.receivedAnswer(try recorded("chromium156_answer_to_chatbot")) == nil)
  }

  @Test("a late answer that cannot be used is ignored")
  func uselessLateAnswer() throws {
    var negotiator = Negotiator.seeded(isPolite: true)
    _ = negotiator.createOffer()
    let (_, session) = try negotiator.answer(to: try recorded("chromium156_offer"))
    #expect(try negotiator.receivedAnswer("nonsense") == nil)
    #expect(try negotiator.receivedAnswer(try recorded("chromium156_offer")) == nil)
    #expect(negotiator.session == session)
  }

  @Test("a rolled-back offer leaves an established session unchanged")
  func rollbackToSession() throws {
    var negotiator = Negotiator.seeded(isPolite: true)
    let (_, first) = try negotiator.answer(to: try recorded("chromium156_offer"))
    negotiator.restartICE()
    _ = negotiator.createOffer()
    let (_, second) = try negotiator.answer(to: try recorded("chromium156_offer"))
    #expect(second == first)
    // The ICE restart is still pending.
    #expect(negotiator.needsOffer)
  }

  @Test("an unusable offer does not roll ours back")
  func unusableOffer() throws {
    var negotiator = Negotiator.seeded(isPolite: true)
    _ = negotiator.createOffer()
    #expect(throws: NegotiationError.self) { try negotiator.receivedOffer("v=0\r\n") }
    #expect(negotiator.isAwaitingAnswer)
    #expect(try negotiator.receivedAnswer(try recorded("chromium156_answer_to_chatbot")) != nil)
  }
}

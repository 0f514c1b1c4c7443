import Media
import PeerEngine
import SDP
import Testing

@Suite("Kinds of media that are received")
struct ReceivingTests {
  @Test(
    "a kind that is not to be received is offered without a receiving direction",
    arguments: [
      (sent: true, wanted: true, direction: "sendrecv"), (true, false, "sendonly"), (false, true, "recvonly"),
      (false, false, "inactive"),
    ])
  func offered(sent: Bool, wanted: Bool, direction: String) throws {
    var negotiator = Negotiator.seeded(
      sending: sent ? [.audio, .video] : [.audio], receiving: wanted ? [.audio, .video] : [.audio])
    // The first offer, and one that repeats it.
    for _ in 0..<2 {
      let offer = try SessionDescription(parsing: negotiator.createOffer())
      #expect(offer.sections.map { $0.direction?.rawValue } == ["sendrecv", direction])
    }
  }

  @Test("audio is asked for in stereo if it is received: in offers, and in answers to those who send or accept it")
  func stereo() throws {
    func format(_ description: String) throws -> String? {
      try SessionDescription(parsing: description).sections[0].attribute("fmtp")
    }
    let mono = "111 minptime=10;useinbandfec=1"
    var recorder = Negotiator.seeded(sending: [])
    #expect(try format(recorder.createOffer()) == mono + ";stereo=1")
    var camera = Negotiator.seeded(receiving: [])
    #expect(try format(camera.createOffer()) == mono)

    let offer = try recorded("chromium156_offer")
    let stereo = mono + ";stereo=1"
    let cases: [(String, recorders: String, cameras: String)] = [
      ("", mono, mono), (";stereo=1", stereo, stereo), (";sprop-stereo=1", stereo, mono),
    ]
    for (parameters, recorders, cameras) in cases {
      let offer = try offer.changing("a=fmtp:\(mono)", to: "a=fmtp:\(mono)\(parameters)")
      let expectations: [(Set<MediaKind>, String)] = [(Set(MediaKind.allCases), recorders), ([], cameras)]
      for (receiving, expected) in expectations {
        var negotiator = Negotiator.seeded(receiving: receiving)
        let answer = try negotiator.answer(to: offer).description
        #expect(answer.sections[0].attribute("fmtp") == expected)
      }
    }
  }

  @Test(
    "a kind that is not to be received is answered without a receiving direction",
    arguments: [
      ("sendrecv", true, "sendonly"), ("sendrecv", false, "inactive"), ("sendonly", true, "inactive"),
      ("recvonly", true, "sendonly"), ("inactive", true, "inactive"),
    ])
  func answered(offered: String, sending: Bool, answered: String) throws {
    var negotiator = Negotiator.seeded(sending: sending ? [.audio, .video] : [], receiving: [])
    let offer = try recorded("chromium156_offer").changing("a=sendrecv", to: "a=\(offered)")
    let (answer, session) = try negotiator.answer(to: offer)
    #expect(session.media.count == 2)
    for media in session.media {
      #expect(answer.sections[media.index].direction?.rawValue == answered)
      #expect(!media.receives)
    }
  }

  @Test("a kind that is not to be received is not received after later exchanges either, whichever side offers")
  func later() throws {
    var ours = Negotiator.seeded(1, receiving: [.audio])
    var theirs = Negotiator.seeded(2)
    for round in 0..<4 {
      let session: NegotiatedSession
      if round.isMultiple(of: 2) {
        let reply = try #require(try theirs.receivedOffer(ours.createOffer()))
        session = try #require(try ours.receivedAnswer(reply.answer))
      } else {
        let reply = try #require(try ours.receivedOffer(theirs.createOffer()))
        #expect(try theirs.receivedAnswer(reply.answer) != nil)
        session = reply.session
      }
      #expect(session.media.map(\.receives) == [true, false])
      #expect(session.media.map(\.sends) == [true, true])
      #expect(!ours.needsOffer)
    }
  }

  @Test("the answer contains no simulcast streams of a kind that is not to be received")
  func simulcast() throws {
    var negotiator = Negotiator.seeded(receiving: [.audio])
    let (answer, session) = try negotiator.answer(to: try recorded("chromium156_offer_simulcast"))
    #expect(session.media[1].remoteStreamIDs.isEmpty)
    #expect(!answer.sections[1].hasAttribute("simulcast") && !answer.sections[1].hasAttribute("rid"))
  }
}

import Media
import PeerEngine
import SDP
import Testing

@Suite("Local offers and their answers")
struct OfferTests {
  @Test("the first offer has audio and video in one bundle, with Chromium's payload types")
  func firstOffer() throws {
    var negotiator = Negotiator.seeded()
    #expect(negotiator.needsOffer)
    let text = negotiator.createOffer()
    let offer = try SessionDescription(parsing: text)
    #expect(text.utf8.allSatisfy { $0 < 128 } && text.hasSuffix("\r\n"))
    #expect(
      offer.sections.map(\.mediaLine.text) == [
        "audio 9 UDP/TLS/RTP/SAVPF 111 9 0 8",
        "video 9 UDP/TLS/RTP/SAVPF 96 97 108 109 116 117 112 113 98 99 100 101 106 107 118 119 120 121",
      ])
    #expect(offer.sections.map(\.mid) == ["0", "1"])
    #expect(offer.bundles == [["0", "1"]])
    #expect(offer.sections.map { $0.attribute("setup") } == ["actpass", "actpass"])
    #expect(offer.sections[0].attributes("fmtp") == ["111 minptime=10;useinbandfec=1;stereo=1"])
    #expect(
      offer.sections[1].attributes("fmtp") == [
        "97 apt=96",
        "108 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e034", "109 apt=108",
        "116 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=4d0034", "117 apt=116",
        "112 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=640c34", "113 apt=112",
        "98 profile-id=0", "99 apt=98", "100 profile-id=2", "101 apt=100", "106 level-idx=13;profile=0;tier=0",
        "107 apt=106", "118 level-id=180;profile-id=1;tier-flag=0;tx-mode=SRST", "119 apt=118",
        "120 level-id=180;profile-id=2;tier-flag=0;tx-mode=SRST", "121 apt=120",
      ])
    let feedback = ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"]
    #expect(
      offer.sections[1].attributes("rtcp-fb")
        == [96, 108, 116, 112, 98, 100, 106, 118, 120].flatMap { type in
          feedback.map { "\(type) \($0)" }
        })
    #expect(offer.hasAttribute("extmap-allow-mixed"))
    #expect(offer.sections.map(\.direction) == [.sendAndReceive, .sendAndReceive])
    #expect(negotiator.isAwaitingAnswer && !negotiator.needsOffer)
  }

  @Test("in the offer, a header extension has the same id in all sections")
  func extensionIDs() throws {
    var negotiator = Negotiator.seeded()
    let offer = try SessionDescription(parsing: negotiator.createOffer())
    var names: [UInt16: String] = [:]
    for map in offer.sections.flatMap({ $0.attributes("extmap") }).compactMap({ HeaderExtensionMap(parsing: $0) }) {
      #expect(names.updateValue(map.uri, forKey: map.id) ?? map.uri == map.uri)
    }
    #expect(names.count == 7 && Set(names.values).count == 7)
  }

  @Test("with nothing to send, the offer is receive-only and announces no SSRC")
  func receiveOnly() throws {
    var negotiator = Negotiator.seeded(sending: [])
    let offer = try SessionDescription(parsing: negotiator.createOffer())
    #expect(offer.sections.map(\.direction) == [.receiveOnly, .receiveOnly])
    #expect(offer.sections.allSatisfy { !$0.hasAttribute("ssrc") && !$0.hasAttribute("msid") })
    #expect(offer.attribute("msid-semantic") == " WMS")
  }

  @Test(
    "the answers of Chromium and Firefox accept both sections and make us the DTLS server",
    arguments: ["chromium156_answer_to_chatbot", "firefox153_answer_to_chatbot"])
  func realAnswers(name: String) throws {
    var negotiator = Negotiator.seeded()
    _ = negotiator.createOffer()
    let session = try #require(try negotiator.receivedAnswer(try recorded(name)))
    #expect(session.media.map(\.codec) == [.opus, .vp8])
    #expect(session.media.map(\.mid) == ["0", "1"])
    #expect(session.media.map(\.payloadType) == [111, 96])
    #expect(session.media.map(\.retransmissionPayloadType) == [nil, 97])
    #expect(session.media.allSatisfy { $0.sends && $0.receives && $0.extensions.mid == 4 })
    #expect(session.media[1].feedback.nack && session.media[1].feedback.pictureLossIndication)
    #expect(session.media[1].feedback.fullIntraRequest && session.media[1].feedback.transportWide)
    #expect(session.media[0].feedback.transportWide && !session.media[0].feedback.nack)
    #expect(session.media.map(\.remoteSources.count) == [1, 1])
    #expect(session.media[1].remoteSources[0].retransmissionSSRC != nil)
    #expect(session.dtlsRole == .server)
    #expect(!session.isICERestart)
    #expect(!negotiator.isAwaitingAnswer && !negotiator.needsOffer)
    #expect(negotiator.session == session)
  }

  @Test("a passive answer makes us the DTLS client")
  func passiveAnswer() throws {
    var negotiator = Negotiator.seeded()
    _ = negotiator.createOffer()
    let answer = try recorded("chromium156_answer_to_chatbot").changing("setup:active", to: "setup:passive")
    #expect(try negotiator.receivedAnswer(answer)?.dtlsRole == .client)
  }

  @Test("port 0 in an answer refuses one section and leaves the other")
  func partlyRefused() throws {
    var negotiator = Negotiator.seeded()
    _ = negotiator.createOffer()
    let answer = try recorded("chromium156_answer_to_chatbot")
      .changing("m=video 9", to: "m=video 0").changing("BUNDLE 0 1", to: "BUNDLE 0")
    #expect(try negotiator.receivedAnswer(answer)?.media.map(\.kind) == [.audio])
    // The refused section is not offered again.
    #expect(!negotiator.needsOffer)
    let next = try SessionDescription(parsing: negotiator.createOffer())
    #expect(next.sections.map(\.mediaLine.text) == ["audio 9 UDP/TLS/RTP/SAVPF 111", "video 0 UDP/TLS/RTP/SAVPF 96"])
    #expect(next.sections[1].mid == "1")
    #expect(next.bundles == [["0"]])
  }

  @Test("a section that was refused while we had nothing to send is offered again when we have")
  func refusedThenSent() throws {
    var negotiator = Negotiator.seeded(sending: [])
    _ = negotiator.createOffer()
    let answer = try recorded("chromium156_answer_to_chatbot")
      .changing("m=video 9", to: "m=video 0").changing("BUNDLE 0 1", to: "BUNDLE 0")
    _ = try negotiator.receivedAnswer(answer)
    negotiator.setSending(true, of: .video)
    #expect(negotiator.needsOffer)
    let next = try SessionDescription(parsing: negotiator.createOffer())
    // At the same index, with a new mid.
    #expect(next.sections.map(\.mid) == ["0", "2"])
    #expect(next.sections[1].mediaLine.port == 9)
    #expect(next.sections[1].direction == .sendAndReceive)
  }

  @Test("extensions, feedback and RTX that an answer lacks are not negotiated")
  func narrowAnswer() throws {
    var negotiator = Negotiator.seeded()
    _ = negotiator.createOffer()
    let answer = try recorded("chromium156_answer_to_chatbot").without(
      "a=extmap:3", "a=extmap:10", "a=rtcp-fb:96 nack", "a=rtpmap:97", "a=fmtp:97", "a=rtcp-rsize"
    ).changing("a=extmap:11", to: "a=extmap:12")
    let session = try #require(try negotiator.receivedAnswer(answer))
    let video = session.media[1]
    #expect(video.retransmissionPayloadType == nil && video.localRetransmissionSSRC == nil)
    #expect(!video.feedback.nack && !video.feedback.pictureLossIndication && video.feedback.fullIntraRequest)
    #expect(!video.feedback.transportWide && !session.media[0].feedback.transportWide)
    #expect(video.extensions.transportSequenceNumber == nil && video.extensions.streamID == nil)
    // An answer must not change the id of an extension.
    #expect(video.extensions.repairedStreamID == nil)
    let next = try SessionDescription(parsing: negotiator.createOffer())
    #expect(next.sections[1].mediaLine.formats == ["96"])
    #expect(!next.sections[1].hasAttribute("rtcp-rsize"))
  }

  @Test("an unexpected answer is ignored")
  func unawaited() throws {
    var negotiator = Negotiator.seeded()
    let answer = try recorded("chromium156_answer_to_chatbot")
    #expect(try negotiator.receivedAnswer(answer) == nil)
    #expect(try negotiator.receivedAnswer("nonsense") == nil)
    _ = negotiator.createOffer()
    #expect(try negotiator.receivedAnswer(answer) != nil)
    #expect(try negotiator.receivedAnswer(answer) == nil)
  }

  @Test(
    "our own offer as an answer is refused, a remote offer as an answer is ignored, and the real answer still counts")
  func echo() throws {
    var negotiator = Negotiator.seeded()
    let offer = negotiator.createOffer()
    #expect(throws: NegotiationError.ownDescription) { try negotiator.receivedAnswer(offer) }
    #expect(try negotiator.receivedAnswer(try recorded("chromium156_offer")) == nil)
    #expect(negotiator.isAwaitingAnswer)
    #expect(try negotiator.receivedAnswer(try recorded("chromium156_answer_to_chatbot")) != nil)
  }

  @Test("our own offer returned as an offer is refused")
  func echoedOffer() throws {
    var negotiator = Negotiator.seeded()
    let offer = negotiator.createOffer()
    #expect(throws: NegotiationError.ownDescription) { try negotiator.receivedOffer(offer) }
    #expect(negotiator.isAwaitingAnswer)
  }

  @Test("later candidates appear in the next description, each once and without a prefix")
  func laterCandidates() throws {
    var negotiator = Negotiator.seeded(candidates: [])
    negotiator.addLocalCandidate("candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host")
    negotiator.addLocalCandidate("a=candidate:2 1 udp 1 192.0.2.2 5001 typ srflx raddr 192.0.2.1 rport 5000")
    negotiator.addLocalCandidate("candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host")
    negotiator.addLocalCandidate("")
    negotiator.addLocalCandidate("candidate:3\r\na=evil")
    let offer = try SessionDescription(parsing: negotiator.createOffer())
    #expect(
      offer.sections[0].attributes("candidate") == [
        "1 1 udp 2130706431 192.0.2.1 5000 typ host",
        "2 1 udp 1 192.0.2.2 5001 typ srflx raddr 192.0.2.1 rport 5000",
      ])
    #expect(offer.sections[1].attributes("candidate").isEmpty)
  }

  @Test("two negotiators agree on the same session")
  func eachOther() throws {
    var caller = Negotiator.seeded(1, sending: [.audio, .video])
    var callee = Negotiator.seeded(2, sending: [])
    let reply = try #require(try callee.receivedOffer(caller.createOffer()))
    let session = try #require(try caller.receivedAnswer(reply.answer))
    #expect(session.dtlsRole == .server && reply.session.dtlsRole == .client)
    #expect(session.remoteFingerprints == [callee.local.fingerprint])
    #expect(reply.session.remoteFingerprints == [caller.local.fingerprint])
    #expect(reply.session.remoteCandidates == caller.local.candidates)
    for (ours, theirs) in zip(session.media, reply.session.media) {
      #expect(ours.payloadType == theirs.payloadType)
      #expect(ours.retransmissionPayloadType == theirs.retransmissionPayloadType)
      #expect(ours.feedback == theirs.feedback && ours.extensions == theirs.extensions)
      #expect(ours.sends && !ours.receives && !theirs.sends && theirs.receives)
      #expect(theirs.remoteSources.map(\.ssrc) == [ours.localSSRC])
      #expect(theirs.remoteSources.map(\.retransmissionSSRC) == [ours.localRetransmissionSSRC])
      #expect(ours.kind == .video || ours.feedback.nack)
    }
  }
}

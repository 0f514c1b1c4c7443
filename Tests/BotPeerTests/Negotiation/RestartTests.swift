import BotPeer
import ICE
import Media
import SDP
import Testing

@Suite("ICE restarts and DTLS roles")
struct RestartTests {
  @Test("an ICE restart by the other side gets new credentials of ours, and the same DTLS role")
  func remoteRestart() throws {
    let offer = try recorded("chromium156_offer")
    var negotiator = Negotiator.seeded()
    let (_, first) = try negotiator.answer(to: offer)
    let restarted = try offer.changing("p/CY", to: "q/CY").changing("oSWzz", to: "pSWzz")
    let (answer, second) = try negotiator.answer(to: restarted)
    #expect(second.isICERestart && second.remoteUsernameFragment == "q/CY")
    #expect(second.localCredentials != first.localCredentials)
    #expect(answer.sections[0].attribute("ice-ufrag") == second.localCredentials.usernameFragment)
    #expect(second.dtlsRole == first.dtlsRole)
    let (_, third) = try negotiator.answer(to: restarted)
    #expect(!third.isICERestart && third.localCredentials == second.localCredentials)
  }

  @Test("an ICE restart of ours uses new credentials from the offer on, and is done with its answer")
  func localRestart() throws {
    var negotiator = Negotiator.seeded()
    _ = negotiator.createOffer()
    let answer = try recorded("chromium156_answer_to_chatbot")
    let first = try #require(try negotiator.receivedAnswer(answer))
    negotiator.restartICE()
    #expect(negotiator.needsOffer)
    let offer = try SessionDescription(parsing: negotiator.createOffer())
    let fragment = try #require(offer.sections[0].attribute("ice-ufrag"))
    #expect(fragment != first.localCredentials.usernameFragment)
    #expect(negotiator.currentCredentials.usernameFragment == fragment)
    // Asked again before the answer, the offer keeps them.
    #expect(try SessionDescription(parsing: negotiator.createOffer()).sections[0].attribute("ice-ufrag") == fragment)
    let second = try #require(try negotiator.receivedAnswer(try answer.changing("a=ice-ufrag:", to: "a=ice-ufrag:x")))
    #expect(second.isICERestart && second.localCredentials.usernameFragment == fragment)
    #expect(!negotiator.needsOffer)
  }

  @Test("the DTLS role outlives a change of who offers")
  func roleKept() throws {
    var negotiator = Negotiator.seeded()
    _ = negotiator.createOffer()
    let answer = try recorded("chromium156_answer_to_chatbot")
    #expect(try negotiator.receivedAnswer(answer)?.dtlsRole == .server)
    // The same certificate, now with the one who offers.
    let used = try #require(try SessionDescription(parsing: answer).sections[0].attribute("fingerprint"))
    let recordedOffer = try recorded("chromium156_offer")
    let other = try #require(try SessionDescription(parsing: recordedOffer).sections[0].attribute("fingerprint"))
    let offer = try recordedOffer.changing(other, to: used)
    let (reply, session) = try negotiator.answer(to: offer)
    #expect(session.dtlsRole == .server)
    #expect(reply.sections[0].attribute("setup") == "passive")
    // With another certificate the association is another one, and we begin it.
    #expect(try negotiator.answer(to: recordedOffer).session.dtlsRole == .client)
  }

  @Test("Firefox's answer after an ICE restart names a role that it does not take; the role stays")
  func roleNamedWrongly() throws {
    var negotiator = Negotiator.seeded()
    // Offer and answer are of two calls; here one certificate makes them one.
    let used = try #require(
      try SessionDescription(parsing: try recorded("firefox153_answer_to_chatbot")).attribute("fingerprint"))
    let other = try #require(try SessionDescription(parsing: try recorded("firefox153_offer")).attribute("fingerprint"))
    let offer = try recorded("firefox153_offer").changing(other, to: used)
    #expect(try negotiator.answer(to: offer).session.dtlsRole == .client)
    negotiator.restartICE()
    _ = negotiator.createOffer()
    let answer =
      try recorded("firefox153_answer_to_chatbot")
      + "m=application 0 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=mid:2\r\n"
    #expect(answer.contains("a=setup:active"))
    let session = try #require(try negotiator.receivedAnswer(answer))
    #expect(session.isICERestart && session.dtlsRole == .client)
  }
}

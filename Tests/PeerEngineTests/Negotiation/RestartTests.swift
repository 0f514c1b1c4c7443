import ICE
import Media
import PeerEngine
import SDP
import Testing

@Suite("ICE restarts and DTLS roles")
struct RestartTests {
  @Test("a remote ICE restart changes our credentials and keeps the DTLS role")
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

  @Test("a local ICE restart uses new credentials from the offer on, and ends with the answer")
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
    // A second offer before the answer has the same credentials.
    #expect(try SessionDescription(parsing: negotiator.createOffer()).sections[0].attribute("ice-ufrag") == fragment)
    let second = try #require(try negotiator.receivedAnswer(try answer.changing("a=ice-ufrag:", to: "a=ice-ufrag:x")))
    #expect(second.isICERestart && second.localCredentials.usernameFragment == fragment)
    #expect(!negotiator.needsOffer)
  }

  @Test(
    "a side that answers an ICE restart with its former credentials has not restarted, and ours stay",
    arguments: [
      false, true,
    ])
  func ignoredRestart(isLite: Bool) throws {
    var negotiator = Negotiator.seeded()
    _ = negotiator.createOffer()
    let answer = try recorded("chromium156_answer_to_chatbot")
    let first = try #require(try negotiator.receivedAnswer(answer))
    negotiator.restartICE()
    let fragment = try SessionDescription(parsing: negotiator.createOffer()).sections[0].attribute("ice-ufrag")
    let second = try #require(
      try negotiator.receivedAnswer(isLite ? answer.changing("t=0 0\r\n", to: "t=0 0\r\na=ice-lite\r\n") : answer))
    #expect(second.isICERestart == isLite, "a lite agent sends no checks with the former credentials")
    #expect(second.localCredentials.usernameFragment == (isLite ? fragment : first.localCredentials.usernameFragment))
    #expect(negotiator.currentCredentials == second.localCredentials)
    #expect(!negotiator.needsOffer)
  }

  @Test("the DTLS role stays the same when the other side offers")
  func roleKept() throws {
    var negotiator = Negotiator.seeded()
    _ = negotiator.createOffer()
    let answer = try recorded("chromium156_answer_to_chatbot")
    #expect(try negotiator.receivedAnswer(answer)?.dtlsRole == .server)
    // The same certificate, now in an offer of the other side.
    let used = try #require(try SessionDescription(parsing: answer).sections[0].attribute("fingerprint"))
    let recordedOffer = try recorded("chromium156_offer")
    let other = try #require(try SessionDescription(parsing: recordedOffer).sections[0].attribute("fingerprint"))
    let offer = try recordedOffer.changing(other, to: used)
    let (reply, session) = try negotiator.answer(to: offer)
    #expect(session.dtlsRole == .server)
    #expect(reply.sections[0].attribute("setup") == "passive")
    // Another certificate means a new association, and we are its client.
    #expect(try negotiator.answer(to: recordedOffer).session.dtlsRole == .client)
  }

  @Test("Firefox's answer after an ICE restart states a role that Firefox does not take, and the role stays the same")
  func roleNamedWrongly() throws {
    var negotiator = Negotiator.seeded()
    // The recorded offer and answer are from two calls; here both get the same certificate.
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

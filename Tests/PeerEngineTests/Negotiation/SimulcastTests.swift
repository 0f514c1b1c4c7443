import Media
import PeerEngine
import SDP
import Testing

@Suite("Simulcast")
struct SimulcastTests {
  @Test(
    "simulcast streams are received by their rids",
    arguments: ["chromium156_offer_simulcast", "firefox153_offer_simulcast"])
  func simulcast(name: String) throws {
    var negotiator = Negotiator.seeded(sending: [])
    let (answer, session) = try negotiator.answer(to: try recorded(name))
    let video = try #require(session.media.last)
    #expect(video.remoteStreamIDs == ["l", "m", "h"])
    #expect(video.extensions.streamID != nil && video.extensions.repairedStreamID != nil)
    let section = answer.sections[video.index]
    #expect(section.attributes("rid") == ["l recv", "m recv", "h recv"])
    #expect(section.attribute("simulcast") == "recv l;m;h")
    // Chromium announces no SSRCs with simulcast, Firefox announces all.
    #expect(video.remoteSources.count == (name.hasPrefix("chromium") ? 0 : 3))
  }

  @Test("simulcast without the rid extension, which identifies the streams, is not accepted")
  func simulcastWithoutNames() throws {
    var negotiator = Negotiator.seeded()
    let offer = try recorded("chromium156_offer_simulcast").without("a=extmap:10 ")
    let (answer, session) = try negotiator.answer(to: offer)
    #expect(session.media[1].remoteStreamIDs.isEmpty)
    #expect(!answer.sections[1].hasAttribute("simulcast"))
  }

  @Test("a simulcast stream of another codec is not accepted, and restrictions of our codec's stream are kept")
  func simulcastRestrictions() throws {
    var negotiator = Negotiator.seeded()
    let offer = try recorded("chromium156_offer_simulcast")
      .changing("a=rid:l send", to: "a=rid:l send pt=102")
      .changing("a=rid:h send", to: "a=rid:h send pt=96,102;max-width=1280")
    let (answer, session) = try negotiator.answer(to: offer)
    #expect(session.media[1].remoteStreamIDs == ["m", "h"])
    #expect(answer.sections[1].attributes("rid") == ["m recv", "h recv pt=96;max-width=1280"])
  }

  @Test("our later offer to a simulcast sender still receives its streams")
  func simulcastKept() throws {
    var negotiator = Negotiator.seeded()
    _ = try negotiator.answer(to: try recorded("chromium156_offer_simulcast"))
    let offer = try SessionDescription(parsing: negotiator.createOffer())
    #expect(offer.sections[1].attributes("rid") == ["l recv", "m recv", "h recv"])
    #expect(offer.sections[1].attribute("simulcast") == "recv l;m;h")
  }
}

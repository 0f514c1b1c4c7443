import Foundation
import Media
import PeerEngine
import SDP
import Testing

@Suite("Later offers and answers")
struct LaterExchangeTests {
  @Test("a second offer is answered with a higher version and otherwise the same text")
  func again() throws {
    var negotiator = Negotiator.seeded()
    let offer = try recorded("chromium156_offer")
    let (first, before) = try negotiator.answer(to: offer)
    let (second, after) = try negotiator.answer(to: try offer.changing("5292 2 IN", to: "5292 3 IN"))
    #expect(before == after)
    #expect(first.origin?.sessionID == second.origin?.sessionID)
    #expect(first.origin?.version == "1" && second.origin?.version == "2")
    var same = second
    same.lines[1] = first.lines[1]
    #expect(same == first)
  }

  @Test("a session id is a positive number of 63 bits", arguments: 0..<20)
  func sessionID(seed: UInt64) throws {
    var negotiator = Negotiator.seeded(seed)
    let offer = try SessionDescription(parsing: negotiator.createOffer())
    #expect(offer.origin.flatMap { Int64($0.sessionID) } ?? -1 >= 0)
  }

  @Test("a section added by a later offer is accepted, also a second one of its kind")
  func addedSections() throws {
    let offer = try recorded("chromium156_offer")
    let whole = try SessionDescription(parsing: offer)
    var audioOnly = whole
    audioOnly.sections = [whole.sections[0]]
    audioOnly.lines = try SessionDescription(parsing: try offer.changing("BUNDLE 0 1 2", to: "BUNDLE 0")).lines

    var negotiator = Negotiator.seeded()
    let (_, first) = try negotiator.answer(to: audioOnly.text)
    #expect(first.media.map(\.kind) == [.audio])
    let (_, second) = try negotiator.answer(to: offer)
    #expect(second.media.map(\.kind) == [.audio, .video])
    #expect(second.media[0] == first.media[0])

    var extra = whole
    extra.sections.append(whole.sections[1])
    let third = try extra.text.changing("BUNDLE 0 1 2", to: "BUNDLE 0 1 2 3")
    let position = try #require(third.range(of: "a=mid:1", options: .backwards))
    let (answer, session) = try negotiator.answer(to: third.replacingCharacters(in: position, with: "a=mid:3"))
    #expect(session.media.map(\.kind) == [.audio, .video, .video])
    #expect(session.media[0] == second.media[0] && session.media[1] == second.media[1])
    #expect(answer.sections.map(\.mediaLine.port) == [9, 9, 0, 9])
    #expect(answer.sections[3].mid == "3")
    #expect(answer.bundles == [["0", "1", "3"]])
  }

  @Test("of two sections of one kind, ours stays in the one that it is in, and the peer's track continues in the other")
  func sendingSectionWins() throws {
    let text = try recorded("chromium156_offer")
    var offer = try SessionDescription(parsing: try text.changing("BUNDLE 0 1 2", to: "BUNDLE 0 1 2 3"))
    var negotiator = Negotiator.seeded()
    _ = try negotiator.answer(to: text)
    var camera = offer.sections[1]
    for position in camera.lines.indices {
      if case .attribute("mid", _) = camera.lines[position].content {
        camera.lines[position].content = .attribute(name: "mid", value: "3")
      }
    }
    offer.sections[1].append("recvonly")
    offer.sections.append(camera)
    let (answer, session) = try negotiator.answer(to: offer.text)
    #expect(session.media.map(\.index) == [0, 1, 3])
    #expect(session.media.map(\.sends) == [true, true, false])
    #expect(session.media.filter(\.receives).map(\.index) == [0, 3])
    #expect(session.media.filter(\.receives).map(\.stream) == [1, 1])
    #expect(answer.sections.map(\.mediaLine.port) == [9, 9, 0, 9])
  }

  @Test("a section that is removed, restored or recycled under a new mid keeps our SSRCs")
  func removedAndBack() throws {
    let offer = try recorded("chromium156_offer")
    var negotiator = Negotiator.seeded()
    let (_, first) = try negotiator.answer(to: offer)

    let stopped = try offer.changing("m=video 9", to: "m=video 0").changing("BUNDLE 0 1 2", to: "BUNDLE 0 2")
    let (answer, without) = try negotiator.answer(to: stopped)
    #expect(without.media.map(\.kind) == [.audio])
    #expect(answer.sections[1].mediaLine.text == "video 0 UDP/TLS/RTP/SAVPF 96")
    #expect(!negotiator.needsOffer)

    let (_, back) = try negotiator.answer(to: offer)
    #expect(back.media == first.media)

    let recycled = try offer.changing("a=mid:1", to: "a=mid:7").changing("BUNDLE 0 1 2", to: "BUNDLE 0 7 2")
    let (_, new) = try negotiator.answer(to: recycled)
    #expect(new.media[1].mid == "7" && new.media[1].index == 1)
    #expect(new.media[1].localSSRC == first.media[1].localSSRC)
    #expect(new.media[1].localRetransmissionSSRC == first.media[1].localRetransmissionSSRC)
  }

  @Test("a recycled section may change its kind")
  func changedKind() throws {
    let offer = try recorded("chromium156_offer")
    var negotiator = Negotiator.seeded()
    _ = try negotiator.answer(to: offer)
    var swapped = try SessionDescription(parsing: offer)
    swapped.sections.swapAt(1, 2)
    let (answer, session) = try negotiator.answer(to: swapped.text)
    #expect(answer.sections.map(\.mediaLine.kind) == ["audio", "application", "video"])
    #expect(session.media.map(\.index) == [0, 2])
  }

  @Test("a changed direction is applied")
  func direction() throws {
    let offer = try recorded("chromium156_offer")
    var negotiator = Negotiator.seeded()
    _ = try negotiator.answer(to: offer)
    let (_, held) = try negotiator.answer(to: try offer.changing("a=sendrecv", to: "a=inactive"))
    #expect(held.media.map { $0.sends || $0.receives } == [false, false])
    let (_, back) = try negotiator.answer(to: offer)
    #expect(back.media.map { $0.sends && $0.receives } == [true, true])
  }

  @Test("our later offer keeps the order of all sections, including refused ones, and the remote payload types and ids")
  func laterOfferOfOurs() throws {
    var negotiator = Negotiator.seeded()
    let (answer, _) = try negotiator.answer(to: try recorded("firefox153_offer"))
    let offer = try SessionDescription(parsing: negotiator.createOffer())
    #expect(
      offer.sections.map(\.mediaLine.text) == [
        "audio 9 UDP/TLS/RTP/SAVPF 109", "video 9 UDP/TLS/RTP/SAVPF 120 124",
        "application 0 UDP/DTLS/SCTP webrtc-datachannel",
      ])
    #expect(offer.sections.map(\.mid) == ["0", "1", "2"])
    #expect(offer.bundles == [["0", "1"]])
    for (ours, before) in zip(offer.sections, answer.sections) {
      #expect(ours.attributes("extmap") == before.attributes("extmap"))
      #expect(ours.attributes("ssrc") == before.attributes("ssrc"))
    }
  }

  @Test("our later offer adds a missing section with unused payload types and ids")
  func addedByUs() throws {
    let text = try recorded("firefox153_offer").changing("BUNDLE 0 1 2", to: "BUNDLE 0")
      .changing("a=extmap:1 ", to: "a=extmap:13 ").changing("109", to: "96")
    var audioOnly = try SessionDescription(parsing: text)
    audioOnly.sections = [audioOnly.sections[0]]
    var negotiator = Negotiator.seeded(sending: [.video])
    _ = try negotiator.answer(to: audioOnly.text)
    #expect(negotiator.needsOffer)

    let offer = try SessionDescription(parsing: negotiator.createOffer())
    #expect(offer.sections[0].mediaLine.formats == ["96"])
    #expect(
      offer.sections[1].mediaLine.text
        == "video 9 UDP/TLS/RTP/SAVPF 97 98 108 109 116 117 112 113 99 100 101 102 106 107 118 119 120 121")
    #expect(offer.sections[1].mid == "1" && offer.bundles == [["0", "1"]])
    let maps = offer.sections.map { $0.attributes("extmap").compactMap { HeaderExtensionMap(parsing: $0) } }
    let names = Dictionary(maps[0].map { ($0.id, $0.uri) }, uniquingKeysWith: { first, _ in first })
    for map in maps[1] {
      #expect(names[map.id] ?? map.uri == map.uri)
    }
    #expect(Set(maps[1].map(\.id)).count == 6)
    #expect(maps[1].contains { $0.id == 3 && $0.uri.hasSuffix("sdes:mid") })
  }

  @Test("starting to send a kind changes the next offer")
  func sending() throws {
    var negotiator = Negotiator.seeded(sending: [])
    _ = try negotiator.answer(to: try recorded("chromium156_offer"))
    #expect(!negotiator.needsOffer)
    negotiator.setSending(true, of: .audio)
    #expect(negotiator.needsOffer)
    let offer = try SessionDescription(parsing: negotiator.createOffer())
    #expect(offer.sections.prefix(2).map(\.direction) == [.sendAndReceive, .receiveOnly])
    #expect(offer.sections[0].attribute("ssrc")?.hasPrefix("\(negotiator.local.audio.ssrc) ") == true)
  }

  @Test("an offer of a new session from the same peer is answered")
  func newPeer() throws {
    var negotiator = Negotiator.seeded()
    _ = try negotiator.answer(to: try recorded("chromium156_offer"))
    let (answer, session) = try negotiator.answer(to: try recorded("plan_b_offer"))
    #expect(answer.sections.count == 2 && session.media.count == 2)
    #expect(session.isICERestart)
  }
}

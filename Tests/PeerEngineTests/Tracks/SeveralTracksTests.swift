import Media
import NIOCore
import PeerEngine
import RTP
import SDP
import Signalling
import TestSupport
import Testing

@Suite("Several tracks of a kind")
struct SeveralTracksTests {
  @Test("a second video of an offer is accepted, and is stream 2")
  func secondVideo() throws {
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: try recorded("offer_two_videos"))
    #expect(session.rejected.isEmpty)
    #expect(session.media.map(\.kind) == [.audio, .video, .video])
    #expect(session.media.map(\.stream) == [1, 1, 2])
    #expect(answer.sections.map(\.direction) == [.sendAndReceive, .sendAndReceive, .receiveOnly])
    #expect(answer.bundles == [["0", "1", "2"]])
    // RTCP of each section comes from an SSRC of its own.
    #expect(Set(session.media.map(\.localSSRC)).count == 3)
  }

  @Test("media that is sent back has a section for each stream")
  func everySection() throws {
    var negotiator = Negotiator.seeded { $0.sendsInEverySection = true }
    let (answer, session) = try negotiator.answer(to: try recorded("offer_two_videos"))
    #expect(session.media.map(\.sends) == [true, true, true])
    #expect(session.media.map(\.localStream) == [1, 1, 2])
    let ids = answer.sections.compactMap { $0.attribute("msid") }
    #expect(ids.count == 3 && Set(ids).count == 3)
    #expect(Set(ids.map { $0.prefix { $0 != " " } }).count == 2)
  }

  @Test("a Plan B section with two videos gives a track for each, with its sources")
  func planB() throws {
    let first = "6e1d9a34-77c8-4b5e-8f20-d0c93b514a6f\r\n"
    let offer = try recorded("plan_b_offer").changing(
      first,
      to: first
        + "a=ssrc-group:FID 7 8\r\na=ssrc:7 cname:x\r\na=ssrc:7 msid:screen track\r\na=ssrc:8 msid:screen track\r\n")
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: offer)
    #expect(answer.sections.count == 2)
    #expect(session.media.map(\.index) == [0, 1, 1])
    #expect(session.media.map(\.ordinal) == [0, 0, 1])
    #expect(session.media.map(\.stream) == [1, 1, 2])
    #expect(session.media.map(\.sends) == [true, true, false])
    #expect(session.media[1].remoteSources.map(\.ssrc) == [2_985_140_672])
    #expect(session.media[2].remoteSources.map(\.ssrc) == [7])
    #expect(session.media[2].remoteSources.map(\.retransmissionSSRC) == [8])
    #expect(session.media[2].streamID == "screen")
  }

  @Test("of more than 16 sections, those in which media flows are used first, and the others are named")
  func sectionLimit() throws {
    var offer = try recorded("offer_two_videos").changing("BUNDLE 0 1 2", to: "BUNDLE " + mids(0..<24))
    let parts = offer.components(around: "m=video")
    let last = try #require(parts.last)
    for number in 3..<24 {
      let section = try last.changing("a=mid:2", to: "a=mid:\(number)")
      offer += number == 23 ? section : try section.changing("a=sendrecv", to: "a=inactive")
    }
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: offer)
    #expect(session.media.count == 16)
    #expect(session.media.last?.index == 23)
    #expect(session.media.filter(\.receives).map(\.stream) == [1, 1, 2, 3])
    #expect(session.rejected.map(\.reason) == Array(repeating: .tooManySections, count: 8))
    #expect(
      session.rejected.first?.description
        == "We refused the video of section 15: we support 16 media sections.")
    #expect(answer.sections.count { $0.mediaLine.port == 0 } == 8)
  }

  private func mids(_ range: Range<Int>) -> String { range.map { "\($0)" }.joined(separator: " ") }

  @Test(
    "of the profiles of VP9 those with colours at half the width and height are accepted, in the order of the offer")
  func profiles() throws {
    let offer = try recorded("chromium156_offer")
    var preferring = Negotiator.seeded { $0.codecs.video = [.vp9] }
    let (answer, session) = try preferring.answer(to: offer)
    #expect(session.media.last?.codec == .vp9 && session.media.last?.alternatives == [])
    let type = try #require(session.media.last?.payloadType)
    #expect(answer.sections[1].payloads.count == 2 && offer.contains("a=fmtp:\(type) profile-id=0"))

    var deep = Negotiator.seeded(sending: []) { $0.codecs.video = [.vp9] }
    let (second, both) = try deep.answer(to: try offer.changing("profile-id=0", to: "profile-id=1"))
    #expect(both.media.last?.format.profile == "2")
    let number = try #require(both.media.last?.payloadType)
    #expect(second.sections[1].attributes("fmtp").first == "\(number) profile-id=2")

    var without = Negotiator.seeded { $0.codecs.video = [.vp9] }
    let others = offer.replacing("profile-id=0", with: "profile-id=3").replacing("profile-id=2", with: "profile-id=3")
    let (_, refused) = try without.answer(to: others)
    #expect(refused.rejected.first?.reason == .noSupportedCodec)
    #expect(refused.rejected.first?.offered.contains("VP9 with profile-id 3") == true)
  }

  @Test("where we send VP9 of 8 bits, no format of 10 bits is offered or chosen")
  func sentProfile() throws {
    var caller = Negotiator.seeded(sending: [.video]) { $0.codecs.sent = [.video: .vp9] }
    let ours = try SessionDescription(parsing: caller.createOffer())
    #expect(ours.sections.last?.payloads == ["98", "99"])
    let offer = try recorded("chromium156_offer")
    let swapped = offer.replacing("profile-id=0", with: "profile-id=9").replacing("profile-id=2", with: "profile-id=0")
      .replacing("profile-id=9", with: "profile-id=2")
    for sends in [true, false] {
      var negotiator = Negotiator.seeded(sending: sends ? [.video] : []) {
        $0.codecs.video = [.vp9]
        if sends { $0.codecs.sent = [.video: .vp9] }
      }
      let (_, session) = try negotiator.answer(to: swapped)
      #expect(session.media.last?.format.profile == (sends ? "0" : "2"))
    }
  }

  @Test("header extensions with ids above 14 are used if the offer allows both forms")
  func mixedExtensions() throws {
    let offer = try recorded("offer_two_videos").changing(
      "a=mid:0\r\n", to: "a=mid:0\r\na=extmap:20 urn:ietf:params:rtp-hdrext:sdes:mid\r\n")
    var strict = Negotiator.seeded()
    let (_, plain) = try strict.answer(to: offer)
    var lenient = Negotiator.seeded()
    let (answer, mixed) = try lenient.answer(
      to: try offer.changing("t=0 0\r\n", to: "t=0 0\r\na=extmap-allow-mixed\r\n"))
    #expect(plain.media[0].extensions.mid != 20)
    #expect(mixed.media[0].extensions.mid == 20)
    #expect(answer.hasAttribute("extmap-allow-mixed"))
  }

  @Test("two videos of a sender arrive as two streams; the second stops, and continues with the same number")
  func call() throws {
    var pair = try EnginePair(bobSends: [])
    pair.alice.engine.setSending(true, of: .video, stream: 2)
    try pair.connect()
    send(&pair, frames: 0..<30, streams: [1, 2])
    #expect(pair.bob.counts == [1: 30, 2: 30])
    #expect(pair.bob.streams.map(\.number) == [1, 2])

    pair.alice.engine.setSending(false, of: .video, stream: 2)
    pair.alice.engine.offer(now: pair.now)
    pair.run(for: .milliseconds(100))
    send(&pair, frames: 30..<60, streams: [1, 2])
    #expect(pair.bob.counts == [1: 60, 2: 30])
    #expect(pair.bob.streams.last == MediaStream(owner: ParticipantID("alice"), number: 2))

    pair.alice.engine.setSending(true, of: .video, stream: 2)
    pair.alice.engine.offer(now: pair.now)
    pair.run(for: .milliseconds(100))
    send(&pair, frames: 60..<90, streams: [1, 2])
    // It continues with the last frame of the pause, which its viewers have missed.
    #expect(pair.bob.counts == [1: 90, 2: 61])
    let statistics = pair.bob.engine.statistics.received
    #expect(statistics[TrackID(of: ParticipantID("alice"), stream: 2, kind: .video)]?.packetsLost == 0)
  }

  @Test("what is sent back in each section returns with the number of its stream")
  func loopback() throws {
    var pair = try EnginePair(bobSends: [.audio, .video])
    pair.bob.engine.sendInEverySection()
    pair.alice.engine.setSending(true, of: .video, stream: 2)
    try pair.connect()
    send(&pair, frames: 0..<30, streams: [1, 2], returning: true)
    #expect(pair.bob.counts == [1: 30, 2: 30])
    #expect(pair.alice.counts == [1: 30, 2: 30])
    #expect(
      pair.alice.frames.allSatisfy { frame in frame.payload.getInteger(at: 10, as: UInt8.self) == UInt8(frame.stream) })
  }

  /// Sends video frames in some streams of Alice's, 30 a second.
  private func send(_ pair: inout EnginePair, frames: Range<Int>, streams: [Int], returning: Bool = false) {
    for number in frames {
      for stream in streams {
        // Each is a keyframe, with its stream's number in the payload.
        var payload = ByteBuffer(bytes: [0x10, 0, 0, 0x9D, 0x01, 0x2A, 64, 0, 64, 0, UInt8(stream)])
        payload.writeRepeatingByte(UInt8(truncatingIfNeeded: number), count: 200)
        let frame = EncodedFrame(
          owner: ParticipantID("alice"), stream: stream, codec: .vp8,
          time: MediaTime(ticks: Int64(number) * 3_000, rate: 90_000), payload: payload, isKeyframe: true,
          arrival: pair.now.instant)
        pair.alice.engine.send(frame, now: pair.now)
      }
      let before = pair.bob.frames.count
      pair.run(for: .milliseconds(33))
      if returning {
        for frame in pair.bob.frames.dropFirst(before) { pair.bob.engine.send(frame, times: .ofTrack, now: pair.now) }
      }
    }
    pair.run(for: .milliseconds(500))
  }
}

extension EnginePair.Side {
  /// The number of frames that have arrived of each stream.
  fileprivate var counts: [Int: Int] { frames.reduce(into: [:]) { $0[$1.stream, default: 0] += 1 } }
  /// The streams that the participant's descriptions have named.
  fileprivate var streams: [MediaStream] {
    events.compactMap { event in
      if case .media(.described(let stream)) = event { stream } else { nil }
    }
  }
}

extension String {
  /// Returns the text from the last occurrence of a marker, after the text before it.
  fileprivate func components(around marker: String) -> [String] {
    var (rest, before) = (self[...], "")
    while let found = rest.dropFirst().firstRange(of: marker) {
      before += rest[..<found.lowerBound]
      rest = rest[found.lowerBound...]
    }
    return [before, String(rest)]
  }
}

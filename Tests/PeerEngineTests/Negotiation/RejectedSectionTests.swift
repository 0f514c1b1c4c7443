import Media
import PeerEngine
import SDP
import Signalling
import Testing

@Suite("Media sections that are rejected")
struct RejectedSectionTests {
  @Test(
    "each rejected section is described by what is offered and what is supported",
    arguments: [
      ("H264/90000", "H263/90000", "only H263 is offered, but we support VP8, H264, VP9, AV1 and H265"),
      (
        "42e01f", "f4001f",
        "only H264 with profile-level-id f4001f is offered, but we support VP8, H264, VP9, AV1 and H265"
      ),
      (
        "42e01f", "nonsense",
        "only H264 with profile-level-id nonsense is offered, but we support VP8, H264, VP9, AV1 and H265"
      ),
      (
        "packetization-mode=1", "packetization-mode=2",
        "only H264 with packetization-mode 2 is offered, but we support VP8, H264, VP9, AV1 and H265"
      ),
      ("106 H264/90000", "106 H264/48000", "only H264/48000 is offered, but we support VP8, H264, VP9, AV1 and H265"),
    ])
  func sentence(old: String, new: String, expected: String) throws {
    var negotiator = Negotiator.seeded()
    let (_, session) = try negotiator.answer(to: try recorded("offer_h264_only").changing(old, to: new))
    let expected = "We refused the video of section 1: \(expected)."
    #expect(session.rejected.map(\.description) == [expected])
    #expect(session.rejected.map(\.isUnexpected) == [true])
  }

  @Test("AV1 of another profile is named by it, and is used with any level and tier", arguments: [1, 2])
  func otherProfile(profile: Int) throws {
    let h264 = "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f"
    let offer = try recorded("offer_h264_only").changing("106 H264/90000", to: "106 AV1/90000")
    var refusing = Negotiator.seeded()
    let (_, refused) = try refusing.answer(to: offer.changing(h264, to: "level-idx=5;profile=\(profile);tier=0"))
    #expect(
      refused.rejected.map(\.description) == [
        """
        We refused the video of section 1: only AV1 with profile \(profile) is offered, but we support VP8, H264, VP9, AV1 and \
        H265.
        """
      ])
    for parameters in ["level-idx=19;profile=0;tier=1", "tier=0", "level-idx=31"] {
      var accepting = Negotiator.seeded()
      let (_, session) = try accepting.answer(to: offer.changing(h264, to: parameters))
      #expect(session.rejected.isEmpty && session.media.contains { $0.codec == .av1 })
    }
  }

  @Test("an unknown protocol, a missing rtcp-mux, another bundle and an unknown kind each have their own sentence")
  func otherReasons() throws {
    let offer = try recorded("offer_two_videos").changing("m=video 9 UDP/TLS/RTP/SAVPF", to: "m=video 9 RTP/AVP")
    var negotiator = Negotiator.seeded()
    let (_, session) = try negotiator.answer(to: offer + "m=text 9 UDP/TLS/RTP/SAVPF 98\r\na=mid:3\r\n")
    #expect(
      session.rejected.map(\.description) == [
        "We refused the video of section 1: protocol \"RTP/AVP\" is not supported; we support UDP/TLS/RTP/SAVPF.",
        "We refused the video of section 2: protocol \"RTP/AVP\" is not supported; we support UDP/TLS/RTP/SAVPF.",
        "We refused the content of section 3: \"text\" is neither audio, video nor data channels.",
      ])

    let single = try recorded("offer_h264_only").changing("H264", to: "VP8").changing("BUNDLE 0 1", to: "BUNDLE 0")
    let (_, apart) = try negotiator.answer(to: single)
    #expect(apart.rejected.map(\.reason) == [.separateTransport])
    let (_, unmultiplexed) = try negotiator.answer(to: try single.replacingLast("a=rtcp-mux\r\n", with: ""))
    #expect(unmultiplexed.rejected.map(\.reason) == [.noRTCPMultiplexing])
  }

  @Test("a section in which nothing would have flowed, or that its own side stopped, is not missed")
  func nothingMissed() throws {
    var receiver = Negotiator.seeded(sending: [])
    let offer = try recorded("offer_h264_only").changing("H264", to: "H263")
    let (_, session) = try receiver.answer(
      to: try offer.replacingLast("a=sendrecv", with: "a=recvonly"))
    #expect(session.rejected.map(\.isUnexpected) == [false])
    // A sender of video would have sent there.
    var sender = Negotiator.seeded()
    let (_, missed) = try sender.answer(
      to: try offer.replacingLast("a=sendrecv", with: "a=recvonly"))
    #expect(missed.rejected.map(\.isUnexpected) == [true])
    let (_, stopped) = try sender.answer(to: try recorded("offer_h264_only").changing("m=video 9", to: "m=video 0"))
    #expect(stopped.rejected.map(\.reason) == [.stoppedByParticipant])
    #expect(stopped.rejected.map(\.isUnexpected) == [false])
  }

  @Test("a section of ours that an answer rejects is described, unless nothing would have flowed in it")
  func rejectedByAnswer() throws {
    let answer = try recorded("chromium156_answer_to_chatbot").changing("m=video 9", to: "m=video 0")
    var negotiator = Negotiator.seeded()
    _ = negotiator.createOffer()
    let session = try #require(try negotiator.receivedAnswer(answer))
    #expect(
      session.rejected.map(\.description) == [
        "The participant refused our video of section 1; we offered VP8, H264, VP9, AV1 and H265."
      ])
    var audioOnly = Negotiator.seeded(sending: [.audio], receiving: [.audio])
    _ = audioOnly.createOffer()
    let quiet = try #require(try audioOnly.receivedAnswer(answer))
    #expect(quiet.rejected.map(\.isUnexpected) == [false])
  }

  @Test("what they wrote is bounded and printable")
  func bounded() throws {
    let names = (0..<30).map { "X\($0)\u{1B}[31m" + String(repeating: "y", count: 200) }
    let section = RejectedSection(
      index: 1, kind: "video\u{202E}" + String(repeating: "z", count: 500), reason: .noSupportedCodec,
      offered: names + names, supported: ["VP8"])
    #expect(section.offered.count == 8)
    #expect(section.description.utf8.count < 600)
    #expect(!section.description.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x202E })
  }

  @Test("each rejected section is reported once, before the answer, and again only when what is rejected changes")
  func reportedOnce() throws {
    var pair = try EnginePair(offersAlice: false)
    let offer = try recorded("offer_two_videos").changing("VP8", to: "H263")
    for _ in 0..<3 { pair.deliverToBob(.offer(offer)) }
    #expect(pair.bob.events.rejected.map(\.index) == [1, 2])
    let answer = try #require(
      pair.bob.events.firstIndex { if case .signal(.answer) = $0 { true } else { false } })
    let report = try #require(
      pair.bob.events.firstIndex { if case .sectionRejected = $0 { true } else { false } })
    #expect(report < answer)
    // Now both are rejected for another reason than before.
    for _ in 0..<3 { pair.deliverToBob(.offer(try offer.changing("H263", to: "H261"))) }
    #expect(pair.bob.events.rejected.map(\.index) == [1, 2, 1, 2])
    pair.deliverToBob(.offer(offer))
    #expect(pair.bob.events.rejected.map(\.index) == [1, 2, 1, 2, 1, 2])
  }

  @Test("an offer of which nothing can be used is reported section by section, besides the problem")
  func nothingUsable() throws {
    var pair = try EnginePair(offersAlice: false)
    let offer = try recorded("offer_h264_only").changing("opus", to: "speex").changing(
      "speex/48000/2", to: "speex/16000"
    ).changing("H264", to: "H263")
    for _ in 0..<3 { pair.deliverToBob(.offer(offer)) }
    #expect(
      pair.bob.events.rejected.map(\.description) == [
        "We refused the audio of section 0: only speex is offered, but we support opus, G722, PCMU and PCMA.",
        "We refused the video of section 1: only H263 is offered, but we support VP8, H264, VP9, AV1 and H265.",
      ])
    #expect(
      Set(pair.bob.events.compactMap(\.problem)) == ["The offer cannot be used: none of its media can be used."])
  }

  @Test("a participant whose offers alternate causes a bounded number of reports")
  func alternating() throws {
    var pair = try EnginePair(offersAlice: false)
    let offer = try recorded("offer_two_videos")
    for round in 0..<200 {
      pair.deliverToBob(.offer(round.isMultiple(of: 2) ? offer : try offer.changing("VP8", to: "X\(round)")))
    }
    #expect(pair.bob.events.rejected.count <= 20)
  }

  @Test("what a participant sends is reported after the first exchange and when it changes, refused codecs included")
  func announced() throws {
    func kinds(_ offers: [String]) throws -> [Set<MediaKind>] {
      var pair = try EnginePair(offersAlice: false)
      for offer in offers { pair.deliverToBob(.offer(offer)) }
      return pair.bob.events.compactMap { if case .mediaAnnounced(let kinds) = $0 { kinds } else { nil } }
    }
    let offer = try recorded("offer_two_videos")
    let listening = offer.replacing("a=sendrecv", with: "a=recvonly").replacing("a=sendonly", with: "a=recvonly")
    #expect(try kinds([offer, offer]) == [[.audio, .video]])
    #expect(try kinds([listening, listening, offer, listening]) == [[], [.audio, .video], []])
    let refused = try recorded("offer_h264_only").changing("H264", to: "H263")
    #expect(try kinds([refused]) == [[.audio, .video]])
    // A section that we refuse counts, whatever its direction.
    #expect(try kinds([refused.replacing("a=sendrecv", with: "a=recvonly")]) == [[.video]])
  }
}

extension [PeerEvent] {
  var rejected: [RejectedSection] {
    compactMap { if case .sectionRejected(let section) = $0 { section } else { nil } }
  }
}

extension String {
  /// Returns the text with the last occurrence of `old` replaced; there must be one.
  func replacingLast(_ old: String, with new: String) throws -> String {
    let found = try #require(ranges(of: old).last, "The text does not contain \"\(old)\".")
    var text = self
    text.replaceSubrange(found, with: new)
    return text
  }
}

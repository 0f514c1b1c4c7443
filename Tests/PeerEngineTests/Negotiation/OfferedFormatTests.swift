import Media
import PeerEngine
import SDP
import Testing

@Suite("The formats of our offers")
struct OfferedFormatTests {
  private func offer(_ negotiator: inout Negotiator) throws -> SessionDescription {
    try SessionDescription(parsing: negotiator.createOffer())
  }

  @Test("they are those of the options in their order, or of the source alone")
  func codecs() throws {
    var chosen = Negotiator.seeded { ($0.codecs.video, $0.codecs.audio) = ([.vp9, .vp8], [.pcma, .opus]) }
    #expect(try offer(&chosen).sections.map(\.payloads) == [["8", "111"], ["98", "99", "100", "101", "96", "97"]])
    var source = Negotiator.seeded { $0.codecs.sent = [.video: .h264, .audio: .opus] }
    #expect(try offer(&source).sections.map(\.payloads) == [["111"], ["108", "109", "116", "117", "112", "113"]])
    var receiving = Negotiator.seeded(sending: [.audio]) { $0.codecs.sent = [.video: .h264, .audio: .opus] }
    #expect(try offer(&receiving).sections[1].payloads.count == 18)
  }

  @Test("an answer may keep several formats: each is known by its payload type, with its own RTX")
  func severalAnswered() throws {
    var negotiator = Negotiator.seeded()
    let text = try recorded("chromium156_answer_to_chatbot").changing(
      "SAVPF 96 97", to: "SAVPF 116 117 98 99 96 97"
    ).changing(
      "a=fmtp:97 apt=96\r\n",
      to: """
        a=fmtp:97 apt=96\r
        a=rtpmap:98 VP9/90000\r
        a=rtpmap:99 rtx/90000\r
        a=fmtp:99 apt=98\r
        a=rtpmap:116 H264/90000\r
        a=rtcp-fb:116 nack pli\r
        a=fmtp:116 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=4d001f\r
        a=rtpmap:117 rtx/90000\r
        a=fmtp:117 apt=116\r

        """)
    _ = negotiator.createOffer()
    let media = try #require(try negotiator.receivedAnswer(text)).media[1]
    #expect(media.codec == .h264 && media.format.h264?.profile == .main)
    #expect(media.feedback.pictureLossIndication && !media.feedback.nack)
    #expect(media.alternatives.map(\.codec) == [.vp9, .vp8])
    #expect([96, 97, 98, 99, 116, 117].map { media.format(of: $0)?.codec } == [.vp8, .vp8, .vp9, .vp9, .h264, .h264])
    #expect(media.format(of: UInt8(100)) == nil)
    // All of them are kept in our next offer, with our level.
    let next = try offer(&negotiator)
    #expect(next.sections[1].payloads == ["116", "117", "98", "99", "96", "97"])
    #expect(next.sections[1].attributes("fmtp")[0].hasSuffix("profile-level-id=4d0034"))
  }

  @Test("Chromium's answer keeps all codecs that it has, RED and the dependency descriptor")
  func chromium() throws {
    var negotiator = Negotiator.seeded { $0.codecs.acceptsRedundantAudio = true }
    let ours = try offer(&negotiator)
    let session = try #require(try negotiator.receivedAnswer(try recorded("chromium156_answer_all_codecs")))
    let (audio, video) = (session.media[0], session.media[1])
    #expect(ours.sections[0].payloads == ["63", "111", "9", "0", "8"])
    #expect(audio.redundancyPayloadType == 63 && audio.payloadType == 111)
    #expect(([audio.format] + audio.alternatives).map(\.codec) == [.opus, .g722, .pcmu, .pcma])
    #expect(video.payloadType == 96 && video.alternatives.map(\.payloadType) == [108, 116, 98])
    #expect(video.alternatives.map(\.retransmissionPayloadType) == [109, 117, 99])
    #expect(video.alternatives.map { $0.h264?.profile } == [.constrainedBaseline, .main, nil])
    #expect(video.extensions.dependencyDescriptor == 12)
    #expect(audio.receives && !audio.sends && session.rejected.isEmpty)
  }

  @Test(
    "an answer with another profile than we offered, or without a packetization mode, is used all the same",
    arguments: ["42001f", "640028"])
  func otherProfile(id: String) throws {
    var negotiator = Negotiator.seeded { $0.codecs.video = [.h264] }
    _ = negotiator.createOffer()
    let text = try recorded("chromium156_answer_to_chatbot").section("video", ["H264/90000 profile-level-id=\(id)"])
    let session = try #require(try negotiator.receivedAnswer(text))
    #expect(session.media[1].codec == .h264 && session.media[1].payloadType == 96)
    #expect(session.media[1].format.h264?.packetizationMode == 0)
  }

  @Test("an answer without our source's codec, or in mode 0 for H.264, receives nothing from us")
  func unaccepted() throws {
    for formats in [["VP8/90000"], ["H264/90000"]] {
      var negotiator = Negotiator.seeded { $0.codecs.sent = [.video: .h264] }
      _ = negotiator.createOffer()
      let text = try recorded("chromium156_answer_to_chatbot").section("video", formats)
      let session = try #require(try negotiator.receivedAnswer(text))
      #expect(!session.media[1].sends && session.media[1].receives && session.unacceptedCodecs == [.h264])
    }
  }

  @Test("a refused section names the codec of our source, unless it is one that everybody has")
  func refused() throws {
    let refusing = try recorded("chromium156_answer_to_chatbot").changing("m=video 9", to: "m=video 0").changing(
      "BUNDLE 0 1", to: "BUNDLE 0")
    for (codec, named) in [(Codec.h264, Set([Codec.h264])), (.vp8, [])] {
      var negotiator = Negotiator.seeded { $0.codecs.sent = [.video: codec] }
      _ = negotiator.createOffer()
      let session = try #require(try negotiator.receivedAnswer(refusing))
      #expect(session.unacceptedCodecs == named && session.rejected.map(\.reason) == [.rejectedByParticipant])
      #expect(!negotiator.needsOffer)
    }
  }

  @Test("a section that only receives, because our codec is not accepted, stays one in our later offers")
  func keptReceiveOnly() throws {
    var negotiator = Negotiator.seeded { $0.codecs.sent = [.video: .h264] }
    _ = negotiator.createOffer()
    let answer = try recorded("chromium156_answer_to_chatbot")
    #expect(try negotiator.receivedAnswer(answer)?.media.last?.codec == .vp8)
    let next = try offer(&negotiator)
    #expect(next.sections[1].payloads == ["96", "97"] && next.sections[1].direction == .receiveOnly)
  }

  @Test("a second section of a kind repeats the payload types of the first")
  func secondSection() throws {
    var negotiator = Negotiator.seeded { $0.furtherStreams = [[.audio, .video]] }
    let sections = try offer(&negotiator).sections
    #expect(sections.count == 4)
    for kind in ["audio", "video"] {
      let same = sections.filter { $0.mediaLine.kind == kind }
      #expect(same.count == 2 && same[0].payloads == same[1].payloads)
      #expect(same[0].attributes("fmtp") == same[1].attributes("fmtp"))
    }
  }

  @Test("the dependency descriptor is in our offers of video, which allow two-byte headers for it")
  func dependencyDescriptor() throws {
    let uri = "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"
    var negotiator = Negotiator.seeded()
    let sent = try offer(&negotiator)
    #expect(sent.sections.map { $0.attributes("extmap").contains("12 \(uri)") } == [false, true])
    #expect(sent.hasAttribute("extmap-allow-mixed"))
    let plain = try recorded("chromium156_answer_to_chatbot")
    let answer = try plain.changing("a=mid:1\r\n", to: "a=mid:1\r\na=extmap:12 \(uri)\r\n").changing(
      "t=0 0\r\n", to: "t=0 0\r\na=extmap-allow-mixed\r\n")
    let session = try #require(try negotiator.receivedAnswer(answer))
    #expect(session.media.map(\.extensions.dependencyDescriptor) == [nil, 12])
    #expect(try offer(&negotiator).hasAttribute("extmap-allow-mixed"))

    var callee = Negotiator.seeded()
    let offered = try recorded("chromium156_offer").changing("a=mid:1\r\n", to: "a=mid:1\r\na=extmap:9 \(uri)\r\n")
    let (answered, accepted) = try callee.answer(to: offered)
    #expect(accepted.media.map(\.extensions.dependencyDescriptor) == [nil, 9])
    #expect(answered.sections[1].attributes("extmap").contains("9 \(uri)"))

    // A participant that does not allow both forms is not offered them again.
    var strict = Negotiator.seeded()
    _ = strict.createOffer()
    _ = try strict.receivedAnswer(plain)
    #expect(try !offer(&strict).hasAttribute("extmap-allow-mixed"))
  }
}

@Suite("Redundant audio (RED)")
struct RedundancyNegotiationTests {
  private func negotiator(_ adjust: (inout TrackSettings) -> Void = { _ in }) -> Negotiator {
    Negotiator.seeded {
      $0.codecs.acceptsRedundantAudio = true
      adjust(&$0)
    }
  }

  @Test("packets of RED from webrtcbin, which have no mid, belong to the audio")
  func withoutMid() throws {
    var negotiator = Negotiator.seeded { $0.codecs.acceptsRedundantAudio = true }
    let session = try negotiator.answer(to: try recorded("gstreamer122_offer_red")).session
    #expect(session.media.map(\.redundancyPayloadType) == [nil, 63])
    var router = StreamRouter()
    router.configure(session.media)
    for ssrc in session.media.flatMap(\.remoteSources).map(\.ssrc).dropFirst() + [77] {
      let route = router.route(ssrc: ssrc, payloadType: 63) {
        StreamRouter.Identifiers(mid: nil, streamID: nil, repairedStreamID: nil)
      }
      #expect(route?.payloadType == 111 && route?.isRedundant == true)
    }
  }

  @Test("in an answer it stands before the codec that it repeats, with the offer's payload type")
  func answer() throws {
    var negotiator = negotiator()
    let (answer, session) = try negotiator.answer(to: try recorded("chromium156_offer"))
    #expect(answer.sections[0].payloads == ["63", "111"])
    #expect(answer.sections[0].attributes("rtpmap") == ["63 red/48000/2", "111 opus/48000/2"])
    #expect(answer.sections[0].attributes("fmtp") == ["63 111/111", "111 minptime=10;useinbandfec=1"])
    #expect(session.media.map(\.redundancyPayloadType) == [63, nil])
    #expect(session.media[0].codec == .opus && session.media[0].payloadType == 111)
    #expect(session.media[0].redundantFormat?.payloadType == 111)
    #expect(session.media[0].format(of: UInt8(63))?.codec == .opus)
    #expect(!answer.sections[1].attributes("rtpmap").contains { $0.contains("red/") })
    // Our later offer keeps it.
    let next = try SessionDescription(parsing: negotiator.createOffer())
    #expect(next.sections[0].payloads == ["63", "111"])
  }

  @Test(
    "it is accepted only if every listed type is that of the chosen codec",
    arguments: [
      ("63 111/111", true), ("63 111", true), ("63 111/111/111", true), ("63 111/9", false), ("63 9/9", false),
      ("63 111/", false), ("63 x/x", false), ("63 ", false), ("63 367/367", false), ("62 111/111", false),
    ])
  func listedTypes(parameters: String, isAccepted: Bool) throws {
    var negotiator = negotiator()
    let (answer, session) = try negotiator.answer(
      to: try recorded("chromium156_offer").changing("a=fmtp:63 111/111", to: "a=fmtp:\(parameters)"))
    #expect(session.media[0].redundancyPayloadType == (isAccepted ? 63 : nil))
    #expect(answer.sections[0].payloads == (isAccepted ? ["63", "111"] : ["111"]))
  }

  @Test("it is not accepted where it is not wanted, where nothing is received, or for another codec than it repeats")
  func unwanted() throws {
    let offer = try recorded("chromium156_offer")
    var plain = Negotiator.seeded()
    #expect(try plain.answer(to: offer).session.media[0].redundancyPayloadType == nil)
    var deaf = negotiator { $0.receiving = [] }
    #expect(try deaf.answer(to: offer).session.media[0].redundancyPayloadType == nil)
    var listener = negotiator()
    let receiving = try offer.changing("a=sendrecv", to: "a=recvonly")
    #expect(try listener.answer(to: receiving).session.media[0].redundancyPayloadType == nil)
    var gateway = negotiator { $0.codecs.audio = [.g722] }
    let (answer, session) = try gateway.answer(to: offer)
    #expect(session.media[0].redundancyPayloadType == nil && answer.sections[0].payloads == ["9"])
    var otherClock = negotiator()
    let slow = try offer.changing("red/48000/2", to: "red/8000")
    #expect(try otherClock.answer(to: slow).session.media[0].redundancyPayloadType == nil)
  }

  @Test("it repeats G.711 as well, at its clock rate")
  func otherCodec() throws {
    var negotiator = negotiator()
    let (answer, session) = try negotiator.answer(
      to: try recorded("offer_h264_only").section("audio", ["red/8000 112/112", "PCMU/8000"]))
    #expect(session.media[0].redundancyPayloadType == 111 && session.media[0].codec == .pcmu)
    #expect(answer.sections[0].attributes("rtpmap") == ["111 red/8000", "112 PCMU/8000"])
  }

  @Test("our offer has it before Opus, and an answer decides whether it comes")
  func offer() throws {
    let recorded = try recorded("chromium156_answer_to_chatbot")
    var negotiator = negotiator()
    let offer = try SessionDescription(parsing: negotiator.createOffer())
    #expect(offer.sections[0].payloads == ["63", "111", "9", "0", "8"])
    #expect(offer.sections[0].attributes("fmtp")[0] == "63 111/111")
    let answer = try recorded.changing("SAVPF 111", to: "SAVPF 63 111").changing(
      "a=rtpmap:111", to: "a=rtpmap:63 red/48000/2\r\na=fmtp:63 111/111\r\na=rtpmap:111")
    let media = try #require(try negotiator.receivedAnswer(answer)).media[0]
    #expect(media.redundancyPayloadType == 63 && media.codec == .opus && media.payloadType == 111)

    var refused = self.negotiator()
    _ = refused.createOffer()
    #expect(try refused.receivedAnswer(recorded)?.media[0].redundancyPayloadType == nil)

    var plain = Negotiator.seeded()
    _ = plain.createOffer()
    #expect(try plain.receivedAnswer(answer)?.media[0].redundancyPayloadType == nil)
    var sender = self.negotiator { $0.receiving = [] }
    #expect(try SessionDescription(parsing: sender.createOffer()).sections[0].payloads == ["111", "9", "0", "8"])
    var gateway = self.negotiator { $0.codecs.audio = [.g722, .opus] }
    #expect(try SessionDescription(parsing: gateway.createOffer()).sections[0].payloads == ["9", "63", "111"])
  }
}

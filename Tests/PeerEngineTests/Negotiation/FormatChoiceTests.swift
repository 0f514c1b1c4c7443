import Media
import NIOCore
import PeerEngine
import SDP
import Signalling
import Testing

@Suite("The format of an answer")
struct FormatChoiceTests {
  /// An offer of audio and video with formats of our choice.
  ///
  /// - Parameter video: the formats of video, each as in `a=rtpmap`, with its parameters after a space.
  private func offer(
    _ video: [String], audio: [String] = ["opus/48000/2"], direction: String = "sendrecv"
  ) throws -> String {
    try recorded("offer_h264_only").section("audio", audio, direction: direction).section(
      "video", video, direction: direction)
  }

  private static let h264 = "H264/90000 packetization-mode=1;level-asymmetry-allowed=1;profile-level-id="

  @Test(
    "it is the first of theirs that we support, in their order",
    arguments: [
      (["VP8/90000", "VP9/90000"], .vp8), (["VP9/90000", "VP8/90000"], .vp9), (["H264/90000", "VP8/90000"], .h264),
      (["AV1/90000 profile=1", "H266/90000", "VP9/90000 profile-id=1", "VP8/90000", "VP9/90000"], .vp8),
      (["AV1/90000", "VP8/90000"], .av1), (["AV1/90000 level-idx=9;profile=0;tier=1", "VP8/90000"], .av1),
      (["H265/90000", "VP8/90000"], .h265),
      (["H265/90000 profile-id=3", "H265/90000 tx-mode=MRST", "VP8/90000"], .vp8),
      (["\(h264)f4001f", "\(h264)640c1f", "VP8/90000"], .h264),
      (["\(h264)f4001f", "vp8/90000"], .vp8),
    ] as [([String], Codec)])
  func theirOrder(formats: [String], expected: Codec) throws {
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: try offer(formats))
    #expect(session.media[1].codec == expected && session.media[1].alternatives == [])
    #expect(answer.sections[1].payloads == ["\(session.media[1].payloadType)"])
    #expect(answer.sections[1].payloadFormats.count == 1)
  }

  @Test(
    "offers of real programs are answered with one format and its RTX",
    arguments: [
      ("chromium156_offer", ["111"], ["96", "97"]), ("firefox153_offer", ["109"], ["120", "124"]),
      ("ffmpeg_whip_offer", ["111"], ["106"]), ("obs_whip_offer", ["111"], ["96"]),
      ("aiortc140_offer", ["96"], ["97", "98"]), ("gstreamer122_offer_h264", ["8"], ["96"]),
    ])
  func realOffers(name: String, audio: [String], video: [String]) throws {
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: try recorded(name))
    #expect(answer.sections.first { $0.mediaLine.kind == "audio" }?.payloads == audio)
    #expect(answer.sections.first { $0.mediaLine.kind == "video" }?.payloads == video)
    #expect(session.rejected.allSatisfy { $0.kind == "application" })
    #expect(session.media.allSatisfy { $0.alternatives.isEmpty })
  }

  @Test("the codecs that somebody chose restrict and order the answer")
  func ourOrder() throws {
    let formats = ["VP8/90000", "VP9/90000", "H264/90000 packetization-mode=1"]
    for codecs in [[.h264, .vp8], [.vp9], [.vp8, .h264]] as [[Codec]] {
      var negotiator = Negotiator.seeded { $0.codecs.video = codecs }
      let (_, session) = try negotiator.answer(to: try offer(formats))
      #expect(session.media[1].codec == codecs[0])
    }
    var audio = Negotiator.seeded { $0.codecs.audio = [.pcma, .g722] }
    let (_, session) = try audio.answer(to: try recorded("chromium156_offer"))
    #expect(session.media[0].codec == .pcma && session.media[0].payloadType == 8)
    var none = Negotiator.seeded { $0.codecs.video = [.vp9] }
    let (_, refused) = try none.answer(to: try offer(["VP8/90000", "H264/90000"]))
    #expect(
      refused.rejected.map(\.description) == [
        "We refused the video of section 1: only VP8 and H264 are offered, but we support VP9."
      ])
  }

  @Test("where we send, it is one that our source has; where we do not, it need not be")
  func source() throws {
    let formats = ["VP8/90000", "VP9/90000", "H264/90000 packetization-mode=1"]
    for (direction, expected) in [("sendrecv", Codec.vp9), ("recvonly", .vp9), ("sendonly", .vp8)] {
      var negotiator = Negotiator.seeded { $0.codecs.sent = [.video: .vp9, .audio: .opus] }
      let (answer, session) = try negotiator.answer(to: try offer(formats, direction: direction))
      #expect(session.media[1].codec == expected)
      #expect(session.unacceptedCodecs.isEmpty)
      #expect(answer.sections[1].direction?.sends == (direction != "sendonly"))
    }
    var silent = Negotiator.seeded(sending: [.audio]) { $0.codecs.sent = [.video: .vp9, .audio: .opus] }
    #expect(try silent.answer(to: try offer(formats)).session.media[1].codec == .vp8)
  }

  @Test(
    "a section that accepts no codec of our source is answered as one that only receives, and the codec is named",
    arguments: [["VP8/90000"], ["H264/90000 packetization-mode=0", "VP8/90000"]])
  func unacceptedSource(formats: [String]) throws {
    var negotiator = Negotiator.seeded { $0.codecs.sent = [.video: .h264, .audio: .opus] }
    let (answer, session) = try negotiator.answer(to: try offer(formats))
    #expect(answer.sections[1].direction == .receiveOnly && !session.media[1].sends && session.media[1].receives)
    #expect(session.unacceptedCodecs == [.h264])
    #expect(!negotiator.needsOffer)
    // Our own later offer keeps what was agreed.
    let ours = try SessionDescription(parsing: negotiator.createOffer())
    #expect(ours.sections[1].payloads == answer.sections[1].payloads && ours.sections[1].direction == .receiveOnly)
    // They accept it later.
    _ = try negotiator.answer(to: try offer(["H264/90000 packetization-mode=1"]))
    #expect(negotiator.session?.media[1].sends == true && negotiator.session?.unacceptedCodecs == [])
  }

  @Test("a participant who does not accept our codec is reported once, until they accept it")
  func reported() throws {
    var codecs = CodecPreferences()
    codecs.sent = [.video: .h264]
    var pair = try EnginePair(offersAlice: false, bobCodecs: codecs)
    for _ in 0..<3 { pair.deliverToBob(.offer(try offer(["VP8/90000"]))) }
    #expect(
      pair.bob.events.compactMap(\.problem) == [
        "Our video is not sent: it is H.264, which the participant does not accept. A file can be encoded as another codec "
          + "while it plays (--live)."
      ])
    pair.deliverToBob(.offer(try offer(["H264/90000 packetization-mode=1"])))
    pair.deliverToBob(.offer(try offer(["VP8/90000"])))
    #expect(pair.bob.events.compactMap(\.problem).count == 2)
  }

  @Test("of formats of H.264, packetization mode 1 is preferred, mode 0 is accepted, and mode 2 never")
  func packetizationModes() throws {
    func choice(_ formats: [String]) throws -> (payloadType: UInt8, mode: UInt8?) {
      var negotiator = Negotiator.seeded()
      let media = try negotiator.answer(to: try offer(formats)).session.media[1]
      return (media.payloadType, media.format.h264?.packetizationMode)
    }
    #expect(try choice(["H264/90000 packetization-mode=0", "H264/90000 packetization-mode=1"]) == (97, 1))
    #expect(try choice(["H264/90000", "VP8/90000", "H264/90000 packetization-mode=1"]) == (98, 1))
    #expect(try choice(["H264/90000 packetization-mode=2", "H264/90000"]) == (97, 0))
    #expect(try choice(["H264/90000 packetization-mode=2", "VP8/90000"]) == (97, nil))
    // Another codec comes first all the same.
    #expect(try choice(["VP8/90000", "H264/90000 packetization-mode=1"]) == (96, nil))
  }

  @Test("the answer has their profile, with level 5.2 if they allow asymmetry, and says nothing of parameter sets")
  func profile() throws {
    var negotiator = Negotiator.seeded { $0.codecs.video = [.h264] }
    let (answer, session) = try negotiator.answer(to: try recorded("chromium156_offer"))
    #expect(
      answer.sections[1].attributes("fmtp") == [
        "102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=420034", "103 apt=102",
      ])
    #expect(session.media[1].format.h264?.profile == .baseline && session.media[1].retransmissionPayloadType == 103)
    #expect(session.media[1].feedback.pictureLossIndication && session.media[1].feedback.nack)

    var other = Negotiator.seeded()
    let (gstreamer, received) = try other.answer(to: try recorded("gstreamer122_offer_h264"))
    #expect(
      gstreamer.sections[0].attributes("fmtp") == [
        "96 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42c034"
      ])
    let media = received.media[0]
    #expect(media.format.parameterSets.map(\.readableBytes) == [14, 4])
    #expect(media.format.parameterSets.first?.getInteger(at: 0, as: UInt8.self) == 0x67)

    var fixed = Negotiator.seeded()
    let (strict, _) = try fixed.answer(to: try offer(["H264/90000 profile-level-id=64001f;packetization-mode=1"]))
    #expect(strict.sections[1].attributes("fmtp") == ["96 packetization-mode=1;profile-level-id=64001f"])
  }

  @Test("G.711 and G.722 are valid without a=rtpmap; comfort noise and tones are never chosen")
  func staticPayloadTypes() throws {
    for (payloadType, codec) in [("0", Codec.pcmu), ("8", .pcma), ("9", .g722)] {
      let text = try recorded("offer_h264_only").without("a=rtpmap:111", "a=fmtp:111").changing(
        "SAVPF 111", to: "SAVPF 13 \(payloadType)")
      var negotiator = Negotiator.seeded()
      let (answer, session) = try negotiator.answer(to: text)
      #expect(session.media[0].codec == codec && answer.sections[0].payloads == [payloadType])
      #expect(answer.sections[0].attribute("rtpmap") == "\(payloadType) \(codec.properties.encodingName)/8000")
    }
    let noise = try offer(["VP8/90000"], audio: ["CN/8000", "telephone-event/8000", "G722/16000", "PCMA/8000"])
    var negotiator = Negotiator.seeded()
    #expect(try negotiator.answer(to: noise).session.media[0].payloadType == 114)
    let (_, refused) = try negotiator.answer(
      to: try offer(["VP8/90000"], audio: ["CN/8000", "telephone-event/8000", "G722/16000"]))
    #expect(
      refused.rejected.map(\.cause) == ["only G722/16000 is offered, but we support opus, G722, PCMU and PCMA"])
  }

  @Test("G.711 of two channels is another format than that of one, which need not be written")
  func channels() throws {
    var negotiator = Negotiator.seeded()
    let both = try offer(["VP8/90000"], audio: ["PCMU/8000/2", "PCMA/8000/1"])
    #expect(try negotiator.answer(to: both).session.media[0].codec == .pcma)
    var other = Negotiator.seeded()
    let (_, refused) = try other.answer(to: try offer(["VP8/90000"], audio: ["PCMU/8000/2"]))
    #expect(refused.rejected.map(\.cause) == ["only PCMU/8000/2 is offered, but we support opus, G722, PCMU and PCMA"])
  }

  @Test("a format that was agreed is kept while it is offered, whatever comes first, and replaced when it is gone")
  func kept() throws {
    let high = "\(Self.h264)640c1f"
    var negotiator = Negotiator.seeded()
    func agreed(_ formats: [String]) throws -> NegotiatedMedia {
      try negotiator.answer(to: try offer(formats)).session.media[1]
    }
    #expect(try agreed([high, "VP8/90000"]).codec == .h264)
    // Under another number, behind others.
    let moved = try agreed(["VP8/90000", "\(Self.h264)42e01f", high])
    #expect(moved.payloadType == 98 && moved.format.h264?.profile == .constrainedHigh)
    // Our own later offer has only it.
    let ours = try SessionDescription(parsing: negotiator.createOffer())
    #expect(ours.sections[1].payloads == ["98"])
    #expect(
      ours.sections[1].attributes("fmtp") == [
        "98 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=640c34"
      ])
    let replaced = try agreed(["VP9/90000", "\(Self.h264)42e01f"])
    #expect(replaced.codec == .vp9)
    #expect(try agreed(["VP8/90000", "VP9/90000"]).codec == .vp9)
  }

  @Test("frames that are forwarded can be sent in each profile that the participant accepts")
  func forwardedProfiles() throws {
    let (p0, p2) = ("VP9/90000 profile-id=0", "VP9/90000 profile-id=2")
    for (formats, forwards, expected) in [
      (["VP8/90000", p0, p2], true, ["97", "98"]), ([p2, p0], true, ["97", "96"]), ([p2, "VP8/90000"], true, ["96"]),
      ([p2, p0], false, ["97"]), ([p2], false, ["96"]),
    ] {
      var negotiator = Negotiator.seeded(receiving: []) {
        ($0.codecs.sent, $0.codecs.sendsEachProfile) = ([.video: .vp9], forwards)
      }
      let (answer, session) = try negotiator.answer(to: try offer(formats, direction: "recvonly"))
      #expect(answer.sections[1].payloads == expected, "\(formats), \(forwards)")
      #expect(session.media[1].sends == (forwards || formats.contains(p0)))
      #expect(session.media[1].format(of: .vp9, profile: "2") != nil || !forwards)
      var caller = Negotiator.seeded(receiving: []) {
        ($0.codecs.sent, $0.codecs.sendsEachProfile) = ([.video: .vp9], forwards)
      }
      let ours = try SessionDescription(parsing: caller.createOffer())
      let profiles = ours.sections[1].attributes("fmtp").filter { $0.contains("profile-id") }
      #expect(profiles == (forwards ? ["98 profile-id=0", "100 profile-id=2"] : ["98 profile-id=0"]))
    }
    var player = Negotiator.seeded(receiving: []) {
      ($0.codecs.answersWithEachCodec, $0.codecs.sendsEachProfile) = (true, true)
    }
    let (answer, _) = try player.answer(to: try offer(["VP8/90000", p0, p2], direction: "recvonly"))
    #expect(answer.sections[1].payloads == ["96", "97", "98"])
  }

  @Test("when we begin to send what was not agreed, our offer has the codec of our source")
  func beginsToSend() throws {
    var negotiator = Negotiator.seeded(sending: []) { $0.codecs.sent = [.video: .vp9] }
    let (_, session) = try negotiator.answer(to: try offer(["VP8/90000", "VP9/90000"]))
    #expect(session.media[1].codec == .vp8)
    negotiator.setSending(true, of: .video)
    #expect(negotiator.needsOffer)
    let ours = try SessionDescription(parsing: negotiator.createOffer())
    #expect(ours.sections[1].payloadFormats.map(\.name) == ["VP9", "rtx"])
    #expect(ours.sections[1].direction == .sendAndReceive)
  }
}

extension String {
  /// Returns the description with other formats in its sections of a kind: their payload types are 96, 97 and so on for video, 111,
  /// 112 and so on for audio.
  func section(_ kind: String, _ formats: [String], direction: String = "sendrecv") throws -> String {
    var description = try SessionDescription(parsing: self)
    for position in description.sections.indices where description.sections[position].mediaLine.kind == kind {
      let types = formats.indices.map { $0 + (kind == "video" ? 96 : 111) }
      let line = description.sections[position].mediaLine
      description.sections[position].mediaLine = MediaLine(
        kind: kind, port: line.port, transportProtocol: line.transportProtocol, formats: types.map { "\($0)" })
      description.sections[position].lines.removeAll { line in
        guard case .attribute(let name, let value) = line.content else { return false }
        return ["rtpmap", "fmtp", "rtcp-fb"].contains(name) || value == nil && MediaDirection(rawValue: name) != nil
      }
      description.sections[position].append(direction)
      for (type, format) in zip(types, formats) {
        let parts = format.cut(at: " ")
        description.sections[position].append("rtpmap", "\(type) \(parts?.before ?? format)")
        if let parts { description.sections[position].append("fmtp", "\(type) \(parts.after)") }
      }
    }
    return description.text
  }
}

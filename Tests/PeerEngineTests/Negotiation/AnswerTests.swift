import ICE
import Media
import PeerEngine
import SDP
import TestSupport
import Testing

@Suite("Answers to offers of real programs")
struct AnswerTests {
  static let offers = [
    "chromium156_offer", "chromium156_offer_recvonly_nopermission", "chromium156_offer_simulcast", "firefox153_offer",
    "firefox153_offer_max_bundle", "firefox153_offer_simulcast", "plan_b_offer", "aiortc140_offer",
    "gstreamer122_offer_h264", "obs_whip_offer",
  ]

  @Test("the answer to Chromium's offer is the expected text, byte for byte")
  func wholeText() throws {
    var negotiator = Negotiator.seeded()
    let answer = try #require(try negotiator.receivedOffer(try recorded("chromium156_offer"))).answer
    #expect(answer == (try recorded("chatbot_answer_to_chromium156")))
  }

  @Test("where we only forward frames of others, the answer has a format of each codec, the offer's first one first")
  func eachCodec() throws {
    var negotiator = Negotiator.seeded(receiving: []) { $0.codecs.answersWithEachCodec = true }
    let (answer, session) = try negotiator.answer(to: try recorded("chromium156_offer"))
    let video = try #require(answer.sections.first { $0.mediaLine.kind == "video" })
    let codecs = video.payloadFormats.map(\.name).filter { $0 != "rtx" }
    #expect(codecs.first == "VP8" && Set(codecs) == ["VP8", "VP9", "H264", "AV1"] && codecs.count == 4)
    let media = try #require(session.media.first { $0.kind == .video })
    #expect(media.sends && !media.receives)
    for codec in [Codec.vp8, .h264, .vp9, .av1] { #expect(media.format(of: codec) != nil) }
  }

  @Test("where the remote side sends too, the answer has one format, also if we forward frames of others")
  func oneCodec() throws {
    var negotiator = Negotiator.seeded { $0.codecs.answersWithEachCodec = true }
    let (answer, _) = try negotiator.answer(to: try recorded("chromium156_offer"))
    let video = try #require(answer.sections.first { $0.mediaLine.kind == "video" })
    #expect(video.payloadFormats.map(\.name).filter { $0 != "rtx" } == ["VP8"])
  }

  @Test("the answer has the offer's sections in the offer's order", arguments: offers)
  func sameSections(name: String) throws {
    let offer = try SessionDescription(parsing: try recorded(name))
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: offer.text)
    #expect(answer.sections.map(\.mediaLine.kind) == offer.sections.map(\.mediaLine.kind))
    #expect(answer.sections.map(\.mid) == offer.sections.map(\.mid))
    #expect(
      answer.sections.map(\.mediaLine.transportProtocol) == offer.sections.map(\.mediaLine.transportProtocol))
    for (index, section) in answer.sections.enumerated() {
      let isCarried = session.media.contains { $0.index == index }
      #expect((section.mediaLine.port != 0) == isCarried)
      #expect(isCarried == ["audio", "video"].contains(section.mediaLine.kind))
    }
  }

  @Test(
    "the answer contains only what was offered, with the offer's payload types and extension ids", arguments: offers)
  func subset(name: String) throws {
    let offer = try SessionDescription(parsing: try recorded(name))
    var negotiator = Negotiator.seeded()
    let (answer, _) = try negotiator.answer(to: offer.text)
    for (theirs, ours) in zip(offer.sections, answer.sections) {
      let offeredMaps = theirs.attributes("extmap").compactMap { HeaderExtensionMap(parsing: $0) }
      for map in ours.attributes("extmap").compactMap({ HeaderExtensionMap(parsing: $0) }) {
        let offered = try #require(offeredMaps.first { $0.id == map.id })
        #expect(offered.uri == map.uri)
        #expect(offered.direction?.reversed == map.direction)
      }
      for format in ours.payloadFormats {
        let offered = try #require(theirs.payloadFormats.first { $0.payloadType == format.payloadType })
        #expect(offered.isCodec(format.name, clockRate: format.clockRate))
        #expect(Set(format.feedback).isSubset(of: offered.feedback))
      }
      for flag in ["rtcp-mux", "rtcp-rsize"] where ours.hasAttribute(flag) {
        #expect(theirs.hasAttribute(flag))
      }
      #expect(!ours.hasAttribute("bundle-only"))
      #expect(!ours.hasAttribute("crypto"))
    }
  }

  @Test(
    "no description for an ordinary participant contains video-orientation, so that senders rotate frames themselves",
    arguments: offers)
  func orientation(name: String) throws {
    let offer = try recorded(name)
    #expect(offer.contains("urn:3gpp:video-orientation") == name.hasPrefix("chromium"))
    for sending in [[], [.audio, .video]] as [Set<MediaKind>] {
      var negotiator = Negotiator.seeded(sending: sending)
      let answer = try #require(try negotiator.receivedOffer(offer)).answer
      #expect(!answer.contains("orientation"))
      #expect(answer.contains("a=extmap:") == offer.contains("a=extmap:"))
      // Nor does a later offer copy it from the remote offer.
      #expect(!negotiator.createOffer().contains("orientation"))
      var caller = Negotiator.seeded(sending: sending)
      #expect(!caller.createOffer().contains("orientation"))
    }
  }

  @Test("a media server may leave it to us to turn the frames that it forwards", arguments: offers)
  func forwardedOrientation(name: String) throws {
    let offer = try recorded(name)
    let maps = try SessionDescription(parsing: offer).sections.flatMap { $0.attributes("extmap") }
    let id = maps.compactMap { HeaderExtensionMap(parsing: $0) }.first { $0.uri == "urn:3gpp:video-orientation" }
      .map { UInt8($0.id) }
    #expect((id != nil) == name.hasPrefix("chromium"))
    var negotiator = Negotiator.seeded(sending: []) { $0.acceptsOrientation = true }
    let (answer, session) = try #require(try negotiator.receivedOffer(offer))
    #expect(answer.contains("urn:3gpp:video-orientation") == (id != nil))
    #expect(session.media.allSatisfy { $0.extensions.videoOrientation == ($0.kind == .video ? id : nil) })
    var caller = Negotiator.seeded(sending: []) { $0.acceptsOrientation = true }
    let ours = try SessionDescription(parsing: caller.createOffer())
    #expect(
      ours.sections.map { $0.attributes("extmap").contains("13 urn:3gpp:video-orientation") } == [false, true])
  }

  @Test("the bundle of the answer contains only the accepted sections", arguments: offers)
  func bundle(name: String) throws {
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: try recorded(name))
    #expect(answer.bundles == [session.media.compactMap(\.mid)])
  }

  @Test("each accepted section has our ICE and DTLS lines, and the first one has our candidates", arguments: offers)
  func transport(name: String) throws {
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: try recorded(name))
    let local = negotiator.local
    #expect(session.localCredentials == local.credentials)
    for (position, media) in session.media.enumerated() {
      let section = answer.sections[media.index]
      #expect(section.attribute("ice-ufrag") == local.credentials.usernameFragment)
      #expect(section.attribute("ice-pwd") == local.credentials.password)
      #expect(section.attribute("ice-options") == "trickle")
      #expect(section.attribute("fingerprint")?.hasPrefix("sha-256 01:02:03:04:") == true)
      #expect(section.attribute("setup") == "active")
      #expect(section.hasAttribute("rtcp-mux"))
      #expect(
        section.attributes("candidate") == (position == 0 ? ["1 1 udp 2130706431 192.0.2.1 5000 typ host"] : []))
    }
    #expect(session.dtlsRole == .client)
    #expect(session.isICERestart == false)
  }

  @Test("Chromium's offer negotiates Opus and VP8 with all feedback and header extensions that we support")
  func chromium() throws {
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: try recorded("chromium156_offer"))
    #expect(session.remoteUsernameFragment == "p/CY")
    #expect(session.remotePassword == "oSWzz+b3qtXlQr6e9Gzrs6L6")
    #expect(session.remoteFingerprints.map(\.algorithm) == ["sha-256"])
    #expect(session.remoteFingerprints.first?.digest.prefix(3) == [0xA6, 0x3C, 0xE2])
    #expect(!session.remoteIsLite)

    let audio = session.media[0]
    #expect(audio.codec == .opus && audio.payloadType == 111 && audio.retransmissionPayloadType == nil)
    #expect(audio.sends && audio.receives && audio.mid == "0")
    #expect(audio.feedback == feedback("transport-cc"))
    #expect(audio.extensions == extensions(mid: 4, audioLevel: 1, sendTime: 2, sequence: 3))
    #expect(audio.remoteSources == [.init(ssrc: 382_514_311, cname: "U34KB/l9IcTp0+RS")])
    #expect(answer.sections[0].attributes("fmtp") == ["111 minptime=10;useinbandfec=1"])

    let video = session.media[1]
    #expect(video.codec == .vp8 && video.payloadType == 96 && video.retransmissionPayloadType == 97)
    #expect(video.feedback == feedback("goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"))
    #expect(
      video.extensions
        == extensions(mid: 4, sendTime: 2, sequence: 3, streamID: 10, repairedStreamID: 11))
    #expect(
      video.remoteSources == [
        .init(ssrc: 689_647_705, retransmissionSSRC: 3_166_182_352, cname: "U34KB/l9IcTp0+RS")
      ])
    #expect(answer.sections[1].payloads == ["96", "97"])

    #expect(answer.sections[2].mediaLine.text == "application 0 UDP/DTLS/SCTP webrtc-datachannel")
    #expect(answer.sections[2].attribute("ice-ufrag") == nil)
  }

  @Test("Firefox's offer negotiates its own payload types and stereo")
  func firefox() throws {
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: try recorded("firefox153_offer"))
    #expect(session.remoteUsernameFragment == "6329349a")
    #expect(session.remoteFingerprints.first?.digest.prefix(2) == [0x5E, 0xA6])
    #expect(session.media.map(\.payloadType) == [109, 120])
    #expect(session.media.map(\.retransmissionPayloadType) == [nil, 124])
    #expect(session.media[0].extensions == extensions(mid: 3, audioLevel: 1, sequence: 7))
    #expect(session.media[1].extensions == extensions(mid: 3, sendTime: 4, sequence: 7))
    #expect(session.media[1].remoteSources.map(\.ssrc) == [3_131_082_083])
    #expect(session.media[1].remoteSources.map(\.retransmissionSSRC) == [2_324_533_608])
    #expect(answer.sections[0].attributes("fmtp") == ["109 minptime=10;useinbandfec=1;stereo=1"])
  }

  @Test("sent media is announced with its SSRCs, SSRC group, stream id and CNAME")
  func sources() throws {
    var negotiator = Negotiator.seeded(sending: [.video])
    let (answer, session) = try negotiator.answer(to: try recorded("chromium156_offer"))
    let local = negotiator.local
    let retransmission = try #require(local.video.retransmissionSSRC)
    #expect(session.media.map(\.localSSRC) == [local.audio.ssrc, local.video.ssrc])
    #expect(session.media.map(\.localRetransmissionSSRC) == [nil, retransmission])

    let video = answer.sections[1]
    #expect(video.direction == .sendAndReceive)
    #expect(video.attribute("msid") == "\(local.streamID) \(local.video.trackID)")
    #expect(video.attribute("ssrc-group") == "FID \(local.video.ssrc) \(retransmission)")
    #expect(
      video.attributes("ssrc") == [
        "\(local.video.ssrc) cname:\(local.cname)",
        "\(local.video.ssrc) msid:\(local.streamID) \(local.video.trackID)",
        "\(retransmission) cname:\(local.cname)",
        "\(retransmission) msid:\(local.streamID) \(local.video.trackID)",
      ])

    let audio = answer.sections[0]
    #expect(audio.direction == .receiveOnly)
    #expect(audio.attribute("ssrc") == nil)
    #expect(audio.attribute("msid") == nil)
    #expect(answer.attribute("msid-semantic") == " WMS \(local.streamID)")
  }

  @Test(
    "the direction is what both sides allow",
    arguments: [
      ("sendrecv", true, "sendrecv"), ("sendrecv", false, "recvonly"), ("sendonly", true, "recvonly"),
      ("sendonly", false, "recvonly"), ("recvonly", true, "sendonly"), ("recvonly", false, "inactive"),
      ("inactive", true, "inactive"), ("inactive", false, "inactive"),
    ])
  func direction(offered: String, sending: Bool, answered: String) throws {
    var negotiator = Negotiator.seeded(sending: sending ? [.audio, .video] : [])
    let offer = try recorded("chromium156_offer").changing("a=sendrecv", to: "a=\(offered)")
    let (answer, session) = try negotiator.answer(to: offer)
    for media in session.media {
      #expect(answer.sections[media.index].direction?.rawValue == answered)
      #expect(MediaDirection(sends: media.sends, receives: media.receives).rawValue == answered)
    }
  }

  @Test("media is sent to a page that only receives")
  func receivingPage() throws {
    var negotiator = Negotiator.seeded()
    let (_, session) = try negotiator.answer(to: try recorded("chromium156_offer_recvonly_nopermission"))
    #expect(session.media.allSatisfy { $0.sends && !$0.receives && $0.remoteSources.isEmpty })
  }

  @Test(
    "an offer with a fixed DTLS role is answered with the other role",
    arguments: [("actpass", "active"), ("passive", "active"), ("active", "passive")])
  func setup(offered: String, answered: String) throws {
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(
      to: try recorded("chromium156_offer").changing("a=setup:actpass", to: "a=setup:\(offered)"))
    #expect(answer.sections[0].attribute("setup") == answered)
    #expect(session.dtlsRole == (answered == "active" ? .client : .server))
  }

  @Test("FFmpeg's publisher, which offers to be the DTLS server, is answered as the client")
  func publisherOfFFmpeg() throws {
    let offer = try recorded("ffmpeg_whip_offer")
    var negotiator = Negotiator.seeded()
    let (answer, session) = try negotiator.answer(to: offer)
    #expect(session.dtlsRole == .client)
    #expect(answer.sections[0].attribute("setup") == "active")
    #expect(session.media.map(\.codec) == [.opus, .h264])
    #expect(answer.sections.map { $0.attribute("setup") } == ["active", "active"])
  }

  @Test("candidates of component 1 are read from the section that carries the transport, and others are ignored")
  func candidates() throws {
    var negotiator = Negotiator.seeded()
    let offer = try recorded("firefox153_offer").changing(
      "a=mid:0\r\n",
      to: """
        a=candidate:0 1 UDP 2122252543 10.0.0.1 5000 typ host\r
        a=candidate:0 2 UDP 2122252542 10.0.0.1 5001 typ host\r
        a=candidate:\r
        a=mid:0\r

        """
    ).changing("a=mid:1\r\n", to: "a=candidate:9 1 UDP 1 10.0.0.9 9 typ host\r\na=mid:1\r\n")
    let (_, session) = try negotiator.answer(to: offer)
    #expect(session.remoteCandidates == ["candidate:0 1 UDP 2122252543 10.0.0.1 5000 typ host"])
  }

  @Test("an ICE lite peer is recognised")
  func lite() throws {
    var negotiator = Negotiator.seeded()
    let (_, session) = try negotiator.answer(
      to: try recorded("chromium156_offer").changing("s=-\r\n", to: "s=-\r\na=ice-lite\r\n"))
    #expect(session.remoteIsLite)
  }

  private func feedback(_ names: String...) -> NegotiatedMedia.Feedback {
    var feedback = NegotiatedMedia.Feedback()
    feedback.nack = names.contains("nack")
    feedback.pictureLossIndication = names.contains("nack pli")
    feedback.fullIntraRequest = names.contains("ccm fir")
    feedback.maximumBitrateEstimate = names.contains("goog-remb")
    feedback.transportWide = names.contains("transport-cc")
    return feedback
  }

  private func extensions(
    mid: UInt8, audioLevel: UInt8? = nil, sendTime: UInt8? = nil, sequence: UInt8, streamID: UInt8? = nil,
    repairedStreamID: UInt8? = nil
  ) -> NegotiatedMedia.Extensions {
    var extensions = NegotiatedMedia.Extensions()
    extensions.mid = mid
    extensions.audioLevel = audioLevel
    extensions.absoluteSendTime = sendTime
    extensions.transportSequenceNumber = sequence
    extensions.streamID = streamID
    extensions.repairedStreamID = repairedStreamID
    return extensions
  }
}

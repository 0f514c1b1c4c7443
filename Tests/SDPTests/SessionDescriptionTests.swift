import Media
import SDP
import TestSupport
import Testing

@Suite("Parsing of session descriptions")
struct SessionDescriptionTests {
  private func description(_ name: String) throws -> SessionDescription {
    try SessionDescription(parsing: try Fixture.text("\(name).sdp", in: .module))
  }

  @Test("the preferred codec of each kind is the first known one, without RED, in a section that is not refused")
  func preferredCodecs() throws {
    #expect(try description("chromium156_offer").preferredCodecs == [.audio: .opus, .video: .vp8])
    func codecs(_ sections: String) throws -> [MediaKind: Codec] {
      let head = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"
      return try SessionDescription(parsing: head + sections.replacing("|", with: "\r\n")).preferredCodecs
    }
    let red = "m=audio 9 UDP/TLS/RTP/SAVPF 63 111|a=rtpmap:63 red/48000/2|a=rtpmap:111 OPUS/48000/2|"
    let video = "m=video 9 UDP/TLS/RTP/SAVPF 97 102|a=rtpmap:97 H266/90000|a=rtpmap:102 H264/90000|"
    #expect(try codecs(red + video) == [.audio: .opus, .video: .h264])
    #expect(try codecs(video.replacing(" 9 ", with: " 0 ")).isEmpty)
    #expect(try codecs("m=audio 9 RTP/SAVPF 0|") == [.audio: .pcmu])
    #expect(try codecs("m=video 9 RTP/SAVPF 102|a=rtpmap:102 H264/8000|").isEmpty)
  }

  @Test("an offer of Chromium has three sections in one bundle")
  func chromium() throws {
    let offer = try description("chromium156_offer")
    #expect(offer.sections.map(\.mediaLine.kind) == ["audio", "video", "application"])
    #expect(
      offer.sections.map(\.mediaLine.transportProtocol) == [
        "UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVPF", "UDP/DTLS/SCTP",
      ])
    #expect(offer.sections.map(\.mid) == ["0", "1", "2"])
    #expect(offer.bundles == [["0", "1", "2"]])
    #expect(offer.origin == Origin(sessionID: "6893414048436935292", version: "2"))
    #expect(offer.origin?.text == "- 6893414048436935292 2 IN IP4 127.0.0.1")
    #expect(offer.sections[0].attribute("ice-ufrag") == "p/CY")
    #expect(offer.sections[0].direction == .sendAndReceive)
    #expect(offer.sections[2].direction == nil)
    #expect(offer.sections[1].attributes("extmap").count == 11)
    #expect(offer.hasAttribute("extmap-allow-mixed"))
    #expect(!offer.hasAttribute("ice-lite"))
  }

  @Test("an offer of Firefox has direction and fingerprint before the sections")
  func firefox() throws {
    let offer = try description("firefox153_offer")
    #expect(offer.direction == .sendAndReceive)
    #expect(offer.attribute("fingerprint")?.hasPrefix("sha-256 5E:A6:F3") == true)
    #expect(offer.sections[0].attribute("fingerprint") == nil)
    #expect(offer.origin?.user == "mozilla...THIS_IS_SDPARTA-99.0")
  }

  @Test("payload types are in the order of the m= line, with their parameters and feedback")
  func payloadFormats() throws {
    let video = try description("firefox153_offer").sections[1]
    let formats = video.payloadFormats
    #expect(formats.map(\.payloadType) == [120, 124, 121, 125, 99, 100, 123, 122, 119])
    #expect(formats[0].isCodec("vp8", clockRate: 90_000))
    #expect(!formats[0].isCodec("VP8", clockRate: 48_000))
    #expect(formats[0].feedback == ["nack", "nack pli", "ccm fir", "goog-remb", "transport-cc"])
    #expect(formats[0].parameters["MAX-FS"] == "12288")
    #expect(formats[1].associatedPayloadType == 120)
    #expect(formats[0].associatedPayloadType == nil)
  }

  @Test("Opus has two channels and its parameters")
  func opus() throws {
    let opus = try #require(try description("firefox153_offer").sections[0].payloadFormats.first)
    #expect(opus.name == "opus" && opus.clockRate == 48_000 && opus.channels == 2)
    #expect(opus.parameters.pairs.map(\.name) == ["maxplaybackrate", "stereo", "useinbandfec"])
    #expect(opus.parameters["useinbandfec"] == "1")
    #expect(opus.parameters["usedtx"] == nil)
  }

  @Test("feedback for all payload types applies to each")
  func feedbackForAll() throws {
    let section = try SessionDescription(
      parsing: """
        v=0
        m=video 9 RTP/SAVPF 96 97 98
        a=rtpmap:96 VP8/90000
        a=rtpmap:97 H264/90000
        a=rtcp-fb:* nack pli
        a=rtcp-fb:97 nack

        """
    ).sections[0]
    #expect(section.payloadFormats.map(\.feedback) == [["nack pli"], ["nack pli", "nack"]])
  }

  @Test("a malformed or repeated rtpmap counts as absent")
  func malformedMaps() throws {
    let section = try SessionDescription(
      parsing: """
        v=0
        m=video 9 RTP/SAVPF 96 97 98 99 200 x 96
        a=rtpmap:96 VP8/90000
        a=rtpmap:96 VP9/90000
        a=rtpmap:97 VP8
        a=rtpmap:98 VP8/0
        a=rtpmap:99
        a=rtpmap:200 VP8/90000
        a=fmtp:300 x=1
        a=rtcp-fb:
        """
    ).sections[0]
    #expect(section.payloadFormats.map(\.payloadType) == [96])
    #expect(section.payloadFormats.map(\.name) == ["VP8"])
  }

  @Test("a description built line by line ends each line with CR LF")
  func writing() {
    var description = SessionDescription()
    description.append(type: "v", "0")
    description.append("group", "BUNDLE 0")
    var section = MediaSection(
      MediaLine(kind: "audio", port: 9, transportProtocol: "RTP/SAVPF", formats: ["111", "0"]))
    section.append("rtcp-mux")
    description.sections = [section]
    #expect(description.text == "v=0\r\na=group:BUNDLE 0\r\nm=audio 9 RTP/SAVPF 111 0\r\na=rtcp-mux\r\n")
  }

  @Test("static payload types are known without a=rtpmap, and a=rtpmap comes before them")
  func staticTypes() throws {
    let description = try SessionDescription(
      parsing:
        "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nt=0 0\r\nm=audio 9 RTP/AVP 0 8 9 34 35 127\r\na=rtpmap:9 opus/48000/2\r\na=rtcp-fb:* nack\r\n"
    )
    let formats = description.sections[0].payloadFormats
    #expect(formats.map(\.payloadType) == [0, 8, 9, 34])
    #expect(formats.map(\.name) == ["PCMU", "PCMA", "opus", "H263"])
    #expect(formats.map(\.clockRate) == [8_000, 8_000, 48_000, 90_000])
    #expect(formats.allSatisfy { $0.feedback == ["nack"] })
  }
}

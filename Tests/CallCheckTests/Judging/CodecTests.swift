import CallCheck
import CallCheckTestSupport
import Media
import NIOCore
import Testing

@Suite("Codecs of a checked call")
struct CodecTests {
  private static func report(_ events: [SyntheticCall.ScriptedEvent], rules: [String]) throws -> CheckReport {
    var options = SyntheticCall().options
    options.rules = RuleList(try rules.map { try Rule($0) })
    let judge = CallJudge(options)
    for event in events {
      judge.receive(event.event, of: SyntheticCall.peer, at: SyntheticCall.instant(event.time))
    }
    return judge.report(at: SyntheticCall.instant(4))
  }

  private static var call: SyntheticCall {
    var call = SyntheticCall()
    call.duration = 4
    return call
  }

  /// A frame that no decoder reads.
  private static func frame(_ codec: Codec, at time: Double, isKeyframe: Bool = true) -> SyntheticCall.ScriptedEvent {
    let frame = EncodedFrame(
      owner: SyntheticCall.peer, codec: codec, time: MediaTime(ticks: Int64(time * 90_000), rate: codec.clockRate),
      payload: ByteBuffer(bytes: [0, 0, 0, 2, 0x65, 0x88]), isKeyframe: isKeyframe,
      arrival: SyntheticCall.instant(time))
    return .init(time: time, event: .frame(frame))
  }

  @Test("the codec of each track is named, and rules compare it")
  func names() throws {
    let rules = ["video.codec == vp8", "video.codec != vp8", "video.codec == h264", "audio.codec == OPUS"]
    let report = try Self.report(Self.call.participantEvents(), rules: rules)
    let peer = try #require(report.peers.first)
    #expect(peer.codecs?.video?.map(\.codec) == ["vp8"])
    #expect(peer.codecs?.audio?.map(\.codec) == ["opus"])
    #expect(report.results.map(\.outcome) == [.held, .failed, .failed, .held])
    #expect(report.results[2].value == "vp8" && report.results[2].limit == "h264" && report.results[2].figure == "vp8")
    #expect(report.results[2].sentence.hasPrefix("Video codec: vp8; the rule requires exactly h264."))
    #expect(report.results[1].sentence.hasPrefix("Video codec: vp8; the rule requires a value other than vp8."))
  }

  @Test("a codec of which no frame could be decoded is named, and a rule about it is judged")
  func undecodable() throws {
    let report = try Self.report(
      [Self.frame(.h264, at: 1), Self.frame(.h264, at: 2, isKeyframe: false)],
      rules: ["video.codec == h264", "audio.codec == opus"])
    #expect(report.peers.first?.video == nil)
    #expect(report.peers.first?.codecs?.video == [TrackCodec(time: 1, codec: "h264")])
    #expect(report.results.map(\.outcome) == [.held, .notMeasured])
  }

  @Test("a change of the codec is listed with its time, and the last one is judged")
  func change() throws {
    let events = try Self.call.participantEvents() + [Self.frame(.h264, at: 3.9)]
    let report = try Self.report(events, rules: ["video.codec == vp8"])
    #expect(report.peers.first?.codecs?.video?.map(\.codec) == ["vp8", "h264"])
    #expect(report.peers.first?.codecs?.video?.last?.time == 3.9)
    let result = try #require(report.results.first)
    #expect(result.outcome == .failed)
    #expect(result.sentence.hasPrefix("Video codec: h264, after vp8; the rule requires exactly vp8."))
  }

  @Test("a track that changes its codec without end has a bounded list, whose last entry is the last codec")
  func manyChanges() throws {
    let events = (0..<300).map { Self.frame($0.isMultiple(of: 2) ? .vp9 : .h264, at: 1 + Double($0) / 200) }
    let report = try Self.report(events, rules: ["video.codec == h264"])
    #expect((report.peers.first?.codecs?.video?.count ?? 0) <= 20)
    #expect(report.results.first?.outcome == .held)
  }

  @Test("texts in the results of a report are strings in its JSON, which is read again")
  func json() throws {
    let report = try Self.report(Self.call.participantEvents(), rules: ["video.codec == h264", "video.fps >= 1"])
    let json = try report.json
    #expect(json.contains("\"limit\" : \"h264\"") && json.contains("\"value\" : \"vp8\""))
    #expect(try CheckReport(parsing: Array(json.utf8)).json == json)
  }

  @Test("a codec that differs from that of the baseline is a remark of the comparison")
  func comparison() throws {
    let before = try Self.report(Self.call.participantEvents(), rules: [])
    let now = try Self.report(Self.call.participantEvents() + [Self.frame(.h264, at: 3.9)], rules: [])
    #expect(now.compared(with: before).remarks.contains("Video codec: vp8 before, h264 now."))
    #expect(before.compared(with: before).remarks == [])
  }

  @Test("G.711, with its clock of 8 kHz, is measured as Opus is, also where packets are lost")
  func clockOfEightKilohertz() throws {
    var call = SyntheticCall()
    call.lostAudio = [150, 151]
    func audio(_ codec: Codec) throws -> PeerReport {
      call.audioCodec = codec
      let judge = CallJudge(call.options)
      for event in try call.participantEvents() {
        judge.receive(event.event, of: SyntheticCall.peer, at: SyntheticCall.instant(event.time))
      }
      return try #require(judge.report(at: SyntheticCall.instant(call.duration)).peers.first)
    }
    let (opus, pcmu) = (try audio(.opus), try audio(.pcmu))
    let (expected, measured) = (try #require(opus.audio), try #require(pcmu.audio))
    #expect(measured.decodeErrors == 0 && measured.packets == expected.packets)
    #expect(measured.gaps == expected.gaps && measured.concealed == expected.concealed)
    #expect(measured.silence == expected.silence)
    #expect(abs(measured.level - expected.level) < 1)
    let (delay, other) = (try #require(opus.skew?.total.p50), try #require(pcmu.skew?.total.p50))
    #expect(abs(delay - other) < 0.003)
  }
}

import CallCheck
import CallCheckTestSupport
import CallReport
import Media
import Testing

@Suite("Values and sentences of a verdict")
struct FigureTests {
  @Test(
    "a value has enough decimals to show on which side of the limit it is",
    arguments: [
      (MeasurementUnit.frameRate, 14.96, 15.0, "14.96 fps", "15 fps"), (.frameRate, 14.9, 15, "14.9 fps", "15 fps"),
      (.time, 0.502, 0.5, "502 ms", "500 ms"), (.time, 0.5003, 0.5, "500.3 ms", "500 ms"),
      (.time, 0.9997, 1, "999.7 ms", "1 s"), (.time, 2.0012, 2, "2.001 s", "2 s"),
      (.ratio, 0.0502, 0.05, "5.02 %", "5 %"), (.ratio, 0.9004, 0.9, "90.04 %", "90 %"),
      (.bitrate, 300_200, 300_000, "300.2 kbit/s", "300 kbit/s"), (.count, 16.4, 16, "16.4", "16"),
      (.level, -30.02, -30, "-30.02 dB", "-30 dB"), (.score, 0.6996, 0.7, "0.6996", "0.7"),
      (.frameRate, 15, 15, "15 fps", "15 fps"),
    ])
  func figures(unit: MeasurementUnit, value: Double, limit: Double, shown: String, wanted: String) {
    let texts = unit.texts(value, against: limit)
    #expect(texts.value == shown)
    #expect(texts.limit == wanted)
  }

  @Test("the page shows a small excess as more than zero, and the same loss in the overview as in the rule")
  func page() throws {
    var report = SampleReport.failed
    let position = try #require(report.results.firstIndex { $0.rule == "video.freeze.longest <= 500ms" && !$0.holds })
    report.results[position].value = 0.502
    let page = HTMLReport(report).text
    #expect(page.contains("0.4 % above the limit"))

    var call = SyntheticCall()
    call.duration = 3
    let judge = CallJudge(call.options)
    for participantEvent in try call.participantEvents() {
      judge.receive(participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
    }
    var sample = ConnectionSample()
    for (kind, expected, lost) in [(MediaKind.audio, 151, 11), (.video, 352, 20)] as [(MediaKind, UInt64, UInt64)] {
      var track = TrackStatistics()
      track.packetsExpected = expected
      track.packetsReceived = expected - lost
      track.packetsLost = lost
      sample.received[TrackID(of: SyntheticCall.peer, kind: kind)] = track
    }
    judge.sample(sample, of: SyntheticCall.peer, at: SyntheticCall.instant(2.9))
    let lossy = judge.report(at: SyntheticCall.instant(3))
    let figure = try #require(lossy.result("loss <= 5%")?.figure)
    let isSame = HTMLReport(lossy).text.contains("<dt>Loss</dt><dd>\(figure)</dd>")
    #expect(isSame, "\(figure)")
  }

  @Test(
    "a peer that sends only audio or video is reported as such, with the option for that case",
    arguments: [true, false])
  func audioOnly(isAudio: Bool) throws {
    var call = SyntheticCall()
    call.hasVideo = !isAudio
    call.hasAudio = isAudio
    let clause =
      isAudio
      ? "the peer sent no video; use --no-video if none is expected"
      : "the peer sent no audio; use --no-audio if none is expected"
    let family = isAudio ? "video" : "audio"
    let participantEvents = try call.participantEvents().filter { if case .sample = $0.event { false } else { true } }
    func report(_ peers: Int) -> CheckReport {
      var options = call.options
      options.expected = CheckExpectation(peers: peers)
      options.rules = RuleList(
        (DefaultRules.rules(for: options.expected, subject: .call).map(\.rule)).filter { $0.text != "loss <= 5%" })
      let judge = CallJudge(options)
      judge.joined(at: SyntheticCall.instant(0.1))
      for participantEvent in participantEvents {
        for number in 0..<peers {
          judge.receive(
            participantEvent.event, of: ParticipantID("\(number)"), at: SyntheticCall.instant(participantEvent.time))
        }
      }
      return judge.report(at: SyntheticCall.instant(8))
    }
    let one = report(1)
    let failed = one.results.filter { !$0.holds }
    #expect(failed.count == (isAudio ? 5 : 4))
    #expect(
      failed.allSatisfy { $0.rule.hasPrefix(family) && $0.sentence.hasSuffix(" could not be measured: \(clause).") })
    #expect(one.summary.hasSuffix(" rules failed for 1 of 1 peer, because \(clause)."))
    #expect(report(2).summary.hasSuffix(" for 2 of 2 peers, because they\(clause.dropFirst(8))."))
  }

  @Test("video that we refused is reported as refused, and nothing advises to expect none")
  func refusedVideo() throws {
    var call = SyntheticCall()
    call.hasVideo = false
    var options = call.options
    options.expected = CheckExpectation()
    options.rules = RuleList(
      (DefaultRules.rules(for: options.expected, subject: .call).map(\.rule)).filter { $0.text != "loss <= 5%" })
    let judge = CallJudge(options)
    judge.joined(at: SyntheticCall.instant(0.1))
    let section = RejectedSection(
      index: 1, kind: "video", reason: .noSupportedCodec, offered: ["H264"], supported: ["VP8"])
    for _ in 0..<2 { judge.receive(.sectionRejected(section), of: SyntheticCall.peer, at: SyntheticCall.instant(0.2)) }
    #expect(!judge.status(at: SyntheticCall.instant(0.2)).waitsOnlyForRefusedMedia)
    for participantEvent in try call.participantEvents() {
      if case .sample = participantEvent.event { continue }
      judge.receive(
        participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
    }
    let clause = "we refused the video: only H264 is offered, but we support VP8"
    #expect(judge.status(at: SyntheticCall.instant(7)).pending == ["video of peer-1 (\(clause))"])
    #expect(judge.status(at: SyntheticCall.instant(7)).waitsOnlyForRefusedMedia)
    let report = judge.report(at: SyntheticCall.instant(8))
    let failed = report.results.filter { !$0.holds && $0.rule.hasPrefix("video") }
    #expect(!failed.isEmpty)
    #expect(failed.allSatisfy { $0.sentence.hasSuffix(" could not be measured: \(clause).") })
    #expect(report.summary.hasSuffix(" for 1 of 1 peer, because \(clause)."))
    let sentence = "We refused the video of section 1: only H264 is offered, but we support VP8."
    #expect(report.peers[0].rejected?.map(\.sentence) == [sentence])
    #expect(report.peers[0].progress == "Media arrived. \(sentence)")
    let texts = [report.table(width: 200), HTMLReport(report).text, report.junit, try report.json]
    for text in texts {
      #expect(text.contains("only H264 is offered, but we support VP8"))
      #expect(!text.contains("sent no video"))
    }
  }

  @Test("frames that arrived and could not be decoded are not reported as not sent")
  func undecodable() throws {
    let call = SyntheticCall()
    let judge = CallJudge(call.options)
    for participantEvent in try call.participantEvents() {
      var event = participantEvent.event
      if case .frame(var frame) = event, frame.codec == .vp8 {
        frame.isKeyframe = false
        event = .frame(frame)
      }
      judge.receive(event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
    }
    let report = judge.report(at: SyntheticCall.instant(8))
    #expect(report.peers.first?.undecoded == ["video"])
    #expect(
      report.result("video.fps >= 15")?.sentence
        == "Frame rate could not be measured: frames arrived, but none could be decoded.")
  }

  @Test("without expected peers an empty room is not a failure, but a room that was not joined is")
  func nobody() throws {
    func report(joined: Bool, failure: String? = nil, rule: String = "peers == 0") throws -> CheckReport {
      var options = SyntheticCall().options
      options.rules = RuleList([try Rule(rule)])
      let judge = CallJudge(options)
      if joined { judge.joined(at: SyntheticCall.instant(0.1)) }
      if let failure { judge.failed(failure) }
      return judge.report(at: SyntheticCall.instant(2))
    }
    let empty = try report(joined: true)
    #expect(empty.verdict == .held)
    #expect(empty.diagnosis == nil)
    #expect(empty.summary == "The rule held: the room was joined, but no peer was seen.")
    #expect(try report(joined: false, failure: "Nothing listens there.").verdict == .failed)
    #expect(try report(joined: true, failure: "The check was interrupted.").verdict == .failed)
    // If we did not join the room ourselves, advice about the peers is useless.
    let advice = "Other peers may not have joined"
    let sentences = try [true, false].map {
      try report(joined: $0, failure: "No.", rule: "peers >= 1").results[0].sentence
    }
    #expect(sentences[0].contains(advice) && !sentences[1].contains(advice))
  }
}

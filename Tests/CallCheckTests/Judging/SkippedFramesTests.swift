import CallCheck
import CallCheckTestSupport
import CallReport
import Media
import NIOCore
import Testing

@Suite("Skipped frames and peers that are not judged")
struct SkippedFramesTests {
  /// Returns the report of a call in which the frames of one second are skipped.
  private func report(_ change: (inout CallJudge.Options) -> Void = { _ in }) throws -> CheckReport {
    var call = SyntheticCall()
    call.duration = 5
    var options = call.options
    change(&options)
    let judge = CallJudge(options)
    judge.joined(at: SyntheticCall.instant(0.2))
    var videoFrames: SkippedFrames?
    for participantEvent in try call.participantEvents() {
      if case .frame(let frame) = participantEvent.event, frame.codec == .vp8, (2..<3).contains(participantEvent.time) {
        let one = SkippedFrames(
          bytes: frame.payload.readableBytes, isKeyframe: frame.isKeyframe, arrival: frame.arrival)
        if videoFrames == nil { videoFrames = one } else { videoFrames?.add(one) }
        continue
      }
      if let skipped = videoFrames, participantEvent.time >= 3 {
        judge.receive(.skipped(skipped), of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
        videoFrames = nil
      }
      judge.receive(participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
    }
    return judge.report(at: SyntheticCall.instant(call.duration))
  }

  @Test("are counted and reported with their time in the table, JSON, HTML and JUnit")
  func reported() throws {
    let report = try report()
    let skipped = try #require(report.peers.first?.skippedFrames)
    #expect(skipped.videoFrames == 30)
    #expect(abs(skipped.first - 2) < 0.04 && abs(skipped.last - 2.98) < 0.04)
    let sentence = "This machine could not decode everything that arrived: 30 frames were skipped."
    #expect(report.limitations == [sentence])
    #expect(report.table(width: 200).contains(sentence))
    let (page, junit) = (HTMLReport(report).text, report.junit)
    let isOnPage = page.contains(sentence) && page.contains("Not decoded")
    #expect(isOnPage)
    #expect(junit.contains(sentence))
    let read = try CheckReport(parsing: Array(report.json.utf8))
    #expect(read.peers.first?.skippedFrames == skipped)
  }

  @Test("make every rule about their content inconclusive without blaming the peer; the others hold")
  func rules() throws {
    let rules = [
      "video.fps >= 1", "video.freeze <= 10s", "video.latency.p95 <= 10s", "av.skew <= 10s", "pattern.ssim >= 0",
      "keyframeRequests <= 100", "video.frames >= 1", "audio.silence <= 1s", "video.firstFrame <= 5s",
      "video.bitrate >= 1kbit",
      "loss <= 50%", "video.keyframes >= 1", "peers == 1",
    ]
    let report = try report { $0.rules = RuleList(rules.compactMap { try? Rule($0) }) }
    #expect(report.results.count == rules.count)
    #expect(report.failedRules == Array(rules.prefix(7)))
    #expect(report.verdict == .inconclusive)
    #expect(
      report.summary
        == "7 of 13 rules could not be judged for 1 of 1 peer, because this machine could not keep up; no other rule failed."
    )
    for result in report.results where !result.holds {
      #expect(result.outcome == .inconclusive)
      #expect(
        result.sentence.hasSuffix(
          " could not be judged: this machine could not decode everything that arrived: 30 frames were skipped."))
    }
    #expect(report.junit.contains(#"failures="0" errors="0" skipped="7""#))
    let skipped = ParsedXML.elements(of: report.junit).filter { $0.name == "skipped" }
    #expect(skipped.count == 7)
    let page = HTMLReport(report).text
    #expect(page.contains("Inconclusive") && page.contains("7 rules could not be judged"))
    #expect(report.table(width: 200).contains("inconclusive"))
  }

  @Test("do not excuse a rule that fails on other measurements")
  func failedNevertheless() throws {
    let rules = ["video.fps >= 1", "peers == 7"]
    let report = try report { $0.rules = RuleList(rules.compactMap { try? Rule($0) }) }
    #expect(report.verdict == .failed)
    #expect(report.results.map(\.outcome) == [.inconclusive, .failed])
  }

  @Test("before the first decoded frame make its time inconclusive, too")
  func first() throws {
    var call = SyntheticCall()
    call.duration = 2
    let judge = CallJudge(call.options)
    let early = SkippedFrames(bytes: 100, isKeyframe: true, arrival: SyntheticCall.instant(1.02))
    judge.receive(.skipped(early), of: SyntheticCall.peer, at: SyntheticCall.instant(1.03))
    for participantEvent in try call.participantEvents() {
      judge.receive(participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
    }
    let report = judge.report(at: SyntheticCall.instant(2))
    #expect(report.result("video.firstFrame <= 5s")?.outcome == .inconclusive)
  }

  @Test("do not change the bitrate and the keyframe count, and their gap is attributed to this machine")
  func kept() throws {
    var call = SyntheticCall()
    call.duration = 5
    let (whole, holed) = (try call.report(), try report())
    let (before, after) = (try #require(whole.peers[0].video), try #require(holed.peers[0].video))
    #expect(abs(before.bitrate - after.bitrate) < 1)
    #expect(before.keyframes == after.keyframes)
    let bitrates = holed.peers[0].timeline.videoBitrate
    let isFilled = bitrates[11...13].allSatisfy { ($0 ?? 0) > 10_000 }
    #expect(isFilled)
    #expect(after.freezes.list.map(\.reason) == [FreezeReason.receiverStalled.rawValue])
  }

  @Test("are not compared with a baseline, and a remark says why")
  func compared() throws {
    let report = try report()
    let comparison = report.compared(with: try report.withoutSkippedFrames)
    #expect(!(comparison.worse + comparison.better).contains { $0.measurement.hasPrefix("video.f") })
    #expect(comparison.remarks.contains { $0.hasPrefix("In this check, not all frames were decoded") })
  }

  @Test("peers beyond the maximum are counted as seen and as present, and the report says so")
  func unjudgedPeers() throws {
    let start = SyntheticCall.start
    var options = CallJudge.Options(start: start, room: "100")
    options.maximumPeers = 2
    options.rules = RuleList(try ["peers == 3", "peers.seen == 4"].map { try Rule($0) })
    let judge = CallJudge(options)
    let call = SyntheticCall()
    let audio = try call.participantEvents().filter {
      if case .frame(let frame) = $0.event { frame.codec == .opus && $0.time < 2 } else { false }
    }
    for name in ["a", "b", "c", "d"] { judge.step(.appeared, of: ParticipantID(name), at: start) }
    // The last one never sends anything.
    for participantEvent in audio {
      for name in ["a", "b", "c"] {
        judge.receive(participantEvent.event, of: ParticipantID(name), at: SyntheticCall.instant(participantEvent.time))
      }
    }
    let report = judge.report(at: SyntheticCall.instant(2))
    #expect(report.peers.map(\.id) == ["a", "b"])
    #expect(report.roomReport.peersNotJudged == 2)
    #expect(report.failedRules == [])
    let sentence = "2 more peers were present but not judged, because at most 2 peers are judged."
    #expect(report.limitations == [sentence])
    #expect(report.table(width: 200).contains(sentence))
    judge.step(.departed(.left, "It left."), of: ParticipantID("c"), at: SyntheticCall.instant(2))
    judge.step(.departed(.left, "It left."), of: ParticipantID("a"), at: SyntheticCall.instant(2))
    #expect(judge.report(at: SyntheticCall.instant(4)).roomReport.peersAtOnce == 3)
  }
}

extension CheckReport {
  /// The same report as if every frame had been decoded.
  fileprivate var withoutSkippedFrames: CheckReport {
    get throws {
      var report = self
      for index in report.peers.indices { report.peers[index].skippedFrames = nil }
      return report
    }
  }
}

import CallCheck
import CallCheckTestSupport
import CallReport
import Codecs
import Media
import Testing

@Suite("A report")
struct ReportTests {
  @Test("an injected fault is reported with the verdict in every format, with its count")
  func fault() throws {
    var report = SampleReport.held
    report.fault = .init(name: "sudden-leave", injectionCount: 2)
    let reported = "sudden-leave, injected 2 times"
    #expect(report.table(width: 200).contains("Injected fault: \(reported)."))
    let (page, junit) = (HTMLReport(report).text, report.junit)
    let isOnPage = page.contains("Injected fault") && page.contains(reported)
    #expect(isOnPage)
    #expect(junit.contains("name=\"injectedFault\" value=\"\(reported)\""))
    #expect(try CheckReport(parsing: Array(report.json.utf8)).fault == report.fault)
  }

  @Test("the types of the candidates are beside the addresses, in JSON and on the page")
  func candidateTypes() throws {
    let report = SampleReport.held
    let page = HTMLReport(report).text
    let isOnPage = page.contains("10.0.0.1:50112 (srflx)") && page.contains("10.0.0.9:41044 (relay)")
    #expect(isOnPage)
    let connection = try CheckReport(parsing: Array(report.json.utf8)).peers.first?.connection
    #expect(connection?.localCandidateType == .srflx)
    #expect(connection?.remoteCandidateType == .relay)
  }

  @Test("the same events give the same report, byte for byte")
  func same() throws {
    var call = SyntheticCall()
    call.duration = 4
    call.lostAudio = [60, 61, 90]
    let participantEvents = try call.participantEvents()
    func text() throws -> String {
      let judge = CallJudge(call.options)
      judge.joined(at: SyntheticCall.instant(0.2))
      for (index, participantEvent) in participantEvents.enumerated() {
        judge.receive(participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
        // Reading the status changes nothing.
        if index.isMultiple(of: 100) {
          _ = judge.report(at: SyntheticCall.instant(participantEvent.time))
          _ = judge.status(at: SyntheticCall.instant(participantEvent.time))
        }
      }
      return try judge.report(at: SyntheticCall.instant(4)).json
    }
    let first = try text()
    let second = try text()
    let isSame = first == second
    #expect(isSame)
    print("measured: a report of 3 s of one peer is \(first.utf8.count) bytes of JSON")
  }

  @Test("a written report is read back unchanged")
  func readBack() throws {
    var call = SyntheticCall()
    call.duration = 4
    var report = try call.report()
    report.start = "2026-11-21T17:00:00.123Z"
    report.impairment = [.init(start: 0, end: 2, direction: "send", text: "loss=5%")]
    report.comparison = report.compared(with: report)
    let json = try report.json
    let read = try CheckReport(parsing: Array(json.utf8))
    #expect(try read.json == json)
    #expect(read.peers.first?.video == report.peers.first?.video)
    #expect(read.peers.first?.thumbnails.first?.videoFrame == nil)
    let thumbnails = report.peers[0].thumbnails
    #expect((3...12).contains(thumbnails.count))
    #expect(thumbnails.allSatisfy { $0.width == 160 && $0.height == 120 && $0.videoFrame?.isWhole == true })
    #expect(!json.lowercased().contains("nan"))
  }

  @Test(
    "text that is not a report is refused with a sentence",
    arguments: [
      ("", "not JSON"), ("[]", "has the wrong type"), ("{\"version\": 3}", "its version is 3"),
      ("{}", "version is missing"),
      ("{\"version\": 1}", "is missing"),
    ])
  func refused(text: String, reason: String) {
    let error = #expect(throws: CheckReport.ReadingError.self) { try CheckReport(parsing: Array(text.utf8)) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }

  @Test("a call of hours needs no more memory than one of minutes")
  func long() throws {
    let videoFrames = try NumberedVideoFrames(count: 2)
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    // A frame every 2 s for five hours, and every fifth one after a pause that is a freeze.
    var time = 1.0
    for round in 0..<1_500 {
      judge.receive(videoFrames.frame(round % 2, at: time), from: SyntheticCall.peer, at: SyntheticCall.instant(time))
      time += round.isMultiple(of: 5) ? 60 : 1.5
    }
    let report = judge.report(at: SyntheticCall.instant(time))
    let peer = try #require(report.peers.first)
    #expect(peer.timeline.fps.count <= 3_000)
    #expect(peer.timeline.step > 5)
    #expect(peer.video?.freezes.count == 300)
    #expect(peer.video?.freezes.list.count == 200)
    #expect(peer.thumbnails.count == 12)
    let times = peer.thumbnails.map(\.time)
    #expect(times == times.sorted())
    #expect((times.last ?? 0) > time * 0.8)
  }

  @Test("two peers are judged separately, and simultaneous peers are counted")
  func two() throws {
    var good = SyntheticCall()
    good.duration = 5
    var bad = good
    bad.framesPerSecond = 5
    var options = good.options
    options.expected.peers = 2
    let judge = CallJudge(options)
    judge.joined(at: SyntheticCall.instant(0.2))
    let other = ParticipantID("peer-2")
    var all =
      try good.participantEvents().map { ($0, SyntheticCall.peer) } + bad.participantEvents().map { ($0, other) }
    all.sort { ($0.0.time, $0.1.text) < ($1.0.time, $1.1.text) }
    for (participantEvent, peer) in all {
      judge.receive(participantEvent.event, of: peer, at: SyntheticCall.instant(participantEvent.time))
    }
    let report = judge.report(at: SyntheticCall.instant(5))
    #expect(report.roomReport.peersAtOnce == 2)
    #expect(report.results.filter { !$0.holds }.map(\.peer) == ["peer-2"])
    #expect(report.failedRules == ["video.fps >= 15"], "\(report.reported)")
    #expect(report.summary == "1 of \(report.rules.count) rules failed for 1 of 2 peers.")
    let status = judge.status(at: SyntheticCall.instant(5))
    #expect(status.pending == [])
    #expect(status.peers.count == 2)
    #expect(abs(status.peers[0].fps - 30) <= 1)
    #expect((status.mediaElapsed ?? 0) > 3.5)
  }

  @Test("the status lists what the check waits for")
  func pending() throws {
    var call = SyntheticCall()
    call.duration = 3
    let judge = CallJudge(call.options)
    #expect(judge.status(at: SyntheticCall.instant(0.1)).pending == ["the room", "1 more peer"])
    judge.joined(at: SyntheticCall.instant(0.2))
    #expect(judge.status(at: SyntheticCall.instant(0.25)).pending == ["1 more peer"])
    var seen: [String] = []
    for participantEvent in try call.participantEvents() {
      judge.receive(participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
      let pending = judge.status(at: SyntheticCall.instant(participantEvent.time)).pending.joined(separator: ", ")
      if seen.last != pending { seen.append(pending) }
    }
    #expect(
      seen == ["a connection to peer-1", "video of peer-1, audio of peer-1", "audio of peer-1", ""])
  }
}

import CallCheck
import CallCheckTestSupport
import Media
import NIOCore
import Testing

/// Peers that send a screen beside the camera.
@Suite("A peer with several streams")
struct StreamTests {
  private static let peer = SyntheticCall.peer

  /// A call of 8 s, and the screen: 10 frames a second from 3 s on, without audio.
  private static let camera = SyntheticCall()

  private static var screen: SyntheticCall {
    var screen = SyntheticCall()
    (screen.begin, screen.framesPerSecond, screen.hasAudio) = (3, 10, false)
    screen.size = VideoSize(width: 160, height: 120)
    return screen
  }

  /// Returns the media of a call as that of a further stream.
  private func media(of call: SyntheticCall, stream: Int) throws -> [SyntheticCall.ScriptedEvent] {
    try call.participantEvents().compactMap { event in
      switch event.event {
      case .frame(var frame):
        frame.stream = stream
        return .init(time: event.time, event: .frame(frame))
      default: return nil
      }
    }
  }

  /// Returns the events of a call in which 600 packets of the second stream's video are counted, 6 of them lost.
  private func counting(_ events: [SyntheticCall.ScriptedEvent]) -> [SyntheticCall.ScriptedEvent] {
    events.map { event in
      guard case .sample(var sample) = event.event, event.time >= 3 else { return event }
      var track = TrackStatistics()
      (track.packetsExpected, track.packetsReceived, track.packetsLost) = (600, 594, 6)
      sample.received[TrackID(of: Self.peer, stream: 2, kind: .video)] = track
      return .init(time: event.time, event: .sample(sample))
    }
  }

  private func judge(
    _ events: [SyntheticCall.ScriptedEvent], rules: [String] = [], options: CallJudge.Options = Self.camera.options
  ) throws -> CallJudge {
    var options = options
    for rule in rules { options.rules.given.append(try Rule(rule)) }
    let judge = CallJudge(options)
    judge.joined(at: SyntheticCall.instant(0.2))
    let inOrder = events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
    for event in inOrder.map(\.element) {
      judge.receive(event.event, of: Self.peer, at: SyntheticCall.instant(event.time))
    }
    return judge
  }

  private func described(_ stream: MediaStream, at time: Double) -> SyntheticCall.ScriptedEvent {
    .init(time: time, event: .described(stream))
  }

  @Test("each stream is judged by itself, and the first one as if it were alone")
  func two() throws {
    var screen = Self.screen
    screen.black = 5..<6
    let slides = MediaStream(
      owner: Self.peer, number: 2, id: "9f2b", content: "slides", tracks: [.video: "2"])
    let events =
      try counting(Self.camera.participantEvents()) + media(of: screen, stream: 2) + [described(slides, at: 2.9)]
    let rules = [
      "2.video.fps >= 9", "2.video.black.longest <= 500ms", "3.video.fps >= 1", "2.audio.silence <= 1s",
      "1.video.black == 0", "2.loss == 1%", "loss == 0", "2.pattern.ssim >= 0.5", "2.video.width == 160",
    ]
    let report = try judge(events, rules: rules).report(at: SyntheticCall.instant(8))
    let alone = try Self.camera.report()
    let peer = try #require(report.peers.first)
    let first = try #require(alone.peers.first)
    #expect(peer.video == first.video && peer.audio == first.audio && peer.pattern == first.pattern)
    #expect(peer.steps == first.steps && peer.skew == first.skew && peer.timeline == first.timeline)
    #expect(peer.connection == first.connection && peer.thumbnails.map(\.time) == first.thumbnails.map(\.time))
    #expect(peer.streams?.count == 1)
    let stream = try #require(peer.streams?.first)
    #expect(stream.number == 2 && stream.id == "9f2b" && stream.content == "slides")
    #expect(abs((stream.video?.fps ?? 0) - 10) < 0.3)
    #expect(abs((stream.firstFrame ?? 0) - 3.05) < 0.01)
    #expect(stream.audio == nil && stream.firstSound == nil && stream.skew == nil)
    #expect(abs((stream.video?.black.longest ?? 0) - 1) < 0.11)
    #expect(stream.received.video?.received == 594 && stream.received.audio == nil)
    #expect(stream.timeline.loss.contains(0.01) && peer.timeline.loss.allSatisfy { ($0 ?? 0) == 0 })
    #expect(stream.timeline.fps.count == peer.timeline.fps.count)
    #expect(stream.timeline.step == peer.timeline.step)
    #expect(stream.timeline.sentBitrate.allSatisfy { $0 == nil })
    #expect((3...12).contains(stream.thumbnails.count))

    #expect(
      report.failedRules == ["2.video.black.longest <= 500ms", "3.video.fps >= 1", "2.audio.silence <= 1s"],
      "\(report.reported)")
    #expect(
      report.result("3.video.fps >= 1")?.sentence
        == "Frame rate of stream 3 could not be measured: peer-1 sent no third stream.")
    #expect(report.result("3.video.fps >= 1")?.outcome == .notMeasured)
    #expect(
      report.result("2.audio.silence <= 1s")?.sentence
        == "Longest silence of stream 2 could not be measured: stream 2 of the peer has no audio.")
    let black = try #require(report.result("2.video.black.longest <= 500ms"))
    #expect(black.sentence.hasPrefix("Longest black interval of stream 2: 1"))
    #expect(black.measurement == "video.black.longest" && black.stream == 2 && black.peer == "peer-1")
    #expect(report.result("video.fps >= 15")?.stream == nil)
    #expect(report.limitations == [])
  }

  @Test("default rules are about the first stream, and a rule about another one does not replace them")
  func defaults() throws {
    var rules = RuleList(includesDefaults: true)
    try rules.add("2.video.fps >= 9")
    #expect(!rules.isGiven("video.fps"))
    try rules.add("1.video.fps >= 9")
    #expect(rules.isGiven("video.fps"))
    // A screen of one frame a second would fail the default rules.
    var screen = Self.screen
    screen.framesPerSecond = 1
    let report = try judge(Self.camera.participantEvents() + media(of: screen, stream: 2)).report(
      at: SyntheticCall.instant(8))
    #expect(report.failedRules == [], "\(report.reported)")
  }

  @Test("a rule about a stream of a peer that was never connected says how far the call got")
  func neverConnected() throws {
    let judge = try judge([.init(time: 0.5, event: .step(.offerSent))], rules: ["2.video.fps >= 9"])
    let sentence = judge.report(at: SyntheticCall.instant(5)).result("2.video.fps >= 9")?.sentence
    #expect(
      sentence
        == "Frame rate of stream 2 could not be measured: peer-1 sent no second stream "
        + "(our offer was sent, but no answer arrived).")
  }

  @Test("if only a further stream has video, a rule without a number says how to name it")
  func elsewhere() throws {
    var microphone = SyntheticCall()
    microphone.hasVideo = false
    // No packet of the first stream's video was counted.
    let events = try microphone.participantEvents().filter { if case .sample = $0.event { false } else { true } }
    let report = try judge(events + media(of: Self.screen, stream: 2), options: Self.camera.options)
      .report(at: SyntheticCall.instant(8))
    #expect(
      report.result("video.fps >= 15")?.sentence.hasSuffix(
        "the peer\u{2019}s first stream has no video, but stream 2 has: write 2. before the name.") == true)
    // Media of any stream means that the call was established.
    let screen = try judge(media(of: Self.screen, stream: 2)).report(at: SyntheticCall.instant(8))
    #expect(screen.peers.first?.reached == .media && screen.diagnosis == nil)
    #expect(screen.roomReport.peersAtOnce == 1)
  }

  @Test("a stream without tracks has ended, which is no freeze, even if its media goes on for a while")
  func ended() throws {
    var screen = Self.screen
    screen.leaves = 5
    let stream = MediaStream(owner: Self.peer, number: 2, tracks: [.video: "2"])
    let gone = MediaStream(owner: Self.peer, number: 2)
    let media = try Self.camera.participantEvents() + media(of: screen, stream: 2)
    func video(_ descriptions: [SyntheticCall.ScriptedEvent]) throws -> VideoReport {
      let report = try judge(media + descriptions).report(at: SyntheticCall.instant(8))
      return try #require(report.peers.first?.streams?.first?.video)
    }
    let ended = try video([described(stream, at: 2.9), described(gone, at: 5.1)])
    #expect(ended.freezes.count == 0)
    #expect(abs(ended.duration - 2.05) < 0.02)
    #expect(abs(ended.fps - 10) < 0.5)
    // Without that, nobody knows whether it ended.
    #expect(abs(try video([]).freezes.longest - 3) < 0.2)
    let again = try video([described(gone, at: 3.5)])
    #expect(again.freezes.count == 0)
    #expect(abs(again.duration - 1.9) < 0.1)
  }

  @Test("a first stream without tracks is on hold, and a further one ends with the call of its peer")
  func holdAndDeparture() throws {
    var held = Self.camera
    held.paused = 4..<8
    let gone = MediaStream(owner: Self.peer, number: 1)
    let hold = try judge(held.participantEvents() + [described(gone, at: 4.1)]).report(at: SyntheticCall.instant(8))
    let freeze = try #require(hold.peers.first?.video?.freezes)
    #expect(abs(freeze.longest - 4) < 0.2)

    var screen = Self.screen
    screen.leaves = 5
    var events = try Self.camera.participantEvents() + media(of: screen, stream: 2)
    events.append(.init(time: 5.1, event: .step(.departed(.left, "The peer left the room."))))
    // The camera comes again, the screen does not.
    let report = try judge(events).report(at: SyntheticCall.instant(8))
    #expect(report.peers.first?.streams?.first?.video?.freezes.count == 0)
  }

  @Test("skipped frames make only the rules about their stream inconclusive")
  func skipped() throws {
    var events = try Self.camera.participantEvents() + media(of: Self.screen, stream: 2)
    let skipped = SkippedFrames(stream: 2, bytes: 100, isKeyframe: false, arrival: SyntheticCall.instant(4))
    events.append(.init(time: 4, event: .skipped(skipped)))
    let report = try judge(events, rules: ["video.fps >= 15", "2.video.fps >= 5"]).report(at: SyntheticCall.instant(8))
    #expect(report.result("video.fps >= 15")?.outcome == .held)
    #expect(report.result("2.video.fps >= 5")?.outcome == .inconclusive)
    #expect(report.verdict == .inconclusive)
    #expect(report.limitations == ["This machine could not decode everything that arrived: 1 frame was skipped."])
  }

  @Test("of more than 16 streams, the others are counted and ignored")
  func limit() throws {
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    let videoFrames = try NumberedVideoFrames(count: 1)
    for stream in [-1, 0, 1, 2, 16, 17, 18, .max, 17] {
      var frame = videoFrames.frame(0, at: 1)
      frame.stream = stream
      judge.receive(frame, from: Self.peer, at: SyntheticCall.instant(1))
    }
    let report = judge.report(at: SyntheticCall.instant(2))
    #expect(report.peers.first?.streams?.map(\.number) == [2, 16])
    #expect(report.peers.first?.streamsNotJudged == 5)
    #expect(
      report.limitations == ["5 further streams were not judged, because at most 16 streams of a peer are judged."])
    for stream in 19..<5_000 {
      judge.receive(.described(.init(owner: Self.peer, number: stream)), of: Self.peer, at: SyntheticCall.instant(2))
    }
    #expect(judge.report(at: SyntheticCall.instant(2)).peers.first?.streamsNotJudged == 1_000)
  }

  @Test("returned frames are compared with our stream of the same number")
  func returned() throws {
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    let videoFrames = try NumberedVideoFrames(count: 60)
    for number in 0..<60 {
      let time = videoFrames.time(number)
      for stream in [1, 2] {
        var frame = videoFrames.frame(number, at: time)
        frame.stream = stream
        judge.sent(frame, at: SyntheticCall.instant(time))
        // Of the second stream, every third frame is not returned.
        if stream == 2, number % 3 == 2 { continue }
        frame.arrival = SyntheticCall.instant(time + (stream == 1 ? 0.01 : 0.02))
        judge.receive(frame, from: Self.peer, at: frame.arrival)
      }
    }
    let report = try #require(judge.report(at: SyntheticCall.instant(5)).peers.first)
    #expect(report.returned?.sent == 60 && report.returned?.missing == 0)
    let stream = try #require(report.streams?.first?.returned)
    #expect(stream.sent == 60 && stream.returned == 40 && stream.missing == 20 && stream.doubled == 0)
    #expect(stream.roundTrip?.p50 == 0.02 && report.returned?.roundTrip?.p50 == 0.01)
    // What comes back in another stream is not ours.
    let crossed = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    for number in 0..<10 {
      var frame = videoFrames.frame(number, at: videoFrames.time(number))
      crossed.sent(frame, at: frame.arrival)
      frame.stream = 2
      crossed.receive(frame, from: Self.peer, at: frame.arrival)
    }
    #expect(crossed.report(at: SyntheticCall.instant(5)).peers.first?.streams?.first?.returned == nil)
  }

  @Test("the timelines of all streams have the same steps, however early a stream ends")
  func steps() throws {
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    let videoFrames = try NumberedVideoFrames(count: 2)
    for second in 1..<1_300 {
      var frame = videoFrames.frame(second % 2, at: Double(second))
      judge.receive(frame, from: Self.peer, at: SyntheticCall.instant(Double(second)))
      frame.stream = 2
      if second < 100 { judge.receive(frame, from: Self.peer, at: SyntheticCall.instant(Double(second))) }
    }
    let peer = try #require(judge.report(at: SyntheticCall.instant(1_300)).peers.first)
    #expect(peer.timeline.step > 0.2)
    #expect(peer.streams?.first?.timeline.step == peer.timeline.step)
    #expect(peer.streams?.first?.timeline.fps.count == peer.timeline.fps.count)
  }

  @Test("a comparison with a baseline compares each stream with that of the same number")
  func compared() throws {
    let events = try Self.camera.participantEvents()
    var paused = Self.screen
    paused.paused = 5..<7
    let rules = ["2.video.freeze.longest <= 1s"]
    let before = try judge(events + media(of: Self.screen, stream: 2), rules: rules).report(
      at: SyntheticCall.instant(8))
    let now = try judge(events + media(of: paused, stream: 2), rules: rules).report(at: SyntheticCall.instant(8))
    let comparison = now.compared(with: before)
    let freeze = try #require(comparison.worse.first { $0.measurement == "video.freeze.longest" })
    #expect(freeze.stream == 2)
    #expect(freeze.sentence.hasPrefix("Longest freeze of stream 2: 0 ms before, 2."))
    #expect(comparison.worse.allSatisfy { $0.stream == 2 })
    #expect(comparison.newFailures.map(\.rule) == rules)
    // A stream that the baseline lacks is not compared.
    #expect(now.compared(with: try judge(events, rules: rules).report(at: SyntheticCall.instant(8))).worse == [])
  }
}

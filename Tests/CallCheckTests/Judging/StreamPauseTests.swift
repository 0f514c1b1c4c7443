import CallCheck
import CallCheckTestSupport
import Media
import NIOCore
import Testing

/// Peers that share a screen, stop, and share again as the same stream: from 3 s to 6 s and from 26 s to 29 s.
@Suite("A stream that ended and continues")
struct StreamPauseTests {
  private static let peer = SyntheticCall.peer
  private static let pause = 23.0
  private static let shared = MediaStream(owner: peer, number: 2, tracks: [.video: "2", .audio: "3"])
  private static let gone = MediaStream(owner: peer, number: 2)

  private static var screen: SyntheticCall {
    var screen = SyntheticCall()
    (screen.begin, screen.leaves, screen.framesPerSecond, screen.hasAudio) = (3, 6, 10, false)
    screen.size = VideoSize(width: 160, height: 120)
    return screen
  }

  /// Returns the frames of a call as those of the second stream.
  ///
  /// - Parameters:
  ///   - seconds: how much later they arrive.
  ///   - isOtherSource: whether their timestamps begin again, as those of another RTP stream do.
  private func media(of call: SyntheticCall, later seconds: Double = 0, isOtherSource: Bool = false) throws
    -> [SyntheticCall.ScriptedEvent]
  {
    try call.participantEvents().compactMap { event in
      guard case .frame(var frame) = event.event else { return nil }
      frame.stream = 2
      frame.arrival = SyntheticCall.instant(event.time + seconds)
      if !isOtherSource {
        let ticks = frame.time.ticks + Int64(seconds * Double(frame.time.rate))
        frame.time = MediaTime(ticks: ticks, rate: frame.time.rate)
      }
      return .init(time: event.time + seconds, event: .frame(frame))
    }
  }

  private func described(_ stream: MediaStream, at time: Double) -> SyntheticCall.ScriptedEvent {
    .init(time: time, event: .described(stream))
  }

  /// When the stream is described, begins, ends, and begins and ends again.
  private var descriptions: [SyntheticCall.ScriptedEvent] {
    [described(Self.shared, at: 2.9), described(Self.gone, at: 6)]
      + [described(Self.shared, at: 25.9), described(Self.gone, at: 29)]
  }

  private func report(_ events: [SyntheticCall.ScriptedEvent], at end: Double = 35) throws -> StreamReport {
    let judge = CallJudge(SyntheticCall().options)
    let inOrder = events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
    for event in inOrder.map(\.element) {
      judge.receive(event.event, of: Self.peer, at: SyntheticCall.instant(event.time))
    }
    return try #require(judge.report(at: SyntheticCall.instant(end)).peers.first?.streams?.first)
  }

  @Test(
    "the time between is neither a freeze nor counted, whether the timestamps continue or begin again",
    arguments: [false, true])
  func sharedTwice(isOtherSource: Bool) throws {
    let events =
      try media(of: Self.screen) + media(of: Self.screen, later: Self.pause, isOtherSource: isOtherSource)
      + descriptions
    let stream = try report(events)
    let video = try #require(stream.video)
    #expect(video.freezes.count == 0 && video.frozen.count == 0 && video.freezes.ratio == 0)
    #expect(abs(video.fps - 10) < 0.3)
    #expect(try #require(video.fpsMinimum) >= 9)
    #expect(abs(video.start - 3.05) < 0.01)
    // From the first frame to the end of the stream, twice.
    #expect(abs(video.duration - 2 * 2.95) < 0.02)
    let pattern = try #require(stream.pattern)
    #expect((pattern.missing, pattern.doubled, pattern.restarts) == (0, 0, 0))
    #expect(pattern.numbersPainted == video.frames)

    let timeline = stream.timeline
    func values(_ row: [Double?], from start: Double, to end: Double) -> [Double?] {
      Array(row[Int(start / timeline.step)..<Int(end / timeline.step)])
    }
    for row in [timeline.fps, timeline.freeze, timeline.videoBitrate] {
      #expect(values(row, from: 3.2, to: 5.8).allSatisfy { $0 != nil })
      #expect(values(row, from: 6.4, to: 25.8).allSatisfy { $0 == nil })
      #expect(values(row, from: 26.4, to: 28.8).allSatisfy { $0 != nil })
      #expect(values(row, from: 29.4, to: 35).allSatisfy { $0 == nil })
    }
    #expect(timeline.freeze.allSatisfy { ($0 ?? 0) == 0 })
  }

  @Test("a freeze within a sharing is found, and one at its end lasts until the end of the stream")
  func freezes() throws {
    var frozen = Self.screen
    frozen.paused = 4..<5
    // The frames end 1.5 s before the stream.
    var short = Self.screen
    short.leaves = 4.5
    let events = try media(of: short) + media(of: frozen, later: Self.pause) + descriptions
    let freezes = try #require(try report(events).video?.freezes)
    #expect(freezes.count == 2)
    #expect(freezes.list.map(\.reason) == ["untilEnd", "senderPaused"])
    #expect(abs(freezes.list[0].start + freezes.list[0].duration - 6) < 0.01)
    #expect(abs(freezes.list[0].duration - 1.55) < 0.11)
    #expect(abs(freezes.list[1].start - 26.95) < 0.11 && abs(freezes.list[1].duration - 1.1) < 0.11)
  }

  @Test("a stream that was announced again and from which nothing arrives has ended")
  func announced() throws {
    let video = try #require(try report(media(of: Self.screen) + descriptions.dropLast()).video)
    #expect(video.freezes.count == 0)
    #expect(abs(video.duration - 2.95) < 0.02)
  }

  @Test("media that was sent before the description that ends the stream does not continue it")
  func inFlight() throws {
    let video = try #require(
      try report(media(of: Self.screen) + [described(Self.shared, at: 2.9), described(Self.gone, at: 5.5)]).video)
    #expect(video.freezes.count == 0)
    #expect(abs(video.duration - 2.9) < 0.02)
    #expect(abs(video.fps - 10) < 0.4)
  }

  @Test("media that continues long after the description that ends the stream is judged, and its end is no freeze")
  func undescribed() throws {
    let video = try #require(
      try report(media(of: Self.screen) + [described(Self.shared, at: 2.9), described(Self.gone, at: 3.5)]).video)
    #expect(video.freezes.count == 0)
    #expect(abs(video.duration - 2.9) < 0.2)
    #expect(abs(video.fps - 10) < 1)
  }

  @Test("a description that leaves the stream out for a moment ends nothing: a freeze across it is found")
  func moment() throws {
    var frozen = Self.screen
    frozen.paused = 4..<5
    let events =
      try media(of: frozen) + [described(Self.shared, at: 2.9), described(Self.gone, at: 4.1)]
      + [described(Self.shared, at: 4.2), described(Self.gone, at: 6)]
    let video = try #require(try report(events).video)
    #expect(video.freezes.count == 1)
    #expect(abs(video.duration - 2.95) < 0.02)
  }

  @Test("the time between is no silence, and a silence in a sharing is found")
  func audio() throws {
    var sharing = Self.screen
    (sharing.hasVideo, sharing.hasAudio) = (false, true)
    var silent = sharing
    silent.silent = 4..<5
    for isOtherSource in [false, true] {
      let events =
        try media(of: sharing) + media(of: silent, later: Self.pause, isOtherSource: isOtherSource) + descriptions
      let stream = try report(events)
      let audio = try #require(stream.audio)
      #expect(abs(audio.silence.longest - 1) < 0.1)
      #expect(audio.silence.list.filter { $0.duration > 0.5 }.count == 1)
      #expect(abs(audio.duration - 2 * 2.93) < 0.05)
      #expect(audio.gaps.count == 0)
    }
  }

  @Test("frames that we send while the stream is not there are not missing from those that return")
  func returned() throws {
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    let videoFrames = try NumberedVideoFrames(count: 60)
    for number in 0..<60 {
      let time = videoFrames.time(number)
      let now = SyntheticCall.instant(time)
      if number == 20 { judge.receive(.described(Self.gone), of: Self.peer, at: now) }
      if number == 40 { judge.receive(.described(Self.shared), of: Self.peer, at: now) }
      var frame = videoFrames.frame(number, at: time)
      frame.stream = 2
      judge.sent(frame, at: now)
      // The tenth frame of each sharing is lost.
      if (20..<40).contains(number) || number % 40 == 10 { continue }
      frame.arrival = SyntheticCall.instant(time + 0.01)
      judge.receive(frame, from: Self.peer, at: frame.arrival)
    }
    let returned = try #require(judge.report(at: SyntheticCall.instant(5)).peers.first?.streams?.first?.returned)
    #expect((returned.sent, returned.returned, returned.missing, returned.doubled) == (40, 38, 2, 0))
  }

  @Test("a stream that ends and continues again and again does not fill the memory")
  func often() throws {
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    let videoFrames = try NumberedVideoFrames(count: 1)
    for second in 1..<1_000 {
      let time = Double(second)
      var frame = videoFrames.frame(0, at: time)
      frame.stream = 2
      judge.receive(frame, from: Self.peer, at: frame.arrival)
      judge.receive(.described(Self.gone), of: Self.peer, at: SyntheticCall.instant(time + 0.25))
      judge.receive(.described(Self.shared), of: Self.peer, at: SyntheticCall.instant(time + 0.75))
    }
    let video = try #require(judge.report(at: SyntheticCall.instant(1_000)).peers.first?.streams?.first?.video)
    #expect(video.frames == 999)
    // 200 intervals of 0.25 s; the rest is one.
    #expect(abs(video.duration - (200 * 0.25 + 798.25)) < 1)
  }
}

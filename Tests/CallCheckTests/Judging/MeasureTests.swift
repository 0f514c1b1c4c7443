import CallCheck
import CallCheckTestSupport
import Codecs
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Measurements")
struct MeasureTests {
  @Test("frames that were sent in time but arrived late are reported as delayed by the network")
  func heldUp() throws {
    let videoFrames = try NumberedVideoFrames(count: 90)
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    for number in 0..<90 {
      // For a second and a half nothing arrives, and then everything at once.
      let time = 1 + videoFrames.time(number)
      let arrival = (2..<3.5).contains(time) ? 3.5 : time
      judge.receive(
        videoFrames.frame(number, at: arrival), from: SyntheticCall.peer, at: SyntheticCall.instant(arrival))
    }
    let video = try #require(judge.report(at: SyntheticCall.instant(4)).peers.first?.video)
    #expect(video.freezes.list.map(\.reason) == [FreezeReason.late.rawValue])
    #expect(abs(video.freezes.longest - 1.5) < 0.05)
  }

  @Test(
    "if the sender's clock stood still, its reports show that a freeze was not caused by the network",
    arguments: [true, false])
  func standstill(hasReports: Bool) throws {
    let videoFrames = try NumberedVideoFrames(count: 120)
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    // Nothing is sent from 1.33 s on, for 0.8 s, and the timestamps continue.
    var reports = hasReports ? [0.5, 1, 3, 4] : []
    for number in 0..<120 {
      let time = videoFrames.time(number) + (number < 40 ? 0 : 0.8)
      while let sent = reports.first, sent <= time {
        reports.removeFirst()
        let ticks = Int64(((sent < 2 ? sent : sent - 0.8) * 90_000).rounded())
        judge.clock(
          ClockReport(
            owner: SyntheticCall.peer, codec: .vp8, time: MediaTime(ticks: ticks, rate: 90_000),
            ntp: ReportingSender.ntp(at: sent), arrival: SyntheticCall.instant(sent)), of: SyntheticCall.peer)
      }
      judge.receive(videoFrames.frame(number, at: time), from: SyntheticCall.peer, at: SyntheticCall.instant(time))
    }
    let video = try #require(judge.report(at: SyntheticCall.instant(5)).peers.first?.video)
    let reason: FreezeReason = hasReports ? .senderPaused : .late
    #expect(video.freezes.list.first?.reason == reason.rawValue)
    #expect(abs((video.freezes.list.first?.duration ?? 0) - 0.83) < 0.01)
  }

  @Test(
    "the first packet is never reported later than its decoded content, although its event arrives later",
    arguments: [true, false])
  func firstPacket(isReportedFirst: Bool) throws {
    var call = SyntheticCall()
    call.duration = 2
    let judge = CallJudge(call.options)
    judge.step(.appeared, of: SyntheticCall.peer, at: SyntheticCall.instant(0.1))
    // Packet events arrive late here, but frames carry their arrival time.
    func tell() { judge.step(.firstPacket, of: SyntheticCall.peer, at: SyntheticCall.instant(1.3)) }
    if isReportedFirst { tell() }
    for participantEvent in try call.participantEvents() {
      guard case .frame = participantEvent.event else { continue }
      judge.receive(
        participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time + 0.3))
    }
    if !isReportedFirst { tell() }
    let steps = try #require(judge.report(at: SyntheticCall.instant(2)).peers.first?.steps)
    let (frame, audio) = (try #require(steps.firstFrame), try #require(steps.firstSound))
    #expect(steps.firstPacket == min(frame, audio))
    #expect(frame < 1.3 && audio < 1.3)
  }

  @Test("a freeze has the reason that the frame after it carries", arguments: MediaGap.Reason.allCases)
  func reasons(reason: MediaGap.Reason) throws {
    let videoFrames = try NumberedVideoFrames(count: 60)
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    for number in 0..<60 where !(20..<40).contains(number) {
      var frame = videoFrames.frame(number, at: videoFrames.time(number))
      if number == 40 { frame.gap = MediaGap(reason, packetsLost: 3) }
      judge.receive(frame, from: SyntheticCall.peer, at: SyntheticCall.instant(videoFrames.time(number)))
    }
    let video = try #require(judge.report(at: SyntheticCall.instant(2)).peers.first?.video)
    let expected: [MediaGap.Reason: FreezeReason] = [
      .lost: .lost, .recoveredLate: .recoveredLate, .waitingForKeyframe: .waitingForKeyframe,
      .senderPaused: .senderPaused, .senderDiscarded: .senderPaused,
      .paused: .senderPaused, .dtx: .senderPaused, .streamEnded: .senderPaused, .muted: .muted, .reconnect: .reconnect,
      .diskStalled: .receiverStalled,
      .overloaded: .receiverStalled, .memoryFull: .receiverStalled,
    ]
    #expect(video.freezes.list.map(\.reason) == [expected[reason]?.rawValue])
  }

  @Test("video that ends before the check is a freeze until the check's end")
  func untilEnd() throws {
    let videoFrames = try NumberedVideoFrames(count: 30)
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    for number in 0..<30 {
      judge.receive(
        videoFrames.frame(number, at: videoFrames.time(number)), from: SyntheticCall.peer,
        at: SyntheticCall.instant(videoFrames.time(number)))
    }
    let video = try #require(judge.report(at: SyntheticCall.instant(4)).peers.first?.video)
    #expect(video.freezes.list.last?.reason == FreezeReason.untilEnd.rawValue)
    #expect(abs(video.freezes.longest - 3) < 0.05)
  }

  @Test("an undecodable frame is an error, and the freeze that it causes has that reason")
  func damaged() throws {
    let videoFrames = try NumberedVideoFrames(count: 60)
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    for number in 0..<60 {
      var frame = videoFrames.frame(number, at: videoFrames.time(number))
      if (20..<40).contains(number) { frame.payload = ByteBuffer(repeating: 0, count: 8) }
      judge.receive(frame, from: SyntheticCall.peer, at: SyntheticCall.instant(videoFrames.time(number)))
    }
    let video = try #require(judge.report(at: SyntheticCall.instant(2)).peers.first?.video)
    #expect(video.decodeErrors == 20)
    #expect(video.frames == 40)
    #expect(video.freezes.list.map(\.reason) == [FreezeReason.undecodable.rawValue])
  }

  @Test("an occasionally repeated frame does not end a freeze")
  func refreshed() throws {
    let videoFrames = try NumberedVideoFrames(count: 60)
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    func show(_ number: Int, at time: Double) {
      judge.receive(videoFrames.frame(number, at: time), from: SyntheticCall.peer, at: SyntheticCall.instant(time))
    }
    for number in 0..<30 { show(number, at: videoFrames.time(number)) }
    let last = videoFrames.time(29)
    show(29, at: last + 1)
    for number in 30..<60 { show(number, at: last + 2 + videoFrames.time(number - 30)) }
    let video = try #require(judge.report(at: SyntheticCall.instant(4)).peers.first?.video)
    #expect(video.freezes.count == 1)
    #expect(abs(video.freezes.longest - 2) < 0.001)
    #expect(video.frozen.count == 0)
  }

  /// Returns an office scene: soft shapes, no movement.
  private func scene(_ size: VideoSize) -> VideoFrame {
    var videoFrame = VideoFrame(size: size)
    for row in 0..<size.height {
      for column in 0..<size.width {
        videoFrame.luma[row * size.width + column] = UInt8(60 + column * 100 / size.width + (row / 24 % 2) * 30)
      }
    }
    return videoFrame
  }

  private func report(_ videoFrames: (Int) -> VideoFrame, count: Int, bitrate: Int) throws -> VideoReport {
    let size = VideoSize(width: 320, height: 240)
    var settings = VP8Encoder.Settings(size: size)
    settings.bitrate = bitrate
    let encoder = try VP8Encoder(settings)
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    for number in 0..<count {
      guard let output = try encoder.encode(videoFrames(number), time: Int64(number) * 3_000) else { continue }
      let arrival = SyntheticCall.instant(Double(number) / 30)
      judge.receive(
        EncodedFrame(
          owner: SyntheticCall.peer, codec: .vp8, time: MediaTime(ticks: Int64(number) * 3_000, rate: 90_000),
          payload: output.payload, isKeyframe: output.isKeyframe, arrival: arrival), from: SyntheticCall.peer,
        at: arrival)
    }
    return try #require(judge.report(at: SyntheticCall.instant(Double(count) / 30)).peers.first?.video)
  }

  @Test(
    "a camera with a static scene is not stuck, because its noise is visible", arguments: [300_000, 1_000_000])
  func noise(bitrate: Int) throws {
    var generator = SeededGenerator(seed: 9)
    let scene = scene(VideoSize(width: 320, height: 240))
    let video = try report(
      { _ in
        var videoFrame = scene
        for index in videoFrame.luma.indices {
          videoFrame.luma[index] &+= UInt8(truncatingIfNeeded: generator.next() % 9)
        }
        return videoFrame
      }, count: 150, bitrate: bitrate)
    print(
      "measured: a scene with noise at \(bitrate / 1_000) kb/s: the same frame for \(video.frozen.longest) s at most")
    #expect(video.frozen.longest < 3)
  }

  @Test("a small moving object is enough for a video not to be stuck")
  func moving() throws {
    let size = VideoSize(width: 320, height: 240)
    let scene = scene(size)
    let video = try report(
      { number in
        var videoFrame = scene
        for row in 100..<120 {
          for column in 0..<20 { videoFrame.luma[row * size.width + 40 + number + column] = 220 }
        }
        return videoFrame
      }, count: 120, bitrate: 300_000)
    #expect(video.frozen.count == 0, "\(video.frozen)")
  }

  @Test("a stuck frame is detected although the encoder keeps refining it", arguments: [60_000, 300_000])
  func stuck(bitrate: Int) throws {
    let scene = scene(VideoSize(width: 320, height: 240))
    let video = try report({ _ in scene }, count: 150, bitrate: bitrate)
    print("measured: stuck for 5 s at \(bitrate / 1_000) kb/s: \(video.frozen.longest) s")
    // At a low bitrate, refining the frame takes a second.
    #expect(video.frozen.longest > (bitrate < 100_000 ? 3.5 : 4.5))
    #expect(video.freezes.count == 0)
  }

  @Test("a change of the video size is reported with its time")
  func sizes() throws {
    var small = SyntheticCall()
    small.hasAudio = false
    small.duration = 2
    small.size = VideoSize(width: 160, height: 120)
    var large = small
    large.size = VideoSize(width: 320, height: 240)
    let judge = CallJudge(small.options)
    let half = try small.participantEvents()
    for participantEvent in half {
      judge.receive(participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
    }
    for participantEvent in try large.participantEvents() {
      guard case .frame(var frame) = participantEvent.event else { continue }
      frame.arrival = frame.arrival + .seconds(1)
      judge.receive(frame, from: SyntheticCall.peer, at: frame.arrival)
    }
    let video = try #require(judge.report(at: SyntheticCall.instant(3)).peers.first?.video)
    #expect(video.sizeChanges == 1)
    #expect(video.sizes.map(\.width) == [160, 320])
    #expect(abs((video.sizes.last?.time ?? 0) - 2.05) < 0.05)
  }

  @Test("sent and received counters are combined, also after a restart")
  func counts() throws {
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    func sample(_ time: Double, expected: UInt64, lost: UInt64, recovered: UInt64, sent: UInt64) {
      var sample = ConnectionSample()
      var track = TrackStatistics()
      track.packetsExpected = expected
      track.packetsReceived = expected - lost
      track.packetsLost = lost
      track.packetsRecovered = recovered
      track.keyframeRequests = lost
      track.jitter = time / 1_000
      sample.received = [TrackID(of: SyntheticCall.peer, kind: .video): track]
      var counts = ConnectionSample.Sent()
      counts.packets = sent
      counts.bytes = sent * 1_000
      counts.packetsLost = Int64(sent / 10)
      counts.targetBitrate = 500_000
      sample.sent = counts
      sample.roundTripTime = 0.02
      judge.sample(sample, of: SyntheticCall.peer, at: SyntheticCall.instant(time))
    }
    sample(1, expected: 100, lost: 2, recovered: 3, sent: 50)
    sample(2, expected: 200, lost: 4, recovered: 6, sent: 100)
    // The connection was re-established.
    sample(3, expected: 100, lost: 2, recovered: 0, sent: 50)
    let peer = try #require(judge.report(at: SyntheticCall.instant(4)).peers.first)
    let video = try #require(peer.connection.video)
    #expect(video.sent == 300)
    #expect(video.lost == 6)
    #expect(video.recovered == 6)
    #expect(abs(video.loss - 0.04) < 0.000_1)
    #expect(abs(video.finalLoss - 0.02) < 0.000_1)
    #expect(video.keyframeRequests == 6)
    #expect(video.jitter?.worst == 0.003)
    let sent = try #require(peer.connection.sent)
    #expect(sent.packets == 150)
    #expect(sent.packetsLost == 15)
    #expect(sent.loss == 0.1)
    #expect(sent.bitrate == 400_000)
    #expect(peer.connection.roundTripTime?.p50 == 0.02)
    let loss = peer.timeline.loss.compactMap { $0 }
    #expect(loss.count == 3)
    #expect(peer.timeline.sentBitrate.compactMap { $0 } == [400_000, 400_000])
    #expect(peer.timeline.targetBitrate.compactMap { $0 }.count == 3)
  }

  @Test("without the pattern, skew is estimated from the sender reports")
  func estimate() throws {
    var call = SyntheticCall()
    call.black = 0..<10
    call.silent = 0..<10
    call.duration = 6
    call.audioDelay = 0.2
    let judge = CallJudge(call.options)
    var hasReport: Set<Codec> = []
    for participantEvent in try call.participantEvents() {
      if case .frame(let frame) = participantEvent.event, hasReport.insert(frame.codec).inserted {
        // Both tracks began at the same time by the sender's wall clock.
        judge.clock(
          ClockReport(
            owner: SyntheticCall.peer, codec: frame.codec, time: frame.time, ntp: 0xE000_0000_0000_0000,
            arrival: frame.arrival), of: SyntheticCall.peer)
      }
      judge.receive(participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
    }
    let peer = try #require(judge.report(at: SyntheticCall.instant(6)).peers.first)
    let skew = try #require(peer.skew)
    #expect(skew.source == .senderReports)
    print(
      "measured: audio 200 ms late on its way, by sender reports: \(skew.total.p50) s, on the way \(skew.network ?? 9) s"
    )
    #expect(abs(skew.total.p50 - 0.22) < 0.005)
    #expect(abs((skew.network ?? 9) - 0.22) < 0.005)
    #expect(peer.pattern == nil)
  }

  @Test("with the pattern and sender reports, the origin of the skew is reported", arguments: [true, false])
  func origin(atSender: Bool) throws {
    var call = SyntheticCall()
    call.duration = 6
    call.audioDelay = 0.2
    let judge = CallJudge(call.options)
    var hasReport: Set<Codec> = []
    for participantEvent in try call.participantEvents() {
      if case .frame(let frame) = participantEvent.event, hasReport.insert(frame.codec).inserted {
        // The sender delays its audio before stamping it, or the network delays it afterwards.
        let late = atSender && frame.codec == .opus ? UInt64(0.2 * 4_294_967_296) : 0
        judge.clock(
          ClockReport(
            owner: SyntheticCall.peer, codec: frame.codec, time: frame.time, ntp: 0xE000_0000_0000_0000 + late,
            arrival: frame.arrival), of: SyntheticCall.peer)
      }
      judge.receive(participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
    }
    let skew = try #require(judge.report(at: SyntheticCall.instant(6)).peers.first?.skew)
    #expect(skew.source == .pattern)
    #expect(abs((skew.sender ?? 9) - (atSender ? 0.2 : 0)) < 0.005)
    #expect(abs((skew.network ?? 9) - (atSender ? 0.02 : 0.22)) < 0.005)
    #expect(skew.receiver == 0)
  }
}

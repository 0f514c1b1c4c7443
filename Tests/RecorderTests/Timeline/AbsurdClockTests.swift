import Media
import Recorder
import TestSupport
import Testing

/// Media clocks that no sender should have.
enum AbsurdClock: String, CaseIterable, Sendable {
  case hourForward, hourBack, zero, constant, backwards, random, milliseconds, microseconds, stepping, standsStillThrice

  case ninetyKilohertz, eightKilohertz, doubled, unsteady, leaps

  /// - Parameter rate: the ticks a second that the clock should count.
  func clock(rate: Double, from: Double) -> SimulatedSender.MediaClock {
    let right = SimulatedSender.clock(rate)
    return { captured, number in
      if captured < from { return right(captured, number) }
      let offset = right(from, number)
      let since = captured - from
      switch self {
      case .hourForward: return right(captured, number) + Int64(rate) * (since > 15 ? 3_600 : 0)
      case .hourBack: return right(captured, number) - Int64(rate) * (since > 15 ? 3_600 : 0)
      case .zero: return 0
      case .constant: return offset
      case .backwards: return offset - Int64(since * rate)
      case .random:
        var generator = SeededGenerator(seed: UInt64(number))
        return Int64(UInt32.random(in: 0...UInt32.max, using: &generator))
      case .milliseconds: return offset + Int64(since * 1_000)
      case .microseconds: return offset + Int64(since * 1_000_000)
      case .stepping: return offset + Int64(since / 2) * 2 * Int64(rate)
      case .standsStillThrice: return right(captured, number) - Int64(rate * 2.5 * min(3, (since / 15).rounded(.down)))
      case .ninetyKilohertz: return offset + Int64(since * 90_000)
      case .eightKilohertz: return offset + Int64(since * 8_000)
      case .unsteady:
        var generator = SeededGenerator(seed: UInt64(number))
        return right(captured, number) + Int64.random(in: -2 * Int64(rate)...2 * Int64(rate), using: &generator)
      case .leaps: return right(captured, number) + Int64(since / 5) * 3_600 * Int64(rate)
      case .doubled: return offset + Int64(since * rate * 2)
      }
    }
  }
}

@Suite("Absurd timestamps")
struct AbsurdClockTests {
  /// The result of recording a minute of one track.
  private struct Minute {
    var length = 0.0
    var largestStep = 0.0
    /// The largest distance of a frame from its correct position.
    var worst = 0.0
    var frames = 0
    var isMonotone = true
    var breaks = 0
    var lastCaptured = 0.0
  }

  /// - Parameter from: when the clock becomes absurd.
  private func minute(_ kind: MediaKind, _ clock: AbsurdClock, from: Double = 0, jitter: Double = 0.02) -> Minute {
    var track = kind == .audio ? SimulatedSender.Track.audio(reports: nil) : .videoFrame(reports: nil)
    track.clock = clock.clock(rate: Double(track.codec.clockRate), from: from)
    var sender = SimulatedSender(tracks: [track])
    sender.jitter = jitter
    var minute = Minute()
    var last: Double?
    let timeline = sender.run(60) { _, timestamped in
      if let last {
        minute.largestStep = max(minute.largestStep, timestamped.position - last)
        if timestamped.position < last { minute.isMonotone = false }
      }
      last = timestamped.position
      minute.worst = max(minute.worst, abs(timestamped.position - timestamped.captured))
      minute.length = timestamped.position
      minute.lastCaptured = timestamped.captured
      minute.frames += 1
    }
    minute.breaks = timeline.breaks(of: kind)
    return minute
  }

  @Test(
    "a clock that is absurd from the first frame on makes a recording neither longer, shorter, faster nor slower",
    arguments: AbsurdClock.allCases, MediaKind.allCases)
  func fromTheStart(clock: AbsurdClock, kind: MediaKind) {
    let minute = minute(kind, clock)
    // 90 kHz is the right clock for video.
    if clock != .ninetyKilohertz || kind == .audio { #expect(minute.breaks > 0) }
    #expect(minute.isMonotone)
    #expect(minute.frames == (kind == .audio ? 3_000 : 1_800))
    #expect(abs(minute.length - minute.lastCaptured) < 0.6)
    #expect(minute.worst < 0.1)
    #expect(minute.largestStep < 0.1)
  }

  @Test(
    "a clock that becomes absurd during the call is rejected within seconds", arguments: AbsurdClock.allCases,
    MediaKind.allCases)
  func later(clock: AbsurdClock, kind: MediaKind) {
    let minute = minute(kind, clock, from: 20)
    #expect(minute.isMonotone)
    #expect(abs(minute.length - minute.lastCaptured) < 0.6)
    #expect(minute.worst < 1)
    #expect(minute.largestStep < 1)
  }

  /// Network problems that a good clock can have.
  enum Trouble: String, CaseIterable, Sendable {
    /// 3 s of frames are late and arrive in one burst, as retransmitted packets do.
    case burst
    /// The same at the very beginning.
    case burstAtStart
    /// Each frame is independently up to 500 ms late.
    case jitter
    /// For 8 s a network path carries half of what is sent, and queues up to 2 s; then everything arrives.
    case fullPath
    /// The sender sends nothing for 20 s.
    case pause
    /// Nothing arrives for 10 s, and what was sent meanwhile is lost.
    case outage
    /// From 30 s on the delay is 500 ms longer.
    case detour

    func delay(_ captured: Double) -> Double {
      switch self {
      case .burst: (20..<23).contains(captured) ? 23 - captured : 0.02
      case .burstAtStart: captured < 2.5 ? 2.5 - captured : 0.02
      case .fullPath: (20..<24).contains(captured) ? 0.02 + (captured - 20) / 2 : 0.02
      case .detour: captured < 30 ? 0.02 : 0.52
      case .jitter, .pause, .outage: 0.02
      }
    }
  }

  @Test("network problems are never treated as a bad clock", arguments: Trouble.allCases, MediaKind.allCases)
  func innocent(trouble: Trouble, kind: MediaKind) {
    var track = kind == .audio ? SimulatedSender.Track.audio(reports: nil) : .videoFrame(reports: nil)
    track.delay = trouble.delay
    switch trouble {
    case .pause: track.isSent = { !(20..<40).contains($0) }
    case .outage: track.isSent = { !(20..<30).contains($0) }
    default: break
    }
    var sender = SimulatedSender(tracks: [track])
    sender.jitter = trouble == .jitter ? 0.5 : 0.02
    var worst = 0.0
    let timeline = sender.run(60) { _, timestamped in
      worst = max(worst, abs(timestamped.position - timestamped.captured))
    }
    #expect(worst < 0.000_1)
    #expect(timeline.breaks(of: kind) == 0)
  }

  @Test("a minute stays a minute with every absurd clock")
  func summary() {
    for from in [0.0, 20] {
      var (length, off, step) = (0.0, 0.0, 0.0)
      for clock in AbsurdClock.allCases {
        for kind in MediaKind.allCases {
          let minute = minute(kind, clock, from: from)
          length = max(length, abs(minute.length - minute.lastCaptured))
          off = max(off, minute.worst)
          step = max(step, minute.largestStep)
        }
      }
      print(
        "measured: \(AbsurdClock.allCases.count) absurd clocks from \(Int(from)) s on: a minute is at most \(milliseconds(length)) ms longer or shorter, a frame \(milliseconds(off)) ms from its position, a step \(milliseconds(step)) ms long"
      )
      #expect(length < 0.6)
    }
  }

  private func milliseconds(_ seconds: Double) -> Int { Int((seconds * 1_000).rounded()) }

  @Test(
    "audio whose clock stops in a pause continues after the pause, and video is not moved",
    arguments: [0.8, 3, 4.5, 20], [true, false])
  func stopped(pause: Double, reports: Bool) {
    var audio = SimulatedSender.Track.audio(reports: reports ? 5 : nil)
    let right = audio.clock
    audio.clock = { captured, number in right(captured < 15 ? captured : max(15, captured - pause), number) }
    audio.isSent = { !(15..<(15 + pause)).contains($0) }
    var sender = SimulatedSender(tracks: [audio, .videoFrame(reports: reports ? 1 : nil)])
    sender.jitter = 0.02
    var worst = [Codec.opus: 0.0, .vp8: 0.0]
    _ = sender.run(60) { codec, timestamped in
      worst[codec] = max(worst[codec] ?? 0, abs(timestamped.position - timestamped.captured))
    }
    let (first, second) = (worst[.opus] ?? 1, worst[.vp8] ?? 1)
    print(
      "measured: audio clock that stops for \(pause) s: audio at most \(Int(first * 1_000)) ms off, video \(Int(second * 1_000)) ms"
    )
    #expect(first < 0.04 && second < 0.04)
  }

  @Test("a clock that wraps at 32 or 64 bits continues", arguments: [Int64(UInt32.max), .max])
  func wrap(end: Int64) {
    var track = SimulatedSender.Track.videoFrame(reports: nil)
    track.clock = { captured, _ in end &- 90_000 * 30 &+ Int64((captured * 90_000).rounded()) }
    var sender = SimulatedSender(tracks: [track])
    var worst = 0.0
    let timeline = sender.run(60) { _, timestamped in
      worst = max(worst, abs(timestamped.position - timestamped.captured))
    }
    #expect(worst < 0.000_1 && timeline.breaks(of: .video) == 0)
  }

  @Test("a clock that is right again is trusted again, and reports are used again")
  func believedAgain() {
    var track = SimulatedSender.Track.videoFrame()
    let right = track.clock
    track.clock = { captured, number in captured < 20 ? 0 : right(captured, number) }
    var sender = SimulatedSender(tracks: [.audio(), track])
    sender.jitter = 0.02
    var last: [Codec: Double] = [:]
    var worst = 0.0
    // By arrivals, the intervals of the positions would have the network's jitter.
    var lastVideo: SimulatedSender.Timestamped?
    var unevenness = 0.0
    let timeline = sender.run(60) { codec, timestamped in
      last[codec] = timestamped.position - timestamped.captured
      guard timestamped.captured > 35, let first = last[.opus], let second = last[.vp8] else { return }
      worst = max(worst, abs(first - second))
      guard codec == .vp8 else { return }
      if let lastVideo {
        let interval = timestamped.position - lastVideo.position
        unevenness = max(unevenness, abs(interval - (timestamped.captured - lastVideo.captured)))
      }
      lastVideo = timestamped
    }
    #expect(worst < 0.001)
    #expect(unevenness < 0.000_5)
    #expect(timeline.alignment.source == .senderReports)
  }

  @Test("an audio clock of 90 kHz and a right video clock stay in sync")
  func wrongAudioGoodVideoFrame() {
    var audio = SimulatedSender.Track.audio()
    audio.clock = AbsurdClock.ninetyKilohertz.clock(rate: 48_000, from: 0)
    var sender = SimulatedSender(tracks: [audio, .videoFrame()])
    sender.jitter = 0.02
    var last: [Codec: Double] = [:]
    var worst = 0.0
    _ = sender.run(60) { codec, timestamped in
      last[codec] = timestamped.position - timestamped.captured
      if let first = last[.opus], let second = last[.vp8] { worst = max(worst, abs(first - second)) }
    }
    print("measured: audio by a 90 kHz clock: at most \(Int(worst * 1_000)) ms from the video")
    #expect(worst < 0.04)
  }
}

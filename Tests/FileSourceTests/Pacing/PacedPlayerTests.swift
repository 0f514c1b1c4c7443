import FileSource
import Media
import NIOCore
import Testing

/// A synthetic file, played with a manual clock.
private struct Bench {
  let start = ContinuousClock.now
  let video: [FileFrame]
  let audio: [FileFrame]
  var player: PacedPlayer
  private var next: [MediaKind: Int] = [:]
  let loops: Bool

  /// - Parameters:
  ///   - videoSeconds: the length of the video track.
  ///   - audioSeconds: the length of the audio track.
  init(videoSeconds: Double = 1, audioSeconds: Double = 1, period: Int64? = nil, loops: Bool = true) {
    video = (0..<Int64(videoSeconds * 30)).map {
      FileFrame(kind: .video, time: $0 * 24_000, payload: ByteBuffer(integer: $0), isKeyframe: $0 == 0)
    }
    audio = (0..<Int64(audioSeconds * 50)).map {
      FileFrame(kind: .audio, time: $0 * 14_400, payload: ByteBuffer(integer: $0), isKeyframe: true)
    }
    self.loops = loops
    let length = period ?? max(Int64(video.count) * 24_000, Int64(audio.count) * 14_400)
    player = PacedPlayer(
      codecs: [.vp8, .opus], period: length, loops: loops, owner: ParticipantID("me"))
  }

  mutating func fill(_ kinds: [MediaKind] = [.video, .audio]) {
    for kind in kinds {
      let frames = kind == .video ? video : audio
      while player.wants(kind) {
        let index = next[kind, default: 0]
        player.append([frames[index]], of: kind)
        next[kind] = index + 1
        if index + 1 == frames.count {
          next[kind] = 0
          player.roundEnded(kind)
        }
      }
    }
  }

  /// Fills the queues, starts and plays to a time, waking at each deadline.
  mutating func play(for duration: Duration) -> [EncodedFrame] {
    fill()
    player.begin(now: start)
    var frames: [EncodedFrame] = []
    var now = start
    while now <= start + duration, !player.isFinished {
      frames += player.poll(now: now)
      fill()
      guard let deadline = player.deadline else { break }
      now = max(now, deadline)
    }
    return frames
  }
}

private func apart(_ one: Duration, _ other: Duration) -> Duration {
  one < other ? other - one : one - other
}

@Suite("The paced player")
struct PacedPlayerTests {
  @Test("each frame is due at its time, audio and video on one clock")
  func inTime() throws {
    var bench = Bench()
    bench.fill()
    bench.player.begin(now: bench.start)
    #expect(bench.player.poll(now: bench.start).map(\.codec) == [.opus, .vp8])
    #expect(bench.player.deadline == bench.start + .milliseconds(20))
    #expect(bench.player.poll(now: bench.start + .milliseconds(19)).isEmpty)
    let second = bench.player.poll(now: bench.start + .milliseconds(20))
    #expect(second.map(\.time) == [MediaTime(ticks: 960, rate: 48_000)])
    #expect(second.first?.arrival == bench.start + .milliseconds(20))
    #expect(
      bench.player.poll(now: bench.start + .milliseconds(34)).map(\.time) == [MediaTime(ticks: 3000, rate: 90_000)])
  }

  @Test("nothing is due before the clock has started")
  func notBegun() {
    var bench = Bench()
    bench.fill()
    #expect(bench.player.poll(now: bench.start + .seconds(9)).isEmpty)
    #expect(bench.player.deadline == nil)
  }

  @Test("a thousand rounds have no drift, no gap and no burst, and the times keep growing")
  func thousandLoops() throws {
    var bench = Bench()
    let frames = bench.play(for: .seconds(1000))
    let video = frames.filter { $0.codec == .vp8 }
    let audio = frames.filter { $0.codec == .opus }
    #expect(video.count == 30_001)
    #expect(audio.count == 50_001)
    #expect(video.enumerated().allSatisfy { $1.time.ticks == Int64($0) * 3000 })
    #expect(audio.enumerated().allSatisfy { $1.time.ticks == Int64($0) * 960 })
    #expect(video.enumerated().allSatisfy { $1.isKeyframe == ($0 % 30 == 0) })
    // Due at its time, to the nanosecond by which the conversion of units to a Duration rounds.
    #expect(frames.allSatisfy { apart($0.arrival - bench.start, $0.time.duration) <= .nanoseconds(1) })
  }

  @Test("the longer track determines the period, and both restart together, a thousand times")
  func unequalTracks() throws {
    var bench = Bench(videoSeconds: 0.5, audioSeconds: 0.64)
    let frames = bench.play(for: .milliseconds(640 * 1000))
    let firstVideoFrames = frames.filter { $0.codec == .vp8 && $0.isKeyframe }.map(\.time.ticks)
    let firstSounds = frames.filter { $0.codec == .opus && $0.payload == ByteBuffer(integer: Int64(0)) }.map(
      \.time.ticks)
    #expect(firstVideoFrames == (0...1000).map { $0 * 57_600 })
    #expect(firstSounds == (0...1000).map { $0 * 30_720 })
    #expect(zip(firstVideoFrames, firstSounds).allSatisfy { $0 * 8 == $1 * 15 })
  }

  @Test("a period that is not a whole number of ticks is rounded up once, so all rounds are equal")
  func oddPeriod() throws {
    var bench = Bench(videoSeconds: 1, audioSeconds: 1, period: 720_001)
    let frames = bench.play(for: .seconds(100))
    let starts = frames.filter { $0.codec == .vp8 && $0.isKeyframe }.map(\.time.ticks)
    #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 == 90_015 })
  }

  @Test("a late wakeup returns what is due by then, in order, and nothing more")
  func lateWakeUp() throws {
    var bench = Bench()
    bench.fill()
    bench.player.begin(now: bench.start)
    _ = bench.player.poll(now: bench.start)
    let late = bench.player.poll(now: bench.start + .milliseconds(500))
    #expect(late.count == 25 + 15)
    #expect(zip(late, late.dropFirst()).allSatisfy { $0.time.duration <= $1.time.duration })
    #expect(late.last?.time.duration == .milliseconds(500))
    #expect(bench.player.deadline == bench.start + .milliseconds(520))
  }

  @Test("after the machine has slept, playback continues where it was, with the pause in both tracks' times")
  func longPause() throws {
    var bench = Bench()
    bench.fill()
    bench.player.begin(now: bench.start)
    _ = bench.player.poll(now: bench.start)
    let woken = bench.start + .seconds(3600)
    let first = bench.player.poll(now: woken)
    #expect(first.map(\.codec) == [.opus])
    #expect(first[0].payload == ByteBuffer(integer: Int64(1)))
    let after = bench.player.poll(now: woken + .milliseconds(20))
    for frame in first + after {
      #expect(frame.time.duration > .seconds(3599))
      #expect(apart(frame.arrival - bench.start, frame.time.duration) <= .microseconds(11))
    }
    // The offset between audio and video is that of the file: 960 ticks of 48 kHz and 3000 of 90 kHz from the start.
    let audio = try #require(first.first).time.ticks - 960
    let videoFrame = try #require(after.first { $0.codec == .vp8 }).time.ticks - 3000
    #expect(audio * 15 == videoFrame * 8)
  }

  @Test("a track that is late from the disk does not delay the other")
  func starvedTrack() {
    var bench = Bench()
    bench.fill([.audio])
    bench.player.begin(now: bench.start)
    #expect(bench.player.poll(now: bench.start + .milliseconds(100)).map(\.codec) == Array(repeating: .opus, count: 6))
    bench.fill()
    #expect(bench.player.poll(now: bench.start + .milliseconds(100)).map(\.time.ticks) == [0, 3000, 6000, 9000])
  }

  @Test("a track wants two seconds of frames, and stops at 8 MiB")
  func bounded() {
    var bench = Bench()
    bench.fill()
    bench.player.begin(now: bench.start)
    let last = bench.video.count * 2
    #expect(bench.player.poll(now: bench.start + .seconds(2)).filter { $0.codec == .vp8 }.count == last + 1)

    var player = PacedPlayer(codecs: [.vp8], period: 720_000, loops: true, owner: ParticipantID("me"))
    let large = ByteBuffer(repeating: 1, count: 3 << 20)
    var count: Int64 = 0
    while player.wants(.video) {
      player.append([FileFrame(kind: .video, time: count, payload: large, isKeyframe: true)], of: .video)
      count += 1
    }
    #expect(count == 3)
  }

  @Test("played once, it ends when the duration of the longer track's last frame has passed")
  func once() {
    var bench = Bench(videoSeconds: 0.5, audioSeconds: 1, loops: false)
    let frames = bench.play(for: .seconds(60))
    #expect(frames.count == 15 + 50)
    #expect(bench.player.isFinished)
    #expect(bench.player.deadline == nil)

    var early = Bench(videoSeconds: 0.5, audioSeconds: 1, loops: false)
    _ = early.play(for: .milliseconds(985))
    #expect(!early.player.isFinished)
    #expect(early.player.deadline == early.start + .seconds(1))
    #expect(early.player.poll(now: early.start + .seconds(1)).isEmpty)
    #expect(early.player.isFinished)
  }
}

import Codecs
import FileSource
import Media
import TestSupport
import Testing

@testable import LiveSource

@Suite("A live camera with a manual clock")
struct TrackTests {
  let start = ContinuousClock.now

  /// Both tracks of a camera: 30 fps video, and audio.
  struct Bench {
    var time = CameraTime()
    var video: VideoTrack
    var audio: AudioTrack
    var shown: [(time: Int64, at: ContinuousClock.Instant)] = []
    var heard: [(time: Int64, at: ContinuousClock.Instant)] = []

    init() throws {
      let rounds = LoopSchedule(period: 720_000, loops: true)
      let timeline = VideoInputTimeline(
        SyntheticVideo(30, interval: 24_000), interval: 24_000, extent: .range(0..<720_000), rounds: rounds)
      video = VideoTrack(timeline, fit: VideoScaling(SyntheticVideo.size, wanted: nil))
      audio = AudioTrack(
        AudioInputTimeline(SyntheticAudio(48_000), channels: 1, extent: .range(0..<720_000), rounds: rounds))
      try video.prepare(now: 0)
      try audio.prepare()
    }

    /// Does what both threads do when they wake at a time.
    mutating func wake(_ now: ContinuousClock.Instant) throws {
      time.begin(now: now)
      var point = time.update(now: now, expectedWakeup: audio.deadline)
      while let due = try audio.take(now: point) { heard.append((time.shown(due.time), now)) }
      try audio.prepare()
      let expectedWakeup = try #require(video.deadline)
      point = time.update(now: now, expectedWakeup: expectedWakeup)
      if let due = try video.take(now: point) {
        shown.append((time.shown(due.time), now))
        try video.prepare(now: point)
      }
    }

    /// The next wakeup of either thread.
    var deadline: ContinuousClock.Instant? {
      [time.instant(of: audio.deadline), video.deadline.flatMap(time.instant)].compactMap(\.self).min()
    }

    /// Plays to a time, with each wakeup delayed by `lateness`.
    mutating func play(
      from start: ContinuousClock.Instant, until end: ContinuousClock.Instant, lateness: () -> Duration
    ) throws {
      var now = start
      while now < end {
        try wake(now)
        let next = try #require(deadline)
        now = max(now, next) + lateness()
      }
    }
  }

  @Test("every frame and every piece of audio is sent when it is due, and never before")
  func inTime() throws {
    var bench = try Bench()
    var generator = SeededGenerator(seed: 7)
    try bench.play(from: start, until: start + .seconds(60)) {
      .microseconds(Int64.random(in: 0...900, using: &generator))
    }
    #expect(bench.shown.count == 1_800 && bench.heard.count == 3_000)
    #expect(bench.video.dropped == 0 && bench.audio.dropped == 0)
    let late = (bench.shown + bench.heard).map { ($0.at - start) - MediaTimebase.duration($0.time) }.sorted()
    #expect(late[0] >= .zero)
    #expect(late[late.count * 99 / 100] <= .milliseconds(1))
  }

  @Test("after a late wakeup all due audio is sent at once, but only the newest video frame")
  func lateWake() throws {
    var bench = try Bench()
    try bench.play(from: start, until: start + .milliseconds(95)) { .zero }
    let (shown, heard) = (bench.shown.count, bench.heard.count)
    try bench.wake(start + .milliseconds(510))
    #expect(bench.shown.count - shown == 1)
    let videoFrame = try #require(bench.shown.last).time
    #expect(videoFrame == 360_000)
    #expect(bench.heard.count - heard == 21)
    let audio = try #require(bench.heard.last).time
    #expect(audio == 360_000)
    let next = try #require(bench.deadline)
    #expect(next == start + .milliseconds(520))
  }

  @Test("after the machine has slept, playback continues where it was, with the same pause in both tracks' times")
  func longSleep() throws {
    var bench = try Bench()
    try bench.play(from: start, until: start + .milliseconds(95)) { .zero }
    let (shown, heard) = (bench.shown.count, bench.heard.count)
    let woken = start + .seconds(3_600)
    try bench.play(from: woken, until: woken + .seconds(1)) { .zero }
    #expect(bench.shown.count - shown <= 31 && bench.heard.count - heard <= 51)
    #expect(bench.video.dropped == 0 && bench.audio.dropped == 0)
    for entry in bench.shown.dropFirst(shown) + bench.heard.dropFirst(heard) {
      let late = (entry.at - start) - MediaTimebase.duration(entry.time)
      #expect(late >= .zero && late < .milliseconds(1))
    }
    // The offset between the tracks is unchanged: frame 3 is 20 ms after audio piece 4.
    let videoFrame = try #require(bench.shown.dropFirst(shown).first).time - 3 * 24_000
    let audio = try #require(bench.heard.dropFirst(heard).first).time - 5 * 14_400
    #expect(videoFrame == audio)
  }

  @Test("a long interval between frames is not mistaken for a sleep of the machine")
  func slowVideoFrames() throws {
    var time = CameraTime()
    time.begin(now: start)
    for second in stride(from: 0, through: 600, by: 10) {
      let now = time.update(now: start + .seconds(second), expectedWakeup: Int64(second) * 720_000)
      #expect(now == Int64(second) * 720_000)
    }
  }

  @Test("audio that a slow disk delayed beyond the catch-up limit is skipped, and the rest keeps its times")
  func starvedAudio() throws {
    var bench = try Bench()
    try bench.wake(start)
    // The video thread continues to read the clock, so the clock does not pause.
    for tick in 1...150 {
      _ = bench.time.update(now: start + .milliseconds(tick * 33), expectedWakeup: Int64(tick) * 23_760)
    }
    let now = bench.time.update(now: start + .seconds(5), expectedWakeup: bench.audio.deadline)
    #expect(now == 3_600_000)
    var pieces: [Int64] = []
    while let due = try bench.audio.take(now: now) { pieces.append(due.time) }
    #expect(pieces.count == 101)
    let first = try #require(pieces.first)
    #expect(first == 2_160_000)
    #expect(bench.audio.dropped == 149)
  }

  @Test("a frame of a pipe that arrives before its time is shown at its time, and one that arrives later at the next")
  func latePipe() throws {
    let mailbox = VideoFrameMailbox()
    let format = try #require(PipeFormat(size: SyntheticVideo.size, layout: .i420))
    func arrive(_ luma: UInt8) {
      #expect(mailbox.put([UInt8](repeating: luma, count: format.byteCount)))
    }
    arrive(50)
    let rate = try #require(VideoRate(frames: 30))
    let timeline = VideoInputTimeline(
      PipedVideo(mailbox, shape: format, rate: rate), interval: 24_000, extent: .unknown,
      rounds: LoopSchedule(period: nil, loops: false))
    var track = VideoTrack(timeline, fit: VideoScaling(SyntheticVideo.size, wanted: nil))
    func shown(at time: Int64) throws -> UInt8? {
      defer { try? track.prepare(now: time) }
      return try track.take(now: time)?.videoFrame.luma.first
    }
    try track.prepare(now: 0)
    #expect(try shown(at: 0) == 50)
    // The next frame has been prepared already.
    arrive(60)
    #expect(try shown(at: 23_999) == nil)
    #expect(try shown(at: 24_000) == 60)
    // No frame arrives in time.
    #expect(try shown(at: 48_000) == 60)
    arrive(70)
    arrive(80)
    #expect(try shown(at: 72_000) == 70)
    #expect(try shown(at: 96_000) == 80)
    #expect(track.dropped == 0)
  }
}

import Codecs
import FileSource
import Media
import TestSupport
import Testing

@testable import LiveSource

@Suite("Loops of a live camera")
struct CameraLoopTests {
  /// Returns the times and the numbers of the frames before `until`.
  func play(
    _ input: SyntheticVideo, interval: Int64, extent: Extent, rounds: LoopSchedule, rate: VideoRate? = nil, until: Int64
  ) throws -> [(time: Int64, number: Int)] {
    var timeline = VideoInputTimeline(input, interval: interval, extent: extent, rounds: rounds, rate: rate)
    var videoFrames: [(Int64, Int)] = []
    while let time = try timeline.peek(), time < until {
      try timeline.advance()
      videoFrames.append((time, Int(try timeline.current.videoFrame().luma[0])))
    }
    return videoFrames
  }

  @Test("audio and video are in sync to the tick after a thousand rounds, without a gap or a burst")
  func thousandRounds() throws {
    // Two frames at 29.97 fps, and audio that is shorter and not a whole number of pieces long.
    let interval: Int64 = 24_024
    let period = try #require(CameraPlan.period(.range(0..<interval * 2), .range(0..<1_000 * 15)))
    #expect(period == 48_120)
    let rounds = LoopSchedule(period: period, loops: true)
    let videoFrames = try play(
      SyntheticVideo(2, interval: interval), interval: interval, extent: .range(0..<interval * 2), rounds: rounds,
      until: period * 1_000)
    let areInPlace = videoFrames.enumerated().allSatisfy { index, videoFrame in
      videoFrame.time == Int64(index / 2) * period + Int64(index % 2) * interval && videoFrame.number == index % 2
    }
    #expect(areInPlace && videoFrames.count == 2_000)

    var timeline = AudioInputTimeline(
      SyntheticAudio(1_000), channels: 1, extent: .range(0..<1_000 * 15), rounds: rounds)
    var samples: [Float] = []
    while samples.count < 3_208 * 1_000 { samples += try #require(try timeline.next()).samples }
    // Each round has 3,208 ticks: 1,000 of audio, then silence.
    let areExact = (0..<1_000).allSatisfy { round in
      let start = round * 3_208
      return samples[start] == 1 && samples[start + 999] == 1_000 && samples[start + 1_000] == 0
        && samples[start + 3_207] == 0
    }
    #expect(areExact)
    print("measured: audio against video after 1000 live rounds: 0 ticks of 720 kHz")
  }

  @Test("if the video is shorter than the audio, its last frame is repeated at the video's frame interval")
  func standing() throws {
    let rounds = LoopSchedule(period: 720_000, loops: true)
    let videoFrames = try play(
      SyntheticVideo(3, interval: 72_000), interval: 72_000, extent: .range(0..<216_000), rounds: rounds,
      until: 720_000 * 3)
    #expect(videoFrames.map(\.time) == (0..<30).map { $0 * 72_000 })
    #expect(videoFrames.prefix(11).map(\.number) == [0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 0])
  }

  @Test("played once, both tracks end with the longer one")
  func once() throws {
    let rounds = LoopSchedule(period: 720_000, loops: false)
    let input = SyntheticVideo(3, interval: 72_000)
    let videoFrames = try play(
      input, interval: 72_000, extent: .range(0..<216_000), rounds: rounds, until: .max)
    #expect(videoFrames.map(\.time) == (0..<10).map { $0 * 72_000 })
    #expect(input.rounds == 1)

    var timeline = AudioInputTimeline(SyntheticAudio(1_000), channels: 1, extent: .range(0..<15_000), rounds: rounds)
    var pieces = 0
    while try timeline.next() != nil { pieces += 1 }
    #expect(pieces == 50)
  }

  @Test("a still image lasts as long as the audio it is combined with, and indefinitely without audio")
  func endless() throws {
    let still = StillImage(VideoFrame(size: SyntheticVideo.size), rate: try #require(VideoRate(frames: 5)))
    var timeline = VideoInputTimeline(
      still, interval: 144_000, extent: .endless, rounds: LoopSchedule(period: 720_000, loops: false))
    var count = 0
    while try timeline.peek() != nil {
      try timeline.advance()
      count += 1
    }
    #expect(count == 5 && timeline.end == 720_000)
    var endless = VideoInputTimeline(
      still, interval: 144_000, extent: .endless, rounds: LoopSchedule(period: nil, loops: false))
    #expect(try endless.peek() != nil && endless.end == nil)
  }

  @Test("a higher rate repeats frames and a lower one skips some, both by time")
  func rates() throws {
    let rounds = LoopSchedule(period: 720_000, loops: true)
    func numbers(_ rate: Double, from count: Int, until: Int64) throws -> [Int] {
      let interval = 720_000 / Int64(count)
      return try play(
        SyntheticVideo(count, interval: interval), interval: interval, extent: .range(0..<720_000), rounds: rounds,
        rate: VideoRate(rate), until: until
      ).map(\.number)
    }
    let doubled = try numbers(20, from: 10, until: 720_000)
    #expect(doubled == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9])
    #expect(try numbers(5, from: 10, until: 720_000) == [0, 2, 4, 6, 8])
    let uneven = try numbers(15, from: 10, until: 720_000)
    #expect(uneven == [0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8, 9])
    // The constant rate continues over rounds, whatever the round's length.
    let beat = try play(
      SyntheticVideo(10, interval: 71_000), interval: 71_000, extent: .range(0..<710_000),
      rounds: LoopSchedule(period: 710_040, loops: true), rate: VideoRate(25), until: 720_000 * 100)
    let isEven = beat.enumerated().allSatisfy { $1.time == Int64($0) * 28_800 }
    #expect(isEven && beat.count == 2_500)
  }

  @Test("skipped frames are not painted")
  func unpainted() throws {
    let input = SyntheticVideo(1_000, interval: 7_200)
    _ = try play(
      input, interval: 7_200, extent: .range(0..<7_200_000), rounds: LoopSchedule(period: 7_200_000, loops: false),
      rate: VideoRate(10), until: 7_200_000)
    #expect(input.painted == 100)
  }

  @Test("an input that has become empty ends the camera instead of looping endlessly")
  func emptied() throws {
    let range: Extent = .range(0..<72_000)
    var timeline = VideoInputTimeline(
      SyntheticVideo(times: []), interval: 72_000, extent: range, rounds: LoopSchedule(period: 72_000, loops: true))
    #expect(throws: InputError.changed) { try timeline.peek() }
    var audio = AudioInputTimeline(
      SyntheticAudio(0), channels: 1, extent: range, rounds: LoopSchedule(period: 72_000, loops: true))
    #expect(throws: InputError.changed) { for _ in 0..<20 { _ = try audio.next() } }
  }

  @Test("NTSC rates are exact fractions, and the millionth frame has its exact time")
  func videoRates() throws {
    #expect(VideoRate(29.97) == VideoRate(frames: 30_000, seconds: 1_001))
    #expect(VideoRate(59.94) == VideoRate(frames: 60_000, seconds: 1_001))
    #expect(VideoRate(12.5)?.perSecond == 12.5)
    for bad in [0, -1, .nan, .infinity, 1_001, 0.001] { #expect(VideoRate(bad) == nil) }
    let rate = try #require(VideoRate(29.97))
    #expect(rate.time(of: 1_000_000) == 24_024_000_000)
    #expect(rate.frameNumber(at: 24_024_000_000) == 1_000_000)
    #expect(rate.frameNumber(at: 24_023_999_999) == 999_999)
    var generator = SeededGenerator(seed: 41)
    for _ in 0..<1_000 {
      let rate = try #require(
        VideoRate(
          frames: .random(in: 1...60_000, using: &generator), seconds: .random(in: 60...1_001, using: &generator)))
      let number = Int64.random(in: 0...10_000_000, using: &generator)
      let time = rate.time(of: number)
      #expect(rate.frameNumber(at: time) >= number && rate.frameNumber(at: time - 1) < number || number == 0)
    }
  }
}

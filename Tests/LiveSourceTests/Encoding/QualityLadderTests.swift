import LiveSource
import Media
import TestSupport
import Testing

@Suite("The quality ladder")
struct QualityLadderTests {
  private let origin = ContinuousClock.now
  private static let vga = VideoSize(width: 640, height: 480)

  /// Encodes frames for some seconds with a quantizer.
  private func run(
    _ ladder: inout QualityLadder, from start: Int, seconds: Int, bitrate: Int = 1_000_000, omitted: Int = 0,
    quantizer: (QualityLadder.QualityLevel) -> Int
  ) {
    for videoFrame in start * 30..<(start + seconds) * 30 where videoFrame % ladder.qualityLevel.divisor == 0 {
      let now = origin + .milliseconds(videoFrame * 100 / 3)
      if videoFrame / ladder.qualityLevel.divisor % 10 < omitted {
        ladder.skipped(bitrate: bitrate, now: now)
      } else {
        ladder.encoded(quantizer: quantizer(ladder.qualityLevel), bitrate: bitrate, now: now)
      }
    }
  }

  @Test("the levels lead from half the frame rate to a quarter of the size")
  func qualityLevels() {
    let qualityLevels = QualityLadder(size: Self.vga, framesPerSecond: 30).qualityLevels
    #expect(qualityLevels.map(\.divisor) == [1, 2, 2, 2, 2, 2])
    #expect(
      qualityLevels.map(\.size.description) == ["640x480", "640x480", "480x360", "320x240", "240x180", "160x120"])
  }

  @Test("low frame rates are not halved, and small frames are not scaled down")
  func shortLadders() {
    let slow = QualityLadder(size: Self.vga, framesPerSecond: 10).qualityLevels
    #expect(slow.allSatisfy { $0.divisor == 1 })
    #expect(slow.count == 5)
    #expect(QualityLadder(size: VideoSize(width: 160, height: 90), framesPerSecond: 5).qualityLevels.count == 1)
    #expect(QualityLadder(size: VideoSize(width: 2, height: 2), framesPerSecond: 0).qualityLevels.count == 1)
    let odd = QualityLadder(size: VideoSize(width: 1_001, height: 751), framesPerSecond: 30).qualityLevels.dropFirst(2)
    #expect(odd.allSatisfy { $0.size.width % 2 == 0 && $0.size.height % 2 == 0 })
  }

  @Test("coarse quantizers lead down one level every two seconds")
  func down() {
    var ladder = QualityLadder(size: Self.vga, framesPerSecond: 30)
    run(&ladder, from: 0, seconds: 2) { _ in 56 }
    #expect(ladder.index == 0)
    run(&ladder, from: 2, seconds: 1) { _ in 56 }
    #expect(ladder.index == 1)
    run(&ladder, from: 3, seconds: 12) { _ in 56 }
    #expect(ladder.index == 5)
  }

  @Test("skipped frames lead down faster")
  func skipped() {
    var ladder = QualityLadder(size: Self.vga, framesPerSecond: 30)
    run(&ladder, from: 0, seconds: 2, omitted: 6) { _ in 40 }
    #expect(ladder.index == 2)
  }

  @Test("quantizers in between change nothing")
  func between() {
    var ladder = QualityLadder(size: Self.vga, framesPerSecond: 30)
    run(&ladder, from: 0, seconds: 4) { _ in 56 }
    run(&ladder, from: 4, seconds: 3) { _ in 40 }
    let index = ladder.index
    #expect(index > 0)
    run(&ladder, from: 7, seconds: 120) { _ in 40 }
    #expect(ladder.index == index)
  }

  @Test("fine quantizers lead up slowly")
  func up() {
    var ladder = QualityLadder(size: Self.vga, framesPerSecond: 30)
    run(&ladder, from: 0, seconds: 16) { _ in 56 }
    #expect(ladder.index == 5)
    run(&ladder, from: 16, seconds: 7) { _ in 25 }
    #expect(ladder.index == 5)
    run(&ladder, from: 23, seconds: 3) { _ in 25 }
    #expect(ladder.index == 4)
    run(&ladder, from: 26, seconds: 60) { _ in 25 }
    #expect(ladder.index == 0)
  }

  @Test("between a level that is too high and one that is too low, it tries less and less often")
  func noFlapping() {
    var ladder = QualityLadder(size: Self.vga, framesPerSecond: 30)
    var changes = 0
    var index = 0
    for second in 0..<600 {
      run(&ladder, from: second, seconds: 1) { $0.size.width > 480 ? 56 : 25 }
      if ladder.index != index { changes += 1 }
      index = ladder.index
    }
    print("measured: quality ladder between two levels: \(changes) changes in 600 s")
    #expect(changes <= 26)
  }

  @Test("an impossible bitrate leads down at once, and not up again")
  func hopeless() {
    var ladder = QualityLadder(size: VideoSize(width: 1_920, height: 1_080), framesPerSecond: 30)
    ladder.adapt(toBitrate: 50_000, now: origin)
    #expect(ladder.index >= 3)
    let index = ladder.index
    run(&ladder, from: 0, seconds: 60, bitrate: 50_000) { _ in 10 }
    #expect(ladder.index == index)
  }
}

import Bitstream
import FileSource
import Media
import NIOCore
import Testing

@Suite("Timelines of stored frames")
struct StoredTimelineTests {
  @Test("packets whose times are rounded to milliseconds are consecutive to the sample")
  func roundedAudio() {
    var timeline = AudioTimeline()
    let milliseconds: [Int64] = [0, 21, 40, 61, 80, 99, 120]
    #expect(milliseconds.map { timeline.position($0 * 48, length: 960) } == (0..<7).map { $0 * 960 })
  }

  @Test("a gap of 10 ms or more is kept, as a multiple of 2.5 ms")
  func audioGap() {
    var timeline = AudioTimeline()
    _ = timeline.position(0, length: 960)
    #expect(timeline.position(960 + 479, length: 960) == 960)
    #expect(timeline.position(1920 + 960 + 20, length: 960) == 2880)
    #expect(timeline.position(3840 + 480, length: 960) == 4320)
  }

  @Test("a packet that earlier ones overlap is skipped, and after it the audio is in time again")
  func audioOverlap() {
    var timeline = AudioTimeline()
    _ = timeline.position(0, length: 2880)
    #expect(timeline.position(960, length: 2880) == 2880)
    #expect(timeline.position(1920, length: 2880) == nil)
    #expect(timeline.position(2880, length: 2880) == 5760)
    #expect(timeline.position(8640, length: 2880) == 8640)
  }

  @Test("a sender whose clock runs fast or slow stays within 60 ms of its times for an hour")
  func clockSkew() {
    for rate in [0.9998, 1.0002] {
      var timeline = AudioTimeline()
      for packet in 0..<180_000 {
        let reported = Int64(Double(packet) * 960 * rate)
        guard let placed = timeline.position(reported, length: 960) else { continue }
        guard abs(placed - reported) <= 2880 else {
          Issue.record("packet \(packet) is \(placed - reported) ticks off")
          return
        }
      }
    }
  }

  @Test("frames at 30 fps are 3000 ticks apart if the file states a constant interval")
  func evenVideoFrames() {
    var timeline = VideoTimeline(timing: ContainerTiming(rounding: 720, interval: 24_000))
    let milliseconds = (0..<100).map { Int64((Double($0) * 1000 / 30).rounded()) }
    #expect(milliseconds.map { timeline.position($0 * 720) } == (0..<100).map { $0 * 24_000 })
  }

  @Test("frames that deviate from the file's interval keep their own times")
  func unevenVideoFrames() {
    var timeline = VideoTimeline(timing: ContainerTiming(rounding: 720, interval: 24_000))
    #expect([0, 100, 101, 500].map { timeline.position($0 * 720) } == [0, 72_000, 72_720, 360_000])
  }

  @Test("no two frames have the same tick, and none goes back")
  func sameVideoFrameTime() {
    var timeline = VideoTimeline(timing: ContainerTiming(rounding: 720))
    // A rounding error does not count as going back.
    #expect([50, 50, 50, 50].map { timeline.position($0 * 720) } == [36_000, 36_008, 36_016, 36_024])
    #expect(timeline.framesMoved == 0)
    #expect([48, 0, 51].map { timeline.position($0 * 720) } == [36_032, 36_040, 36_720])
    #expect(timeline.framesMoved == 2)
  }

  @Test("nanoseconds are converted to the nearest unit, and nothing overflows")
  func conversion() {
    #expect(MediaTimebase.units(count: 1, ofNanoseconds: 33_333_333) == 24_000)
    #expect(MediaTimebase.units(count: 1, ofNanoseconds: 16_683_333) == 12_012)
    #expect(MediaTimebase.units(count: -7, ofNanoseconds: 1_000_000) == -5_040)
    #expect(MediaTimebase.units(count: 1, ofNanoseconds: 6_500_000) == 4680)
    #expect(MediaTimebase.units(count: .max, ofNanoseconds: .max) == nil)
    #expect(MediaTimebase.units(count: .max, ofNanoseconds: 2) == nil)
    #expect(MediaTimebase.units(.milliseconds(10)) == 7200)
    #expect(MediaTimebase.units(.seconds(-1)) == -720_000)
    #expect(MediaTimebase.units(.seconds(Int64.max)) == .max)
  }

  @Test("a file restarts when its longer track ends")
  func period() {
    #expect(StoredFile.period(of: [0..<7_200_000, 0..<7_000_000]) == 7_200_000)
    // The 6.5 ms of an Opus encoder's delay do not become a gap.
    #expect(StoredFile.period(of: [4680..<7_204_680, 0..<7_200_000]) == 7_200_000)
    // A track that begins much later does not run into the next round.
    #expect(StoredFile.period(of: [720_000..<7_200_000, 0..<3_000_000]) == 7_200_000)
    // The period is whole ticks of both clocks, so no round is off by a fraction.
    #expect(StoredFile.period(of: [0..<121]) == 240)
  }

  @Test(
    "the length of an Opus packet is read from its first bytes",
    arguments: [
      ([0x00], 480), ([0x18], 2880), ([0x60], 480), ([0x80], 120), ([0xf8], 960), ([0xf9], 1920), ([0xfa], 1920),
      ([0xfb, 0x06], 5760), ([0x1b, 0x02], 5760),
    ] as [([UInt8], Int64)])
  func opusLength(_ bytes: [UInt8], _ ticks: Int64) throws {
    #expect(try OpusTableOfContents(parsing: ByteBuffer(bytes: bytes)).duration == Int(ticks))
  }

  @Test(
    "malformed Opus packets have no length",
    arguments: [[], [0xfb], [0xfb, 0], [0xfb, 0x07], [0x1b, 0x03]] as [[UInt8]])
  func noOpus(_ bytes: [UInt8]) {
    #expect(throws: ParseError.self) { try OpusTableOfContents(parsing: ByteBuffer(bytes: bytes)) }
  }
}

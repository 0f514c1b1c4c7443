import Composition
import Testing

@Suite("frame rates")
struct FrameRateTests {
  private static let rates = [
    FrameRate.standard, FrameRate(numerator: 30_000, denominator: 1001), FrameRate(numerator: 25, denominator: 1),
    FrameRate(numerator: 60, denominator: 1), FrameRate(numerator: 1, denominator: 1),
    FrameRate(numerator: 7, denominator: 3),
  ]

  @Test("A rate has no zero") func zero() {
    #expect(FrameRate(numerator: 0, denominator: 0) == FrameRate(numerator: 1, denominator: 1))
  }

  @Test("frames are at multiples of the rate, rounded down, without an error that grows")
  func times() {
    #expect((0...3).map { FrameRate.standard.time(ofFrame: $0) } == [0, 24_000, 48_000, 72_000])
    let rate = FrameRate(numerator: 30_000, denominator: 1001)
    #expect((0...3).map { rate.time(ofFrame: $0) } == [0, 24_024, 48_048, 72_072])
    // 24 hours of 1001/30000 s.
    #expect(rate.time(ofFrame: 2_589_411) == 62_208_009_864)
  }

  @Test("the first frame at a time is not earlier, the last one not later", arguments: rates)
  func framesAtTimes(rate: FrameRate) {
    for time in Array(0..<2_000) + Array(86_399 * 720_000..<86_399 * 720_000 + 2_000) + [719_999, 720_000, 720_001] {
      let (first, last) = (rate.firstFrame(at: Int64(time)), rate.lastFrame(at: Int64(time)))
      #expect(rate.time(ofFrame: first) >= time && (first == 0 || rate.time(ofFrame: first - 1) < time))
      #expect(rate.time(ofFrame: last) <= time && rate.time(ofFrame: last + 1) > time)
    }
  }

  @Test("times and rates of any size do not trap")
  func extremes() {
    for rate in Self.rates + [
      FrameRate(numerator: .max, denominator: .max), FrameRate(numerator: 1, denominator: .max),
    ] {
      for value: Int64 in [.min, -1, 0, 1, .max / 720_000, .max - 1, .max] {
        #expect(rate.time(ofFrame: value) >= 0 && rate.firstFrame(at: value) >= 0 && rate.lastFrame(at: value) >= 0)
      }
    }
    #expect(FrameRate(numerator: 1, denominator: 1).time(ofFrame: 2) == 1_440_000)
    #expect(FrameRate.standard.time(ofFrame: .max) == .max)
  }
}

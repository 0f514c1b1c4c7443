import Composition
import Testing

@Suite("frame rates")
struct FrameRateTests {
  @Test("A rate has no zero") func zero() {
    #expect(FrameRate(numerator: 0, denominator: 0) == FrameRate(numerator: 1, denominator: 1))
  }
}

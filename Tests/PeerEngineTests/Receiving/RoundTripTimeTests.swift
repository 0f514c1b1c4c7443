import PeerEngine
import Testing

@Suite("Round-trip time")
struct RoundTripTimeTests {
  @Test("the estimate starts with a default and then follows the measurements smoothly")
  func follows() throws {
    var time = RoundTripTime()
    #expect(time.smoothed == nil)
    #expect(time.estimate == .milliseconds(100))
    time.measured(.milliseconds(40))
    #expect(time.smoothed == .milliseconds(40))
    time.measured(.milliseconds(120))
    #expect(time.smoothed == .milliseconds(50))
    #expect(time.latest == .milliseconds(120))
    for _ in 0..<100 { time.measured(.milliseconds(60)) }
    #expect(abs((try #require(time.smoothed)) / .milliseconds(1) - 60) < 1)
    #expect(time.retryInterval > .milliseconds(68) && time.retryInterval < .milliseconds(75))
  }

  @Test("impossible measurements are ignored, and the retry interval is bounded")
  func bounds() {
    var time = RoundTripTime()
    time.measured(.milliseconds(-1))
    time.measured(.seconds(31))
    #expect(time.smoothed == nil)
    for _ in 0..<100 { time.measured(.microseconds(100)) }
    #expect(time.retryInterval == .milliseconds(30))
    for _ in 0..<100 { time.measured(.seconds(20)) }
    #expect(time.retryInterval == .milliseconds(1_500))
  }
}

import Media
import PeerEngine
import RTP
import Testing

@Suite("Rate counter")
struct RateCounterTests {
  @Test("the counter returns the rate of the last second, and zero after a pause")
  func rate() {
    var meter = RateCounter()
    let start = MonotonicInstant.now
    for millisecond in stride(from: 0, to: 5_000, by: 10) {
      meter.add(bytes: 1_250, now: start + .milliseconds(millisecond))
    }
    #expect(abs(meter.bitrate(now: start + .seconds(5)) - 1_000_000) < 30_000)
    #expect(meter.bitrate(now: start + .milliseconds(5_500)) < 700_000)
    #expect(meter.bitrate(now: start + .seconds(7)) == 0)
  }
}

import Media
import Signalling
import Testing

@Suite("Log rate limiter")
struct LogRateLimiterTests {
  @Test("lines beyond the burst are skipped, and the next line that passes reports their number")
  func counted() {
    let start = MonotonicInstant.now
    var limiter = LogRateLimiter(perSecond: 10, burst: 2)
    let first = (0..<5).map { _ in limiter.consume(now: start) }
    #expect(first == [0, 0, nil, nil, nil])
    let second = limiter.consume(now: start + .milliseconds(100))
    #expect(second == 3)
    let third = limiter.consume(now: start + .seconds(1))
    #expect(third == 0)
  }
}

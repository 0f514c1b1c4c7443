import NIOCore
import Testing

@testable import HTTPTransport

@Suite("Log rate limiter")
struct LogRateLimiterTests {
  @Test("lines beyond the burst are skipped, and the next line that passes reports their number")
  func counted() {
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    var bucket = LogRateLimiter(perSecond: 10, burst: 2, now: start)
    #expect((0..<5).map { _ in bucket.consume(now: start) } == [0, 0, nil, nil, nil])
    #expect(bucket.consume(now: start + .milliseconds(100)) == 3)
    #expect(bucket.consume(now: start + .seconds(1)) == 0)
  }
}

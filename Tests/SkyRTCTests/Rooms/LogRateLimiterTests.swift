import NIOCore
import Testing

@testable import SkyRTC

@Suite("Log lines of a kind")
struct LogRateLimiterTests {
  @Test("those beyond the burst are left out, and the next that passes says how many")
  func counted() {
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    var bucket = LogRateLimiter(perSecond: 10, burst: 2, now: start)
    #expect((0..<5).map { _ in bucket.take(now: start) } == [0, 0, nil, nil, nil])
    #expect(bucket.take(now: start + .milliseconds(100)) == 3)
    #expect(bucket.take(now: start + .seconds(1)) == 0)
  }
}

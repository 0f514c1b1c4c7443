import NIOCore
import Testing

@testable import HTTPTransport

@Suite("Token bucket")
struct TokenBucketTests {
  @Test("a burst passes, then events at the rate")
  func burst() {
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    var bucket = TokenBucket(perSecond: 10, burst: 3, now: start)
    #expect((0..<5).map { _ in bucket.consume(now: start) } == [true, true, true, false, false])
    #expect([50, 150, 160].map { bucket.consume(now: start + .milliseconds($0)) } == [false, true, false])
    let later = start + .seconds(60)
    #expect((0..<4).map { _ in bucket.consume(now: later) } == [true, true, true, false])
  }
}

import HTTPTransport
import Media
import NIOCore
import Testing

@Suite("Log rate limiter")
struct LogRateLimiterTests {
  @Test("lines beyond the burst are skipped, and the next line that passes reports their number")
  func counted() {
    let start = MonotonicInstant(ofEventLoop: NIODeadline.uptimeNanoseconds(1_000_000_000))
    var bucket = LogRateLimiter(perSecond: 10, burst: 2)
    #expect((0..<5).map { _ in bucket.consume(now: start) } == [0, 0, nil, nil, nil])
    #expect(bucket.consume(now: start + .milliseconds(100)) == 3)
    #expect(bucket.consume(now: start + .seconds(1)) == 0)
  }

  @Test("the deadlines of event loops become instants with the same distances")
  func deadlines() {
    func instant(_ deadline: NIODeadline) -> MonotonicInstant { MonotonicInstant(ofEventLoop: deadline) }
    let (first, last) = (instant(.distantPast), instant(.distantFuture))
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    #expect(instant(start + .nanoseconds(7)) - instant(start) == .nanoseconds(7))
    #expect(last - first == .nanoseconds(Int64.max))
  }
}

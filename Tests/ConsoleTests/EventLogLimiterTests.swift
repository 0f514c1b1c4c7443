import Console
import Media
import Testing

@Suite("the limit of info lines in a log")
struct EventLogLimiterTests {
  @Test("a log accepts 2,000 lines at once and then 20 a second, and counts the skipped lines")
  func limit() {
    let start = MonotonicInstant.now
    let allowance = EventLogLimiter()
    for _ in 0..<2_000 { #expect(allowance.consume(now: start) == 0) }
    for _ in 0..<500 { #expect(allowance.consume(now: start) == nil) }
    #expect(allowance.consume(now: start + .seconds(1)) == 500)
    for _ in 0..<19 { #expect(allowance.consume(now: start + .seconds(1)) == 0) }
    #expect(allowance.consume(now: start + .seconds(1)) == nil)
  }
}

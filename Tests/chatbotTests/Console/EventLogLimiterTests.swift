import NIOCore
import Testing

@testable import chatbot

@Suite("a log of too many ordinary events")
struct EventLogLimiterTests {
  @Test("has 2,000 lines at once and then 20 a second, and tells how many were left out")
  func limit() {
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    let allowance = EventLogLimiter(now: start)
    for _ in 0..<2_000 { #expect(allowance.take(now: start) == 0) }
    for _ in 0..<500 { #expect(allowance.take(now: start) == nil) }
    #expect(allowance.take(now: start + .seconds(1)) == 500)
    for _ in 0..<19 { #expect(allowance.take(now: start + .seconds(1)) == 0) }
    #expect(allowance.take(now: start + .seconds(1)) == nil)
  }
}

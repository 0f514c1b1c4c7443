import HTTPTransport
import Media
import NIOCore
import Testing

@Suite("Deadlines of event loops")
struct EventLoopDeadlineTests {
  @Test("the deadlines of event loops become instants with the same distances")
  func deadlines() {
    func instant(_ deadline: NIODeadline) -> MonotonicInstant { MonotonicInstant(ofEventLoop: deadline) }
    let (first, last) = (instant(.distantPast), instant(.distantFuture))
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    #expect(instant(start + .nanoseconds(7)) - instant(start) == .nanoseconds(7))
    #expect(last - first == .nanoseconds(Int64.max))
  }
}

import CallCheck
import Testing

@Suite("Messages that a peer sends back on a data channel")
struct DataEchoTests {
  @Test("returned, lost, doubled and reordered messages are counted, with round trips and throughput")
  func counts() throws {
    var tracker = DataEchoTracker()
    tracker.opened(after: 0.05)
    tracker.opened(after: 9)
    for number in 0..<100 {
      #expect(tracker.send(at: Double(number) / 100) == UInt64(number))
    }
    // 20 and 21 change places, 30 does not come back, 40 comes back twice.
    let order = (0..<20).map { $0 } + [21, 20] + (22..<100).filter { $0 != 30 } + [40]
    for number in order { tracker.returned(UInt64(number), bytes: 1_000, at: Double(number) / 100 + 0.1) }
    let early = tracker.report(at: 1.5)
    #expect(early.lost == 0, "1.2 s after 30 was sent it may still come back")
    let report = tracker.report(at: 4)
    #expect((report.sent, report.returned, report.lost, report.disordered) == (100, 99, 1, 2))
    #expect(report.open == 0.05)
    let trip = try #require(report.roundTrip)
    #expect(abs(trip.p95 - 0.1) < 0.001)
    #expect(abs(try #require(report.throughput) - 98 * 8_000 / 0.99) < 2_000)
  }

  @Test("no more messages are sent than may be under way, and foreign numbers change no count but that of disorder")
  func limits() {
    var tracker = DataEchoTracker()
    for _ in 0..<DataEchoTracker.maximumPending { _ = tracker.send(at: 0) }
    #expect(tracker.send(at: 0) == nil)
    tracker.returned(.max, bytes: 1, at: 1)
    let report = tracker.report(at: 1)
    #expect((report.returned, report.disordered) == (0, 1))
    #expect(report.roundTrip == nil && report.throughput == nil)
  }
}

import Media
import PeerEngine
import RTP
import Testing

@Suite("Reception reporter")
struct ReceptionReporterTests {
  private let start = MonotonicInstant.now

  @Test("losses are counted since the beginning and since the last report block")
  func losses() throws {
    var reporter = ReceptionReporter(ssrc: 7, clockRate: 90_000)
    #expect(reporter.block(now: start) == nil)
    for sequence in 65_530..<65_540 where sequence != 65_533 {
      reporter.received(sequence: Int64(sequence), timestamp: 0, arrival: start)
    }
    let first = try required(reporter.block(now: start))
    #expect(first.ssrc == 7)
    #expect(first.fractionLost == 25)
    #expect(first.cumulativeLost == 1)
    #expect(first.extendedHighestSequenceNumber == 65_539)
    for sequence in 65_540..<65_550 { reporter.received(sequence: Int64(sequence), timestamp: 0, arrival: start) }
    let second = try required(reporter.block(now: start))
    #expect(second.fractionLost == 0)
    #expect(second.cumulativeLost == 1)
  }

  @Test("more duplicates than losses make the cumulative loss negative and the fraction zero")
  func duplicates() throws {
    var reporter = ReceptionReporter(ssrc: 7, clockRate: 90_000)
    for _ in 0..<5 { reporter.received(sequence: 1, timestamp: 0, arrival: start) }
    let block = try required(reporter.block(now: start))
    #expect(block.cumulativeLost == -4)
    #expect(block.fractionLost == 0)
  }

  @Test("jitter is measured on the first packets of frames, and jumps of the clock do not count")
  func jitter() {
    var reporter = ReceptionReporter(ssrc: 7, clockRate: 90_000)
    for frame in 0..<300 {
      let late: Duration = frame % 2 == 0 ? .zero : .milliseconds(8)
      for packet in 0..<3 {
        reporter.received(
          sequence: Int64(frame * 3 + packet), timestamp: UInt32(frame * 3_000),
          arrival: start + .microseconds(frame * 33_333) + late + .milliseconds(packet * 5))
      }
    }
    #expect(abs(reporter.jitterSeconds - 0.008) < 0.000_1)
    reporter.received(sequence: 900, timestamp: 2_000_000_000, arrival: start + .seconds(10))
    #expect(reporter.jitterSeconds < 0.01)
  }

  @Test("a report block contains the last sender report and its age")
  func senderReport() throws {
    var reporter = ReceptionReporter(ssrc: 7, clockRate: 90_000)
    reporter.received(sequence: 1, timestamp: 0, arrival: start)
    #expect(try required(reporter.block(now: start)).lastSenderReport == 0)
    reporter.received(report: NTPTime(value: 0x1234_5678_9ABC_DEF0), arrival: start)
    let block = try required(reporter.block(now: start + .milliseconds(500)))
    #expect(block.lastSenderReport == 0x5678_9ABC)
    #expect(block.delaySinceLastSenderReport == 32_768)
  }
}

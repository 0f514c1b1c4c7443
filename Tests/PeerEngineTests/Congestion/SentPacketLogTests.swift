import Media
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Sent packets and the feedback on them")
struct SentPacketLogTests {
  private let start = MonotonicInstant.now

  private func feedback(_ arrivals: [(number: UInt16, milliseconds: Int)], count: Int = 0) -> [TransportFeedback] {
    var builder = TransportFeedbackBuilder(senderSSRC: 1)
    for arrival in arrivals {
      builder.add(sequenceNumber: arrival.number, arrival: .milliseconds(arrival.milliseconds))
    }
    return builder.build()
  }

  @Test("arrivals are reported in order of arrival, and packets missing between them count as lost")
  func arrivals() throws {
    var log = SentPacketLog()
    for number in 0..<10 {
      log.sent(number: UInt16(number), size: 1_000, now: start + .milliseconds(number * 10))
    }
    #expect(log.inFlight(now: start + .milliseconds(100)) == 10_000)
    let packet = try #require(feedback([(0, 50), (1, 60), (3, 95), (2, 96), (6, 130)]).first)
    let report = log.received(packet)
    #expect(report.arrivals.map(\.sent).map { ($0 - start) / .milliseconds(1) } == [0, 10, 30, 20, 60])
    #expect(report.expected == 7)
    #expect(report.lost == 2)
    #expect(log.inFlight(now: start + .milliseconds(150)) == 3_000)
    // Feedback that is repeated counts once.
    #expect(log.received(packet).arrivals.isEmpty)
  }

  @Test("sequence numbers and receivers' clocks wrap around")
  func wrap() throws {
    var log = SentPacketLog()
    for offset in 0..<100 { log.sent(number: UInt16(65_500) &+ UInt16(offset), size: 100, now: start) }
    let arrivals = (0..<100).map { (number: UInt16(65_500) &+ UInt16($0), milliseconds: 1_000 + $0) }
    var found: [Int64] = []
    for packet in feedback(arrivals) { found += log.received(packet).arrivals.map(\.arrived) }
    #expect(found.count == 100)
    #expect(zip(found, found.dropFirst()).allSatisfy { $1 - $0 == 1_000 })
    var later = try #require(feedback([(100, 0)]).first)
    log.sent(number: 64, size: 100, now: start)
    // The end of the signed 24-bit reference time: 2²³ units of 64 ms.
    later.baseSequenceNumber = 64
    later.referenceTime = -0x80_0000
    let report = log.received(later)
    #expect(report.arrivals.count == 1)
  }

  @Test("a receiver's clock that leaps with every feedback does not overflow")
  func leapingClock() throws {
    var log = SentPacketLog()
    var groups = InterArrivalGroups()
    var packet = try #require(feedback([(0, 50)]).first)
    // The largest leap of a 32-bit clock: 2³¹ units of 250 µs, less one reference time.
    let leap: Int32 = 0x7F_FFFF
    var time: Int32 = 0
    let count = 3 << 20
    for number in 0..<count {
      let position = UInt16(truncatingIfNeeded: number)
      log.sent(number: position, size: 100, now: start + .milliseconds(number))
      packet.baseSequenceNumber = position
      time = time &+ leap
      packet.referenceTime = (time << 8) >> 8
      for arrival in log.received(packet).arrivals { _ = groups.add(arrival) }
    }
    print("measured: \(count) feedback packets with a leaping clock processed")
  }

  @Test("feedback on packets that were never sent has no effect")
  func forged() {
    var log = SentPacketLog()
    for packet in feedback([(5, 1), (9, 2)]) { #expect(log.received(packet).arrivals.isEmpty) }
    log.sent(number: 7, size: 1_000, now: start)
    for packet in feedback([(3, 1), (200, 2), (40_000, 3)]) {
      let report = log.received(packet)
      #expect(report.arrivals.isEmpty)
      #expect(report.expected <= 1)
    }
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<2_000 {
      let packet = TransportFeedback(
        senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: generator.next(), packetStatusCount: generator.next(),
        referenceTime: Int32(truncatingIfNeeded: generator.next() as UInt64) >> 8, feedbackPacketCount: 0,
        chunks: [
          .run(.smallDelta, count: 3), .run(.notReceived, count: generator.next() & 0x1FFF),
          .run(.largeDelta, count: 1),
        ], deltas: [1, 2, 3, -400])
      log.sent(number: generator.next(), size: 1_200, now: start)
      _ = log.received(packet)
      #expect(log.inFlight(now: start) >= 0)
    }
  }

  @Test("a packet without feedback for a second no longer counts as in flight")
  func age() {
    var log = SentPacketLog()
    for number in 0..<10 { log.sent(number: UInt16(number), size: 1_000, now: start + .milliseconds(number * 100)) }
    #expect(log.inFlight(now: start + .milliseconds(900)) == 10_000)
    #expect(log.inFlight(now: start + .milliseconds(1_450)) == 5_000)
    #expect(log.inFlight(now: start + .seconds(5)) == 0)
  }
}

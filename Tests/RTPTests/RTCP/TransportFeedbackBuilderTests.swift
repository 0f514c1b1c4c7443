import NIOCore
import RTP
import TestSupport
import Testing

@Suite("Building of transport-wide feedback")
struct TransportFeedbackBuilderTests {
  private func builder() -> TransportFeedbackBuilder {
    TransportFeedbackBuilder(senderSSRC: 1, mediaSSRC: 2)
  }

  /// Adds arrivals at times in milliseconds since the origin.
  private func add(_ arrivals: [(UInt16, Int)], to builder: inout TransportFeedbackBuilder) {
    for (number, time) in arrivals { builder.add(sequenceNumber: number, arrival: .milliseconds(time)) }
  }

  private func roundTrip(_ feedback: TransportFeedback) throws {
    #expect(try onlyPacket(written { feedback.write(into: &$0) }) == .transportFeedback(feedback))
  }

  @Test("arrivals are reported with a resolution of a quarter of a millisecond")
  func simple() throws {
    var builder = builder()
    add([(10, 1_000), (11, 1_001), (12, 1_020), (14, 1_500)], to: &builder)
    #expect(builder.pendingCount == 4)
    let feedbacks = builder.build()
    try #require(feedbacks.count == 1)
    let feedback = feedbacks[0]
    #expect(feedback.baseSequenceNumber == 10)
    #expect(feedback.packetStatusCount == 5)
    #expect(feedback.referenceTime == 15)
    #expect(feedback.arrivals.map(\.sequenceNumber) == [10, 11, 12, 14])
    #expect(feedback.arrivals.map(\.time) == [4_000, 4_004, 4_080, 6_000])
    try roundTrip(feedback)
    #expect(builder.build().isEmpty)
  }

  @Test("a feedback reports losses since the previous one")
  func lossBetween() throws {
    var builder = builder()
    add([(65_534, 0)], to: &builder)
    _ = builder.build()
    add([(1, 30)], to: &builder)
    let feedback = try #require(builder.build().first)
    #expect(feedback.baseSequenceNumber == 65_535)
    #expect(feedback.packetStatusCount == 3)
    #expect(feedback.arrivals.map(\.sequenceNumber) == [1])
    #expect(feedback.feedbackPacketCount == 1)
  }

  @Test("packets out of order are reported in the order of their numbers, with negative deltas")
  func reordered() throws {
    var builder = builder()
    add([(2, 100), (1, 110), (3, 120), (2, 130)], to: &builder)
    let feedback = try #require(builder.build().first)
    #expect(feedback.arrivals.map(\.sequenceNumber) == [1, 2, 3])
    #expect(feedback.arrivals.map(\.time) == [440, 400, 480])
    try roundTrip(feedback)
  }

  @Test("late packets are reported separately, without reporting others as lost")
  func late() {
    var builder = builder()
    add([(1, 0), (4, 10), (6, 10)], to: &builder)
    _ = builder.build()
    add([(2, 100), (3, 101), (5, 102), (8, 103)], to: &builder)
    let feedbacks = builder.build()
    #expect(feedbacks.map(\.baseSequenceNumber) == [2, 5, 7])
    #expect(feedbacks.map(\.packetStatusCount) == [2, 1, 2])
    #expect(feedbacks.map(\.feedbackPacketCount) == [1, 2, 3])
  }

  @Test("a delta of more than 8 s, or more than 480 packets, starts another feedback")
  func splits() throws {
    var builder = builder()
    add([(1, 0), (2, 10_000)], to: &builder)
    #expect(builder.build().map(\.baseSequenceNumber) == [1, 2])

    add((3..<1_203).map { (UInt16($0), 10_000 + $0) }, to: &builder)
    let feedbacks = builder.build()
    #expect(feedbacks.map(\.packetStatusCount) == [480, 480, 240])
    #expect(feedbacks.flatMap { $0.arrivals.map(\.sequenceNumber) } == Array(3..<1_203))
    for feedback in feedbacks { try roundTrip(feedback) }
  }

  @Test("a jump that is too large for a loss starts a new range, forward or backward")
  func jumps() {
    var builder = builder()
    add([(100, 0)], to: &builder)
    _ = builder.build()
    add([(2_000, 10)], to: &builder)
    #expect(builder.build().map(\.baseSequenceNumber) == [2_000])
    add([(100, 20)], to: &builder)
    #expect(builder.build().map(\.baseSequenceNumber) == [100])
    add([(102, 30)], to: &builder)
    #expect(builder.build().map(\.baseSequenceNumber) == [101])
  }

  @Test("random arrivals are reported exactly, and no feedback has more than 1,200 bytes")
  func random() throws {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<200 {
      var builder = builder()
      var number = Int.random(in: 0...65_535, using: &generator)
      var time = Int.random(in: 0...100_000_000, using: &generator)
      var expected: [TransportFeedback.Arrival] = []
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        for _ in 0..<Int.random(in: 1...900, using: &generator) {
          number += Bool.random(using: &generator) ? 1 : Int.random(in: 1...30, using: &generator)
          time += [0, 3, 40, 300, 9_000][Int.random(in: 0..<5, using: &generator)]
          if Int.random(in: 0..<50, using: &generator) == 0 { time = max(0, time - 400) }
          builder.add(
            sequenceNumber: UInt16(truncatingIfNeeded: number), arrival: .microseconds(250 * time))
          expected.append(.init(sequenceNumber: UInt16(truncatingIfNeeded: number), time: Int64(time)))
        }
        var reported: [TransportFeedback.Arrival] = []
        for feedback in builder.build() {
          let datagram = written { feedback.write(into: &$0) }
          #expect(datagram.readableBytes <= 1_200)
          #expect(try RTCPPacket.parse(compound: datagram) == [.transportFeedback(feedback)])
          reported += feedback.arrivals
        }
        // The reference time has 24 bits of 64 ms, so times agree modulo 2³².
        let wrapped = expected.map { TransportFeedback.Arrival(sequenceNumber: $0.sequenceNumber, time: $0.time) }
        #expect(reported == wrapped)
        expected = []
      }
    }
  }

  @Test("the reference time wraps after 12 days")
  func referenceTimeWraps() throws {
    var builder = builder()
    builder.add(sequenceNumber: 1, arrival: .milliseconds(64 * (1 << 23)))
    let feedback = try #require(builder.build().first)
    #expect(feedback.referenceTime == -(1 << 23))
    try roundTrip(feedback)
  }
}

import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Transport-wide feedback, between two sessions")
struct TransportFeedbackTests {
  private struct FeedbackLog {
    var feedbacks: [(time: MonotonicInstant, packet: TransportFeedback)]
    /// The arrival times reported for each sequence number, in units of 250 µs.
    var arrivals: [UInt16: [Int64]] = [:]

    init(_ side: SessionCall.Side) {
      feedbacks = side.rtcp.compactMap { sent in
        if case .transportFeedback(let packet) = sent.packet { (sent.time, packet) } else { nil }
      }
      for feedback in feedbacks {
        for arrival in feedback.packet.arrivals { arrivals[arrival.sequenceNumber, default: []].append(arrival.time) }
      }
    }
  }

  private func number(_ packet: RTPPacket) -> UInt16? { packet.extensions.transportSequenceNumber(3) }

  @Test("all packets of the transport are numbered in the order in which they are sent")
  func numbers() throws {
    var call = SessionCall(seed: 3, toBob: .init(loss: 0.05, delay: .milliseconds(10)))
    call.run(for: .seconds(10))
    let numbers = try call.alice.rtp.map { try #require(number($0.packet)) }
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
    #expect(Set(call.alice.rtp.map(\.packet.ssrc)).count == 3)
  }

  @Test("each packet's arrival is reported once, in units of 250 µs, and a lost packet's never")
  func arrivals() throws {
    var call = SessionCall(seed: 4, toBob: .init(delay: .milliseconds(20), jitter: .milliseconds(8)))
    var lost: Set<UInt16> = []
    var sent: [UInt16] = []
    var generator = SeededGenerator(seed: 9)
    call.carriesRTP = { packet in
      guard let number = packet.extensions.transportSequenceNumber(3) else { return true }
      sent.append(number)
      if Int.random(in: 0..<10, using: &generator) == 0 {
        lost.insert(number)
        return false
      }
      return true
    }
    call.run(for: .seconds(10))
    call.settle(for: .seconds(1))
    let reported = FeedbackLog(call.bob)
    // The sets are equal because no packet is lost after the last arrival; the receiver could not know of such a loss.
    #expect(Set(reported.arrivals.keys) == Set(sent).subtracting(lost))
    #expect(reported.arrivals.values.allSatisfy { $0.count == 1 })
    let leaving = Dictionary(call.alice.rtp.map { (number($0.packet) ?? 0, $0.time) }) { first, _ in first }
    let origin = try #require(reported.arrivals.first)
    let base = (try #require(leaving[origin.key]) - call.start) / .microseconds(250) - Double(origin.value[0])
    for (number, times) in reported.arrivals {
      let left = (try #require(leaving[number]) - call.start) / .microseconds(250) - base
      // The network delay is 20 to 28 ms, so any two delays differ by at most 8 ms, or 32 units.
      #expect(abs(Double(times[0]) - left) <= 34)
    }
  }

  @Test("feedback packets cover all sequence numbers without a gap, are numbered, and are sent ten times a second")
  func order() throws {
    var call = SessionCall(seed: 5, toBob: .init(loss: 0.05, delay: .milliseconds(20)))
    call.run(for: .seconds(10))
    let reported = FeedbackLog(call.bob)
    #expect((95...101).contains(reported.feedbacks.count))
    for (earlier, later) in zip(reported.feedbacks, reported.feedbacks.dropFirst()) {
      #expect(later.packet.feedbackPacketCount == earlier.packet.feedbackPacketCount &+ 1)
      #expect(later.packet.baseSequenceNumber == earlier.packet.baseSequenceNumber &+ earlier.packet.packetStatusCount)
      #expect(later.time - earlier.time >= .milliseconds(100))
    }
    expectAll(reported.feedbacks.dropFirst()) { $0.packet.mediaSSRC == Negotiated.aliceVideo }
    expectAll(reported.feedbacks) { [0xB001, 0xB002].contains($0.packet.senderSSRC) }
  }

  @Test("a packet that arrives after it was reported lost is reported later, and no received packet is reported lost")
  func late() throws {
    var line = Impairment.Conditions(delay: .milliseconds(5), reorder: 0.05)
    line.reorderDelay = .zero ... .milliseconds(400)
    var call = SessionCall(seed: 6, toBob: line)
    call.run(for: .seconds(10))
    call.settle(for: .seconds(1))
    let reported = FeedbackLog(call.bob)
    #expect(Set(reported.arrivals.keys) == Set(call.alice.rtp.compactMap { number($0.packet) }))
    var received: Set<UInt16> = []
    for (_, feedback) in reported.feedbacks {
      let arrived = Set(feedback.arrivals.map(\.sequenceNumber))
      for offset in 0..<feedback.packetStatusCount where !arrived.contains(feedback.baseSequenceNumber &+ offset) {
        #expect(!received.contains(feedback.baseSequenceNumber &+ offset))
      }
      received.formUnion(arrived)
    }
  }

  @Test("padding of an unknown SSRC is reported too")
  func padding() throws {
    var session = MediaSession(owner: ParticipantID("alice"), cname: "bob", seed: 1)
    let now = MonotonicInstant.now
    session.configure(Negotiated().bob, now: now)
    session.transportBecameReady(now: now)
    var extensions = RTPHeaderExtensions()
    extensions.setTransportSequenceNumber(500, 3)
    var datagram = ByteBuffer()
    RTPPacket(
      payloadType: 97, sequenceNumber: 1, timestamp: 1, ssrc: 0xFFFF, extensions: extensions, paddingLength: 200
    ).write(into: &datagram)
    session.receivedRTP(datagram, now: now)
    #expect(session.deadline.map { $0 <= now + .milliseconds(100) } == true)
    let feedback = session.poll(now: now + .milliseconds(100), wallClock: NTPTime(value: 0)).flatMap {
      output -> [RTCPPacket] in
      guard case .rtcp(let datagram) = output else { return [] }
      return (try? RTCPPacket.parse(compound: datagram)) ?? []
    }
    guard case .transportFeedback(let packet)? = feedback.first else {
      Issue.record("No feedback was sent.")
      return
    }
    #expect(packet.arrivals.map(\.sequenceNumber) == [500])
  }
}

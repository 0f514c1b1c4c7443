import Media
import NIOCore
import PeerEngine
import RTP
import Testing

@Suite("Packet history")
struct PacketHistoryTests {
  private let start = MonotonicInstant.now

  private func packet(_ number: UInt16) -> RTPPacket {
    RTPPacket(payloadType: 96, sequenceNumber: number, timestamp: UInt32(number), ssrc: 1)
  }

  @Test("a packet is available for retransmission for five seconds, across a wrap of the sequence numbers")
  func keeps() {
    var history = PacketHistory()
    for count in 0..<1_000 {
      history.sent(packet(UInt16(truncatingIfNeeded: 65_000 + count)), now: start + .milliseconds(count * 8))
    }
    let now = start + .milliseconds(7_992)
    #expect(history.packet(463, roundTrip: .zero, now: now)?.timestamp == 463)
    #expect(history.packet(65_500, roundTrip: .zero, now: now)?.timestamp == 65_500)
    #expect(history.packet(65_300, roundTrip: .zero, now: now) == nil)
    #expect(history.packet(464, roundTrip: .zero, now: now) == nil)
    #expect(history.packet(65_500, roundTrip: .zero, now: now + .seconds(5)) == nil)
  }

  @Test("a packet that was just retransmitted is not retransmitted again within the round-trip time")
  func again() {
    var history = PacketHistory()
    history.sent(packet(5), now: start)
    #expect(history.packet(5, roundTrip: .milliseconds(100), now: start + .milliseconds(20)) != nil)
    #expect(history.packet(5, roundTrip: .milliseconds(100), now: start + .milliseconds(90)) == nil)
    #expect(history.packet(5, roundTrip: .milliseconds(100), now: start + .milliseconds(100)) != nil)
  }

  @Test("the history's memory is bounded, however fast packets are sent")
  func bounded() {
    var history = PacketHistory()
    for count in 0..<10_000 { history.sent(packet(UInt16(count)), now: start) }
    #expect(history.packet(9_999, roundTrip: .zero, now: start) != nil)
    #expect(history.packet(9_999 - 4_095, roundTrip: .zero, now: start) != nil)
    #expect(history.packet(9_999 - 4_096, roundTrip: .zero, now: start) == nil)
  }

  @Test("a jump in the sequence numbers clears the history")
  func jump() {
    var history = PacketHistory()
    history.sent(packet(5), now: start)
    history.sent(packet(500), now: start)
    #expect(history.packet(5, roundTrip: .zero, now: start) == nil)
    #expect(history.packet(500, roundTrip: .zero, now: start) != nil)
  }
}

import Media
import NIOCore
import PeerEngine
import RTP
import Testing

@Suite("Pacer")
struct PacerTests {
  private let start = MonotonicInstant.now

  private func entry(_ priority: Pacer.Priority, number: UInt16 = 0, media: Int = 0) -> Pacer.Entry {
    Pacer.Entry(
      packet: RTPPacket(
        payloadType: 96, sequenceNumber: number, timestamp: 0, ssrc: 1, payload: ByteBuffer(repeating: 0, count: 1_188)),
      priority: priority, media: media)
  }

  @Test("a burst of 100 packets is sent within the drain time and no faster")
  func burst() {
    var pacer = Pacer()
    for number in 0..<100 { pacer.add(entry(.video, number: UInt16(number)), now: start) }
    var now = start
    var times: [Duration] = []
    while let due = pacer.deadline {
      now = max(now, due)
      while let next = pacer.next(now: now) {
        #expect(Int(next.packet.sequenceNumber) == times.count)
        times.append(now - start)
      }
    }
    #expect(times.count == 100)
    #expect(times.count { $0 == .zero } == 3)
    #expect(times[99] > .milliseconds(150) && times[99] < .milliseconds(260))
    #expect(pacer.isEmpty)
  }

  @Test("audio is sent first, then retransmissions, then video")
  func priorities() {
    var pacer = Pacer()
    for priority in [Pacer.Priority.video, .retransmission, .audio] { pacer.add(entry(priority), now: start) }
    #expect(
      [pacer.next(now: start), pacer.next(now: start), pacer.next(now: start)].map { $0?.priority } == [
        .audio, .retransmission, .video,
      ])
  }

  @Test("waiting packets of a media section can be removed")
  func remove() {
    var pacer = Pacer()
    for number in 0..<10 { pacer.add(entry(.video, number: UInt16(number), media: number % 2), now: start) }
    pacer.removeAll(media: 1)
    var left: [UInt16] = []
    var now = start
    while let due = pacer.deadline {
      now = max(now, due)
      if let next = pacer.next(now: now) { left.append(next.packet.sequenceNumber) }
    }
    #expect(left == [0, 2, 4, 6, 8])
    #expect(pacer.delay == .zero)
  }
}

import Media
import NIOCore
import RTP
import TestSupport
import Testing

@testable import BotPeer

@Suite("Sources that change, wrap and pad, between two sessions")
struct SourceChangeTests {
  @Test("sequence numbers and timestamps wrap without a seam")
  func wrap() throws {
    var call = SessionCall(seed: 2, toBob: .init(loss: 0.02, delay: .milliseconds(20)))
    // Both counters are moved to just before their ends.
    call.rewrite = { packet in
      var packet = packet
      let shift = UInt16(65_536 - 400)
      if packet.ssrc == Negotiated.aliceRepair {
        let original: UInt16 = packet.payload.getInteger(at: packet.payload.readerIndex) ?? 0
        packet.payload.setInteger(Shift.number(original, by: shift), at: packet.payload.readerIndex)
        packet.timestamp = Shift.timestamp(packet.timestamp)
      } else if packet.ssrc == Negotiated.aliceVideo {
        packet.sequenceNumber = Shift.number(packet.sequenceNumber, by: shift)
        packet.timestamp = Shift.timestamp(packet.timestamp)
      }
      return packet
    }
    call.carriesFeedback = { packet in
      if case .genericNACK = packet { false } else { true }
    }
    let first = Shift.Origin()
    call.carriesRTP = { packet in
      if packet.ssrc == Negotiated.aliceVideo { first.note(packet) }
      return true
    }
    Shift.origin = first
    // NACKs name the moved numbers, so they are moved back on their way.
    call.toBob.conditions.loss = 0
    call.run(for: .seconds(10))
    call.settle()
    let frames = call.bob.frames(.vp8)
    #expect(frames.map(\.payload) == call.played.filter { $0.codec == .vp8 }.map(\.payload))
    let ticks = frames.map(\.time.ticks)
    #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $1 - $0 == 3_000 })
    #expect(try #require(ticks.last) > 1 << 32)
    #expect(call.bob.session.receiveStatistics[.video]?.packetsLost == 0)
  }
}

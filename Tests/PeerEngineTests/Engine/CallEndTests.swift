import Foundation
import ICE
import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import PeerEngineTestSupport
import RTP
import TestSupport
import Testing

@Suite("The end of a call")
struct CallEndTests {
  @Test("the other side learns at once that a call ended, despite heavy loss", arguments: [0.1, 0.3])
  func goodbyeUnderLoss(loss: Double) throws {
    var heard = 0
    let calls = 20
    for seed in 0..<UInt64(calls) {
      var pair = try EnginePair(seed: seed)
      try pair.connect()
      pair.setBandwidth(.init(loss: loss, delay: .milliseconds(25)), seed: seed)
      pair.alice.engine.close(CloseReason(.closedByUs, "We leave."), now: pair.now)
      pair.run(for: .milliseconds(100))
      #expect(pair.alice.ending?.cause == .closedByUs)
      if pair.bob.ending?.cause == .closedByParticipant { heard += 1 }
    }
    print("measured: at \(loss) loss \(heard) of \(calls) goodbyes arrive")
    #expect(heard >= (loss < 0.2 ? calls : calls - 2))
  }

  @Test("closing a connection also sends an RTCP BYE for each source that has sent")
  func goodbyeInControl() throws {
    var pair = try EnginePair(seed: 3)
    try pair.connect()
    _ = pair.exchangeMedia(for: .seconds(1))
    pair.carries = { datagram, _ in PacketKind.of(datagram) != .dtls }
    pair.alice.engine.close(CloseReason(.closedByUs, "We leave."), now: pair.now)
    pair.run(for: .milliseconds(20))
    #expect(pair.bob.engine.state == .connected)
    // Without a BYE, 2 s of silence would have to pass.
    pair.bob.engine.participantLeft(now: pair.now)
    #expect(pair.bob.engine.state == .closed)
  }

  @Test("nothing remains of connected participants, however they end")
  func nothingIsLeft() throws {
    let call = DemultiplexerCall(seed: 91)
    var engines: [Weak] = []
    for number in 0..<24 {
      let name = "guest \(number)"
      try call.enter(name, host: UInt8(number + 1))
      try call.connect(name)
      call.play(name, seed: UInt64(number), shape: .slim)
      call.run(for: .milliseconds(100))
      engines.append(Weak(call.engine(of: name)))
      let id = ParticipantID(name)
      switch number % 4 {
      case 0: call.demultiplexer.disconnect(id, because: CloseReason(.closedByUs, "Enough."), now: call.now)
      case 1: call.guests[id]?.engine.close(CloseReason(.closedByUs, "I leave."), now: call.now)
      case 2:
        call.participantLeft(name)
        call.guests[id]?.speaks = false
      default: call.guests[id]?.speaks = false
      }
      call.run(for: .milliseconds(50))
      _ = call.stop(name)
    }
    call.run(for: .seconds(31))
    #expect(engines.count == 24)
    #expect(engines.allSatisfy { $0.engine == nil })
    #expect(call.demultiplexer.footprint == 0)
    #expect(call.demultiplexer.deadline == nil)
  }

  /// Set by the test; otherwise only compared with nil.
  private struct Weak: @unchecked Sendable {
    weak var engine: PeerConnection?

    init(_ engine: PeerConnection?) { self.engine = engine }
  }
}

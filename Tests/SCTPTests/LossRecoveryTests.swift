import Media
import NIOCore
import NetworkEmulation
import SCTP
import TestSupport
import Testing

@Suite("Recovery of lost packets")
struct LossRecoveryTests {
  @Test(
    "single messages, and bursts of five, arrive soon over a path that loses packets in both directions",
    arguments: [(1, 0.2, 0.1), (5, 0.2, 0.45), (1, 0.4, 0.25), (5, 0.4, 1.9)])
  func latency(packets: Int, loss: Double, limit: Double) throws {
    var pair = AssociationPair.connected(.init(loss: loss, delay: .milliseconds(25)), seed: 77)
    var delays: [Double] = []
    for number in 0..<300 {
      let start = pair.now
      for _ in 0..<packets { try pair.sendLeft(1_000, number: number) }
      let count = (number + 1) * packets
      #expect(pair.run(.seconds(60)) { $0.rightEvents.count >= count })
      delays.append((pair.now - start).seconds)
      #expect(pair.run(.seconds(60)) { $0.left.bytesInFlight == 0 })
      pair.run(.milliseconds(10))
    }
    delays.sort()
    let mean = delays.reduce(0, +) / Double(delays.count)
    let counters = pair.left.counters
    print(
      "measured: \(packets) packets, loss \(loss): delay mean \(Int(mean * 1_000)) ms, median",
      "\(Int(delays[150] * 1_000)) ms, 95 % \(Int(delays[285] * 1_000)) ms; \(counters.chunksRetransmitted) of",
      "\(counters.chunksSent) chunks retransmitted, \(counters.tailLossProbes) probes,",
      "\(counters.retransmissionTimeouts) timeouts")
    #expect(mean < limit)
  }

  @Test(
    "a lost last chunk is sent again after two round trips, and reduces the congestion window", arguments: [1, 2, 8])
  func tailLoss(packets: Int) throws {
    var pair = try Self.measured()
    var left = packets
    pair.isLost = { side, datagram in
      guard side == .left, hasData(datagram) else { return false }
      left -= 1
      return left == 0
    }
    let start = pair.now
    for number in 0..<packets { try pair.sendLeft(1_100, number: number) }
    pair.run(.milliseconds(90))
    let window = pair.left.congestionWindow
    #expect(pair.run(.seconds(5)) { $0.rightEvents.count == packets })
    // Two round trips, and one way.
    #expect(pair.now - start >= .milliseconds(125) && pair.now - start <= .milliseconds(250))
    pair.run(.milliseconds(60))
    #expect(pair.left.counters.tailLossProbes == 1)
    #expect(pair.left.counters.retransmissionTimeouts == 0)
    #expect(pair.left.bytesInFlight == 0)
    #expect(pair.left.congestionWindow < window)
  }

  @Test("when the last three of eight are lost, the acknowledgement of the probe shows the others, without a timeout")
  func lostTail() throws {
    var pair = try Self.measured()
    var sent = 0
    pair.isLost = { side, datagram in
      guard side == .left, hasData(datagram) else { return false }
      sent += 1
      return (6...8).contains(sent)
    }
    let start = pair.now
    for number in 0..<8 { try pair.sendLeft(1_100, number: number) }
    #expect(pair.run(.seconds(5)) { $0.rightEvents.count == 8 })
    #expect(pair.now - start < .milliseconds(330))
    #expect(pair.left.counters.tailLossProbes == 1 && pair.left.counters.retransmissionTimeouts == 0)
    #expect(pair.left.counters.chunksRetransmitted == 3)
  }

  @Test("a lost acknowledgement causes one probe, and a duplicate shows that nothing was lost")
  func lostAck() throws {
    var pair = try Self.measured()
    var isDropped = false
    pair.isLost = { side, _ in
      guard side == .right, !isDropped else { return false }
      isDropped = true
      return true
    }
    try pair.sendLeft(1_100)
    pair.exchange()
    let window = pair.left.congestionWindow
    pair.run(.seconds(5))
    #expect(pair.left.counters.tailLossProbes == 1 && pair.right.counters.duplicateChunks == 1)
    #expect(pair.left.congestionWindow == window)
  }

  @Test("without answers one probe is sent, then one packet and one probe for each timeout, with doubled intervals")
  func silence() throws {
    var pair = try Self.measured()
    var times: [Double] = []
    let start = pair.now
    let clock = Clock(start)
    pair.isLost = { side, datagram in
      if side == .left, hasData(datagram) { times.append((clock.now - start).seconds) }
      return true
    }
    for number in 0..<5 { try pair.sendLeft(1_100, number: number) }
    for _ in 0..<1_200 {
      clock.now = pair.now
      pair.run(.milliseconds(5))
    }
    // Five at once; a probe after 100 ms; timeouts after 400, 1,200, 2,800 and 5,800 ms, each with a probe.
    let expected = [0, 0, 0, 0, 0, 0.1, 0.4, 0.5, 1.2, 1.3, 2.8, 2.9, 5.8, 5.9]
    #expect(times.count == expected.count)
    for (time, wanted) in zip(times, expected) { #expect(abs(time - wanted) < 0.06, "\(times)") }
    #expect(pair.left.congestionWindow == pair.left.options.maximumPacketBytes)
    pair.isLost = { _, _ in false }
    #expect(pair.run(.seconds(4)) { $0.rightEvents.count == 5 })
    // The first acknowledgement ended the doubling.
    let timeouts = pair.left.counters.retransmissionTimeouts
    pair.run(.seconds(1))
    pair.isLost = { _, _ in true }
    try pair.sendLeft(1_100)
    pair.run(.milliseconds(450))
    #expect(pair.left.counters.retransmissionTimeouts == timeouts + 1)
  }

  @Test("reordering causes few retransmissions and hardly a smaller congestion window")
  func reordering() throws {
    var pair = AssociationPair.connected(
      .init(delay: .milliseconds(25), reorder: 0.1, reorderDelay: .zero ... .milliseconds(20)), seed: 5)
    for number in 0..<2_000 { try pair.sendLeft(1_132, number: number) }
    let start = pair.now
    #expect(pair.run(.seconds(60)) { $0.rightEvents.count == 2_000 })
    #expect(pair.left.counters.chunksRetransmitted < 40)
    // The sender needs 25 packets in flight for that.
    #expect(pair.now - start < .seconds(4))
  }

  @Test("the last chunk in the queue and every retransmission request an acknowledgement at once, and others do not")
  func immediateAck() throws {
    var pair = try Self.measured()
    var flags: [Bool] = []
    pair.isLost = { side, datagram in
      guard side == .left else { return false }
      for case .data(let chunk) in chunks(datagram) { flags.append(chunk.wantsImmediateAck) }
      return flags.count < 5
    }
    try pair.sendLeft(4_400)
    pair.run(.seconds(3))
    #expect(flags.prefix(4) == [false, false, false, true])
    #expect(flags.count >= 8 && flags.dropFirst(4).allSatisfy { $0 })
    #expect(pair.rightEvents.count == 1)
  }

  private final class Clock {
    var now: MonotonicInstant

    init(_ now: MonotonicInstant) {
      self.now = now
    }
  }

  /// A pair over a path with a round trip of 50 ms, which the left side has measured.
  private static func measured() throws -> AssociationPair {
    var pair = AssociationPair.connected(.init(delay: .milliseconds(25)))
    try pair.sendLeft(100)
    pair.run(.seconds(1))
    #expect(pair.left.smoothedRoundTrip == .milliseconds(50))
    pair.rightEvents = []
    return pair
  }
}

/// Whether a datagram contains a DATA chunk.
func hasData(_ datagram: ByteBuffer) -> Bool {
  chunks(datagram).contains { if case .data = $0 { true } else { false } }
}

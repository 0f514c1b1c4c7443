import Media
import NIOCore
import NetworkEmulation
import SCTP
import TestSupport
import Testing

@Suite("Congestion control")
struct FairnessTests {
  /// The rate of an ideal TCP in bytes per second: MSS/RTT · sqrt(3/2) / sqrt(p), where the window grows by one segment
  /// for each round trip (Mathis et al., 1997, table 1 without delayed acknowledgements; RFC 9260, 7.2.2 counts bytes,
  /// so that delayed SACKs do not slow the growth).
  private static func idealRate(packetBytes: Int, roundTrip: Duration, loss: Double) -> Double {
    Double(packetBytes) / roundTrip.seconds * (1.5 / loss).squareRoot()
  }

  @Test(
    "the rate at random loss is within 20 % of that of an ideal TCP",
    arguments: [0.005, 0.01, 0.02])
  func fairRate(loss: Double) throws {
    var shares: [Double] = []
    var timeouts = 0
    for seed in 1...(loss == 0.01 ? 5 : 2) as ClosedRange<UInt64> {
      var pair = AssociationPair.connected(.init(delay: .milliseconds(25)), seed: seed)
      pair.toRight.conditions.loss = loss
      pair.toLeft.conditions.loss = loss
      let (bytes, timeoutsOfSeed) = try Self.transfer(.seconds(60), over: &pair)
      timeouts += timeoutsOfSeed
      let ideal = Self.idealRate(
        packetBytes: pair.left.options.maximumPacketBytes, roundTrip: .milliseconds(50), loss: loss)
      shares.append(Double(bytes) / 60 / ideal)
    }
    let mean = shares.reduce(0, +) / Double(shares.count)
    print(
      "measured: loss \(loss): \(shares.map { ($0 * 100).rounded() / 100 }) of the ideal rate, mean",
      "\((mean * 1_000).rounded() / 1_000), \(timeouts) timeouts")
    #expect((0.8...1.2).contains(mean))
    #expect(shares.allSatisfy { (0.7...1.3).contains($0) })
  }

  /// Sends as much as the window allows; returns the received bytes and the sender's timeouts.
  private static func transfer(
    _ duration: Duration, over pair: inout AssociationPair
  ) throws -> (bytes: Int, timeouts: Int) {
    let end = pair.now + duration
    var bytes = 0
    let before = pair.left.counters.retransmissionTimeouts
    while pair.now < end {
      while pair.left.bufferedAmount < 1 << 20 { try pair.sendLeft(11_320) }
      pair.run(.milliseconds(100))
      bytes += pair.rightMessages.reduce(0) { $0 + $1.payload.readableBytes }
      pair.rightEvents = []
    }
    return (bytes, pair.left.counters.retransmissionTimeouts - before)
  }
}

import Media
import NIOCore
import NetworkEmulation
import SCTP
import TestSupport
import Testing

@Suite("Cost", .serialized)
struct ThroughputTests {
  @Test("the processor time of a transfer is measured", arguments: [100, 1_132, 65_536])
  func throughput(bytes: Int) throws {
    var pair = AssociationPair.connected(.init(delay: .milliseconds(1)))
    let total = 16 << 20
    let count = min(60_000, total / bytes)
    let message = payload(bytes, number: 1)
    let time = try ProcessorTime.measure {
      for _ in 0..<count { try pair.left.send(message, stream: 1, protocolID: 53, now: pair.now) }
      #expect(pair.run(.seconds(600)) { $0.rightEvents.count >= count })
    }
    let rate = Double(count * bytes) / time.seconds / 1e6
    print(
      "measured: \(count) messages of \(bytes) bytes in \(time), both sides: \(rate.rounded()) MB/s,",
      "\((Double(count) / time.seconds).rounded()) messages/s")
    // 200 Mb/s on one core; an unoptimised build reaches a tenth of an optimised one.
    #if !DEBUG
      if bytes > 1_000 { #expect(rate >= 25) }
    #endif
  }

  @Test("the checksum of a packet is measured")
  func checksum() {
    let packet = [UInt8](repeating: 7, count: 1_160)
    let start = ContinuousClock.now
    var sum: UInt32 = 0
    for _ in 0..<100_000 {
      var checksum = CRC32c()
      packet.withUnsafeBytes { checksum.update($0) }
      sum ^= checksum.value
    }
    let time = ContinuousClock.now - start
    #expect(sum == 0)
    print("measured: CRC32c of 1,160 bytes in \(time / 100_000)")
  }
}

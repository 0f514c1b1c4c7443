import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Damaged multicast DNS messages")
struct MDNSDamagedInputTests {
  @Test("500,000 damaged or random datagrams cause no trap, in bounded time")
  func damaged() {
    var generator = SeededGenerator(seed: 2026)
    let seeds = [
      MDNSResponses.chromiumAddress, MDNSResponses.chromiumNegative, MDNSResponses.compressed,
      MDNSResponses.response("192.0.2.7"),
    ]
    let names = Set(seeds.compactMap { try? MDNSMessage(parsingResponse: $0) }.flatMap(\.addressRecords).map(\.name))
    var now = MonotonicInstant.now
    var resolver = MDNSResolver(generator: SeededGenerator(seed: 3))
    var parsed = 0
    var resolved = 0
    let start = MonotonicInstant.now
    for round in 0..<500_000 {
      let datagram = Self.damage(seeds, using: &generator)
      if let message = try? MDNSMessage(parsingResponse: datagram) {
        parsed += 1
        if message.addressRecords.count > 64 { Issue.record("round \(round): \(message.addressRecords.count) records") }
      }
      resolver.received(datagram, from: address("10.9.0.1", 5_353), now: now)
      if round % 20 == 0 {
        for name in names { resolver.resolve(name, now: now) }
        for case .resolved(let name, let addresses) in resolver.poll(now: now) {
          resolved += 1
          if !names.contains(name) || !(1...4).contains(addresses.count) { Issue.record("\(name) has \(addresses)") }
        }
        now += .milliseconds(100)
      }
    }
    #expect(parsed > 50_000)
    #expect(resolved > 100)
    #expect(MonotonicInstant.now - start < .seconds(300))
  }

  private static func damage(_ seeds: [ByteBuffer], using generator: inout SeededGenerator) -> ByteBuffer {
    var bytes = Array(seeds[Int.random(in: 0..<seeds.count, using: &generator)].readableBytesView)
    if Int.random(in: 0..<50, using: &generator) == 0 {
      bytes = (0..<Int.random(in: 0...200, using: &generator)).map { _ in .random(in: .min ... .max, using: &generator)
      }
    }
    for _ in 0..<Int.random(in: 0...4, using: &generator) where !bytes.isEmpty {
      let index = Int.random(in: 0..<bytes.count, using: &generator)
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: bytes.remove(at: index)
      case 1: bytes.insert(.random(in: .min ... .max, using: &generator), at: index)
      case 2: bytes.removeLast(bytes.count - index)
      case 3:
        bytes[index] = 0xC0
        if index + 1 < bytes.count { bytes[index + 1] = .random(in: 0...160, using: &generator) }
      case 4: bytes[index] ^= 1 << Int.random(in: 0..<8, using: &generator)
      default: bytes[index] = .random(in: .min ... .max, using: &generator)
      }
    }
    return ByteBuffer(bytes: bytes)
  }
}

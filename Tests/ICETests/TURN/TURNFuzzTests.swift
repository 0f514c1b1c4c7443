import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("TURN with damaged input and in any order")
struct TURNFuzzTests {
  private let peer = address("192.0.2.7")

  @Test("1,000,000 damaged messages cause no trap, no allocation and no deadline in the past")
  func damaged() {
    var generator = SeededGenerator(seed: 8_656)
    var path = TURNPath.asking()
    let seeds = Self.seeds(path)
    var delivered = 0
    var now = path.now
    var client = path.client
    for round in 0..<1_000_000 {
      if round % 10_000 == 0 {
        path = TURNPath(transport: round % 20_000 == 0 ? .udp : .stream, seed: UInt64(round))
        path.run(round % 30_000 == 0 ? .milliseconds(21) : .seconds(1))
        client = path.client
        if round % 30_000 != 0 { client.bindChannel(to: peer, now: path.now) }
        now = path.now
      }
      let datagram = Self.damage(seeds, using: &generator)
      if client.transport == .stream, round % 2 == 0 {
        client.received(stream: datagram, now: now)
      } else {
        client.received(datagram, now: now)
      }
      if round % 50 == 0 {
        for action in client.poll(now: now) {
          switch action {
          case .received(_, let source):
            delivered += 1
            if source.ip != peer.ip { Issue.record("round \(round): data from \(source)") }
          case .allocated: Issue.record("round \(round): a forged response made an allocation")
          default: break
          }
        }
        if let deadline = client.deadline, deadline < now { Issue.record("round \(round): the deadline is past") }
        now += .milliseconds(3)
      }
    }
    // Those whose addresses and numbers are not damaged.
    #expect(delivered > 1_000)
  }

  private static func seeds(_ path: TURNPath) -> [[UInt8]] {
    var message = STUNMessage(.indication, method: .data, transactionID: STUNTransactionID(high: 1, low: 2))
    message.appendXorPeerAddress(address("192.0.2.7"))
    message.data = ByteBuffer(string: "hello")
    var success = STUNMessage(.success, method: .allocate, transactionID: path.firstRequest)
    success.appendXorRelayedAddress(address("203.0.113.5", 5_000))
    success.xorMappedAddress = address("198.51.100.7", 4)
    success.lifetime = 600
    var refusal = STUNMessage(.errorResponse, method: .refresh, transactionID: path.firstRequest)
    refusal.errorCode = STUNErrorCode(438, "Stale Nonce")
    refusal.realm = "example.org"
    refusal.nonce = ByteBuffer(string: "obMatJos2AAABn")
    refusal.set(.passwordAlgorithms, bytes("00020000 00010000"))
    return [
      written(message), success.encoded(integrityKey: [1]), refusal.encoded(integrityKey: nil),
      TURNChannelData.frame(ByteBuffer(string: "hello"), channel: 0x4000, isPadded: true),
    ].map { Array($0.readableBytesView) }
  }

  private static func damage(_ seeds: [[UInt8]], using generator: inout SeededGenerator) -> ByteBuffer {
    let random = generator.next()
    var bytes = seeds[Int(random % UInt64(seeds.count))]
    for step in 0..<Int(random >> 8 % 4) {
      let index = Int(random >> (16 + UInt64(step) * 8) & 0xFFFF) % bytes.count
      bytes[index] = UInt8(truncatingIfNeeded: random >> (40 + UInt64(step) * 4))
    }
    if random >> 60 == 0 { bytes.removeLast(Int(random >> 12 % UInt64(bytes.count))) }
    return ByteBuffer(bytes: bytes)
  }

  @Test("calls in any order cause no trap, and the deadline never stays in the past, for 40 seeds")
  func anyOrder() {
    for seed in 0..<40 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var path = TURNPath(transport: seed % 2 == 0 ? .udp : .stream, families: seed % 3 == 0 ? .both : .v4, seed: seed)
      path.loss = 0.1
      for _ in 0..<150 {
        let peer = address("192.0.2.\(Int.random(in: 1...30, using: &generator))")
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: path.client.addPermission(for: peer.ip, now: path.now)
        case 1: path.client.bindChannel(to: peer, now: path.now)
        case 2: path.server.restart()
        case 3: path.isDown.toggle()
        case 4: path.closeConnection()
        case 5: path.server.forbiddenPeers = [peer.ip]
        case 6: path.server.nonceLifetime = .seconds(Int64.random(in: 1...100, using: &generator))
        case 7: path.sendFromPeer("y", peer)
        default: for _ in 0..<10 { path.send("x", to: peer) }
        }
        path.run(.milliseconds(Int64.random(in: 0...8_000, using: &generator)))
      }
      path.isDown = false
      path.loss = 0
      path.server.nonceLifetime = .seconds(600)
      #expect(path.run(.seconds(60)) { $0.client.allocation != nil }, "seed \(seed)")
      path.leave()
      path.run(.seconds(3))
      #expect(path.client.hasEnded)
    }
  }
}

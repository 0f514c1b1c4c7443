import Media
import NIOCore
import NetworkEmulation
import SCTP
import TestSupport
import Testing

@Suite("INITs that cross, and peers that start again")
struct RestartTests {
  @Test("two INITs that cross give one association, with the tags and TSNs of both INITs")
  func crossing() throws {
    var pair = AssociationPair(.init(delay: .milliseconds(20)))
    var tags: [AssociationPair.Side: Set<UInt32>] = [:]
    pair.isLost = { side, datagram in
      for chunk in chunks(datagram) {
        if case .initiation(let chunk) = chunk { tags[side, default: []].insert(chunk.initiateTag) }
        if case .initiationAck(let chunk) = chunk { tags[side, default: []].insert(chunk.initiateTag) }
      }
      return false
    }
    pair.left.connect(now: pair.now)
    pair.right.connect(now: pair.now)
    try pair.sendLeft(5_000, number: 1)
    try pair.right.send(payload(6_000, number: 2), stream: 9, protocolID: 53, now: pair.now)
    pair.run(.seconds(2))
    #expect(tags[.left]?.count == 1 && tags[.right]?.count == 1)
    #expect(pair.leftEvents.count == 2 && pair.rightEvents.count == 2)
    #expect(pair.leftMessages.map(\.payload) == [payload(6_000, number: 2)])
    #expect(pair.rightMessages.map(\.payload) == [payload(5_000, number: 1)])
  }

  @Test("a peer that starts again is connected again, and both sides' streams begin again")
  func restart() throws {
    var pair = AssociationPair.connected()
    try pair.sendLeft(100, number: 1)
    pair.run(.seconds(1))
    pair.left = SCTPAssociation(
      options: AssociationPair.patient, generator: SeededGenerator(seed: 4_711), now: pair.now)
    pair.left.connect(now: pair.now)
    try pair.sendLeft(100, number: 2)
    #expect(pair.run(.seconds(5)) { $0.rightMessages.count == 2 })
    #expect(pair.rightEvents.contains(.restarted))
    try pair.right.send(payload(50, number: 3), stream: 1, protocolID: 53, now: pair.now)
    #expect(pair.run(.seconds(5)) { $0.leftMessages.count == 1 })
  }

  @Test("a peer that starts again and again while nothing is read is reported once between messages")
  func restartsWhilePaused() throws {
    var pair = AssociationPair.connected()
    pair.rightIsPaused = true
    for round in 0..<20 {
      pair.left = SCTPAssociation(
        options: AssociationPair.patient, generator: SeededGenerator(seed: 4_711 + UInt64(round)), now: pair.now)
      pair.left.connect(now: pair.now)
      #expect(pair.run(.seconds(5)) { $0.left.isConnected })
      // One message, after half of the restarts.
      if round == 9 { try pair.sendLeft(100, number: 1) }
      pair.run(.milliseconds(500))
    }
    pair.rightIsPaused = false
    pair.run(.seconds(1))
    #expect(pair.rightEvents.count == 3)
    #expect(pair.rightEvents.first == .restarted && pair.rightEvents.last == .restarted)
    #expect(pair.rightMessages.map(\.payload) == [payload(100, number: 1)])
  }

  @Test(
    "a peer restarts during a transfer in both directions, with loss; its old packets and cookie have no effect",
    arguments: [9, 10] as [UInt64])
  func restartDuringTransfer(seed: UInt64) throws {
    var pair = AssociationPair(
      .init(loss: 0.1, delay: .milliseconds(20), reorder: 0.1, reorderDelay: .zero ... .milliseconds(20)), seed: seed)
    var old: [ByteBuffer] = []
    pair.isLost = { side, datagram in
      if side == .left, old.count < 60 { old.append(datagram) }
      return false
    }
    pair.left.connect(now: pair.now)
    for number in 0..<300 { try pair.sendLeft(1_000, number: number) }
    for number in 0..<300 {
      try pair.right.send(payload(1_000, number: number), stream: 2, protocolID: 53, now: pair.now)
    }
    pair.run(.milliseconds(400))
    #expect(pair.right.isConnected && pair.right.bytesInFlight > 0)
    pair.isLost = { _, _ in false }
    pair.left = SCTPAssociation(
      options: AssociationPair.patient, generator: SeededGenerator(seed: 4_711), now: pair.now)
    pair.left.connect(now: pair.now)
    pair.leftEvents = []
    #expect(pair.run(.seconds(20)) { $0.rightEvents.contains(.restarted) && $0.left.isConnected })
    #expect(pair.right.bufferedAmount == 0)
    pair.rightEvents = []
    let wrongTags = pair.right.counters.wrongTags
    for datagram in old { pair.right.receive(datagram, now: pair.now) }
    #expect(pair.right.counters.wrongTags + pair.right.counters.invalidCookies > wrongTags + 30)
    for number in 0..<100 { try pair.sendLeft(1_000, number: number) }
    #expect(pair.run(.seconds(60)) { $0.rightEvents.count >= 100 })
    #expect(pair.rightMessages.map(\.payload) == (0..<100).map { payload(1_000, number: $0) })
    #expect(pair.leftMessages.isEmpty && pair.right.isConnected)
  }
}

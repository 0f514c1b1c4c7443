import Foundation
import Media
import NIOCore
import NetworkEmulation
import SCTP
import TestSupport
import Testing

@Suite("Transfer of messages")
struct TransferTests {
  static let paths: [(String, Impairment.Conditions)] = [0, 0.05, 0.2, 0.4].map { loss in
    (
      "\(Int(loss * 100)) % loss, reordering and duplication",
      .init(
        loss: loss, delay: .milliseconds(25), reorder: 0.1, reorderDelay: .zero ... .milliseconds(20), duplicate: 0.05)
    )
  }

  /// `CHATBOT_SCTP_MESSAGES=10000` runs longer.
  static let messageCount = ProcessInfo.processInfo.environment["CHATBOT_SCTP_MESSAGES"].flatMap(Int.init) ?? 1_000

  @Test("every reliable message arrives once and in the order of its stream, whatever the path loses", arguments: 0..<4)
  func reliable(path: Int) throws {
    let (name, conditions) = Self.paths[path]
    var pair = AssociationPair.connected(conditions, seed: 100 + UInt64(path))
    var generator = SeededGenerator(seed: 7)
    let count = Self.messageCount
    var sent: [UInt16: [ByteBuffer]] = [:]
    for number in 0..<count {
      let bytes = [8, 30, 200, 1_132, 1_133, 1_400, 5_000].randomElement(using: &generator) ?? 8
      let stream = UInt16.random(in: 0..<5, using: &generator)
      let message = payload(bytes, number: number)
      try pair.left.send(
        message, stream: stream, protocolID: 53, options: .init(isUnordered: stream == 4), now: pair.now)
      sent[stream, default: []].append(message)
    }
    let start = pair.now
    #expect(pair.run(.seconds(7_200)) { $0.rightEvents.count >= count })
    let duration = pair.now - start
    var received: [UInt16: [ByteBuffer]] = [:]
    for message in pair.rightMessages { received[message.stream, default: []].append(message.payload) }
    for stream in 0..<4 as Range<UInt16> { #expect(received[stream] == sent[stream], "stream \(stream)") }
    // Those of the unordered stream arrive once, in any order.
    #expect(Set(received[4] ?? []) == Set(sent[4] ?? []))
    #expect(received[4]?.count == sent[4]?.count)
    pair.run(.seconds(5))
    #expect(pair.rightEvents.count == count)
    #expect(pair.left.bytesInFlight == 0 && pair.left.bufferedAmount == 0)
    #expect(pair.right.receiveMemory == 0)
    let counters = pair.left.counters
    print(
      "measured: \(name): \(count) messages in \(duration.seconds) s of simulated time,",
      "\(counters.chunksRetransmitted) of \(counters.chunksSent) chunks retransmitted,",
      "\(counters.tailLossProbes) probes, \(counters.retransmissionTimeouts) timeouts")
  }

  @Test("messages of both sides arrive while both send at the same time over a lossy path")
  func bothDirections() throws {
    var pair = AssociationPair.connected(
      .init(loss: 0.1, delay: .milliseconds(20), reorder: 0.1, reorderDelay: .zero ... .milliseconds(20)), seed: 9)
    for number in 0..<300 {
      try pair.left.send(payload(700, number: number), stream: 0, protocolID: 53, now: pair.now)
      try pair.right.send(payload(900, number: number), stream: 0, protocolID: 53, now: pair.now)
    }
    #expect(pair.run(.seconds(600)) { $0.leftEvents.count >= 300 && $0.rightEvents.count >= 300 })
    #expect(pair.leftMessages.map(\.payload) == (0..<300).map { payload(900, number: $0) })
    #expect(pair.rightMessages.map(\.payload) == (0..<300).map { payload(700, number: $0) })
  }

  @Test("a message of 16 MiB arrives unchanged, without and with loss", arguments: [0, 0.02])
  func largeMessage(loss: Double) throws {
    var options = AssociationPair.patient
    options.maximumMessageBytes = 16 << 20
    options.peerMaximumMessageBytes = 0
    var pair = AssociationPair.connected(.init(loss: loss, delay: .milliseconds(5)), options: options)
    var generator = SeededGenerator(seed: 5)
    var message = ByteBuffer()
    for _ in 0..<(2 << 20) { message.writeInteger(generator.next()) }
    let start = pair.now
    try pair.left.send(message, stream: 1, protocolID: 53, now: pair.now)
    #expect(pair.run(.seconds(600)) { !$0.rightEvents.isEmpty })
    let counters = pair.left.counters
    print(
      "measured: 16 MiB with loss \(loss) in \((pair.now - start).seconds) s of simulated time,",
      "\(counters.chunksRetransmitted) of \(counters.chunksSent) chunks retransmitted,",
      "\(counters.tailLossProbes) probes, \(counters.retransmissionTimeouts) timeouts")
    #expect(pair.rightMessages.map(\.payload) == [message])
    #expect(pair.maximumReceiveMemory <= 32 << 20)
  }

  @Test("sequence numbers of chunks and of messages continue after their largest values")
  func wrap() throws {
    // The generator's third and fourth numbers are the tag and the first TSN.
    var pair = AssociationPair(
      .init(loss: 0.02, delay: .milliseconds(1), reorder: 0.05, reorderDelay: .zero ... .milliseconds(20)))
    pair.left = SCTPAssociation(
      options: AssociationPair.patient, generator: ConstantGenerator(value: UInt64(UInt32.max - 500)), now: pair.now)
    pair.left.connect(now: pair.now)
    #expect(pair.run(.seconds(60)) { $0.left.isConnected && $0.right.isConnected })
    var next = 0
    pair.rightEvents = []
    while next < 66_500 {
      for _ in 0..<3_500 {
        try pair.sendLeft(8, number: next)
        next += 1
      }
      let count = next
      #expect(pair.run(.seconds(60)) { $0.rightEvents.count >= count })
    }
    #expect(pair.rightMessages.map(\.payload) == (0..<next).map { payload(8, number: $0) })
  }

  @Test("a reader that takes nothing stops the sender, and the rest arrives when it takes messages again")
  func zeroWindow() throws {
    var options = AssociationPair.patient
    options.receiveWindow = 64 << 10
    var pair = AssociationPair.connected(options: options)
    pair.rightIsPaused = true
    for number in 0..<200 { try pair.sendLeft(2_000, number: number) }
    pair.run(.seconds(60))
    #expect(pair.right.receiveMemory <= 64 << 10)
    #expect(pair.left.bufferedAmount > 200_000)
    #expect(pair.left.isConnected)
    pair.rightIsPaused = false
    #expect(pair.run(.seconds(60)) { $0.rightEvents.count >= 200 })
    #expect(pair.rightMessages.map(\.payload) == (0..<200).map { payload(2_000, number: $0) })
  }

  @Test("a closed window does not count as an unreachable peer")
  func closedWindowIsAlive() throws {
    var options = AssociationPair.patient
    options.receiveWindow = 16 << 10
    options.maximumRetransmissions = 5
    var pair = AssociationPair.connected(options: options)
    pair.rightIsPaused = true
    for number in 0..<50 { try pair.sendLeft(2_000, number: number) }
    pair.run(.seconds(300))
    #expect(pair.left.isConnected)
    pair.rightIsPaused = false
    #expect(pair.run(.seconds(60)) { $0.rightEvents.count >= 50 })
  }

  @Test("a sender probes a closed window with one chunk at a time, with growing intervals, and survives lost updates")
  func windowProbes() throws {
    var options = AssociationPair.patient
    options.receiveWindow = 16 << 10
    var pair = AssociationPair.connected(options: options)
    pair.rightIsPaused = true
    for number in 0..<50 { try pair.sendLeft(2_000, number: number) }
    pair.run(.seconds(5))
    var sizes: [Int] = []
    pair.isLost = { side, datagram in
      guard side == .left else { return true }
      let data = chunks(datagram).compactMap { if case .data(let chunk) = $0 { chunk } else { nil } }
      if !data.isEmpty { sizes.append(data.count) }
      return false
    }
    let received = pair.right.counters.messagesReceived
    pair.run(.seconds(60))
    // Every 3 s at the latest; no tail loss probe in addition.
    #expect((15...30).contains(sizes.count) && sizes.allSatisfy { $0 == 1 })
    #expect(pair.right.counters.messagesReceived == received)
    // The acknowledgement that opens the window is lost as well.
    pair.rightIsPaused = false
    pair.run(.milliseconds(1))
    pair.isLost = { _, _ in false }
    #expect(pair.run(.seconds(10)) { $0.rightEvents.count >= 50 })
    #expect(pair.rightMessages.map(\.payload) == (0..<50).map { payload(2_000, number: $0) })
  }

  @Test("every second packet is acknowledged at once, a single one after 200 ms, or at once if its sender wants that")
  func delayedAcknowledgement() {
    var sender = ScriptedSender()
    let start = sender.now
    let acks = { (answers: [SCTPChunk]) in answers.count { if case .selectiveAck = $0 { true } else { false } } }
    #expect(acks(sender.send([sender.data(0)])) == 0)
    #expect(acks(sender.send([sender.data(1, sequence: 1)])) == 1)
    #expect(acks(sender.send([sender.data(2, sequence: 2)])) == 0)
    #expect(sender.target.deadline == start + .milliseconds(200))
    sender.now = start + .milliseconds(200)
    #expect(acks(sender.target.takePackets(now: sender.now).flatMap { chunks($0) }) == 1)
    guard case .data(var urgent) = sender.data(3, sequence: 3) else { return }
    urgent.wantsImmediateAck = true
    #expect(acks(sender.send([.data(urgent)])) == 1)
  }

  @Test("one lost chunk is retransmitted when three later packets arrived, without a timeout")
  func fastRetransmit() throws {
    var pair = AssociationPair.connected()
    var dropped = 0
    var isDropped = false
    pair.isLost = { side, datagram in
      guard side == .left, !isDropped, chunks(datagram).contains(where: { if case .data = $0 { true } else { false } })
      else { return false }
      isDropped = true
      dropped += 1
      return true
    }
    for number in 0..<8 { try pair.sendLeft(1_000, number: number) }
    #expect(pair.run(.milliseconds(100)) { $0.rightEvents.count >= 8 })
    #expect(dropped == 1)
    #expect(pair.left.counters.fastRetransmissions == 1)
    #expect(pair.left.counters.retransmissionTimeouts == 0)
    #expect(pair.left.counters.chunksRetransmitted == 1)
  }

  @Test("no more is sent than the congestion window allows, which grows while all arrives and shrinks with a loss")
  func congestion() throws {
    var pair = AssociationPair.connected(.init(delay: .milliseconds(50)))
    let initial = pair.left.congestionWindow
    for number in 0..<1_500 { try pair.sendLeft(10_000, number: number) }
    pair.exchange()
    #expect(pair.left.bytesInFlight <= initial + 1_160)
    pair.run(.milliseconds(500))
    let grown = pair.left.congestionWindow
    #expect(grown > 4 * initial)
    pair.toRight.conditions.loss = 1
    pair.run(.seconds(1))
    #expect(pair.left.congestionWindow == 1_160)
    pair.toRight.conditions.loss = 0
    #expect(pair.run(.seconds(60)) { $0.rightEvents.count >= 1_500 })
  }
}

/// A generator that always returns the same number.
struct ConstantGenerator: RandomNumberGenerator, Sendable {
  let value: UInt64

  mutating func next() -> UInt64 { value }
}

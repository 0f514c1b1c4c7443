import Media
import NIOCore
import NetworkEmulation
import SCTP
import TestSupport
import Testing

@Suite("Partial reliability")
struct PartialReliabilityTests {
  @Test(
    "messages with few retransmissions arrive in order or not at all, and do not stop those that follow",
    arguments: 0..<6)
  func retransmissions(seed: Int) throws {
    var pair = AssociationPair.connected(
      .init(loss: 0.2, delay: .milliseconds(10), reorder: 0.05, reorderDelay: .zero ... .milliseconds(20)),
      seed: UInt64(seed) + 40)
    var options = SCTPSendOptions(maximumRetransmissions: seed % 2)
    options.isUnordered = seed >= 4
    for number in 0..<400 {
      try pair.sendLeft(number % 7 == 0 ? 6_000 : 300, number: number, options: options)
      pair.run(.milliseconds(20))
    }
    try pair.sendLeft(50, number: 400)
    #expect(pair.run(.seconds(60)) { $0.rightMessages.contains { $0.payload == payload(50, number: 400) } })
    let numbers = pair.rightMessages.compactMap { $0.payload.getInteger(at: 0, as: UInt64.self) }
    if seed < 4 { #expect(numbers == numbers.sorted()) }
    #expect(Set(numbers).count == numbers.count)
    #expect(numbers.count < 401 && numbers.count > 200)
    for (message, number) in zip(pair.rightMessages, numbers) {
      let bytes = number == 400 ? 50 : number % 7 == 0 ? 6_000 : 300
      #expect(message.payload == payload(bytes, number: Int(number)))
    }
    pair.run(.seconds(30))
    #expect(pair.left.bytesInFlight == 0 && pair.right.receiveMemory == 0)
    #expect(pair.left.counters.messagesAbandoned >= 401 - numbers.count)
  }

  @Test("a message whose lifetime ends before it could be sent is dropped, and one in time arrives")
  func lifetime() throws {
    var pair = AssociationPair.connected()
    pair.toRight.conditions.loss = 1
    for number in 0..<50 { try pair.sendLeft(5_000, number: number, options: .init(lifetime: .milliseconds(300))) }
    pair.run(.seconds(1))
    pair.toRight.conditions.loss = 0
    try pair.sendLeft(60, number: 50, options: .init(lifetime: .seconds(20)))
    #expect(pair.run(.seconds(20)) { !$0.rightEvents.isEmpty })
    #expect(pair.rightMessages.map(\.payload) == [payload(60, number: 50)])
    pair.run(.seconds(20))
    #expect(pair.left.bytesInFlight == 0 && pair.left.bufferedAmount == 0)
    #expect(pair.left.counters.messagesAbandoned == 50)
  }

  @Test("a message of which all sent fragments arrived, but not the rest, does not block its stream")
  func abandonedRest() throws {
    var pair = AssociationPair.connected(.init(delay: .milliseconds(50)))
    // Ten packets are sent at once; the lifetime ends before the others can be.
    try pair.sendLeft(200_000, number: 1, options: .init(lifetime: .milliseconds(80)))
    pair.run(.milliseconds(60))
    pair.toRight.conditions.loss = 1
    pair.run(.milliseconds(500))
    pair.toRight.conditions.loss = 0
    try pair.sendLeft(70, number: 2)
    #expect(pair.run(.seconds(20)) { !$0.rightEvents.isEmpty })
    #expect(pair.rightMessages.map(\.payload) == [payload(70, number: 2)])
    #expect(pair.right.counters.skippedMessages == 1)
    pair.run(.seconds(5))
    #expect(pair.right.receiveMemory == 0)
  }

  @Test("a lost FORWARD TSN is sent again")
  func lostForwardTSN() throws {
    var pair = AssociationPair.connected()
    var lost = 0
    pair.isLost = { side, datagram in
      let parsed = chunks(datagram)
      if parsed.contains(where: { if case .forwardTSN = $0 { true } else { false } }), lost < 3 {
        lost += 1
        return true
      }
      return parsed.contains { if case .data(let chunk) = $0 { chunk.payload.readableBytes == 100 } else { false } }
    }
    try pair.sendLeft(100, number: 1, options: .init(maximumRetransmissions: 0))
    pair.run(.seconds(10))
    try pair.sendLeft(101, number: 2)
    #expect(pair.run(.seconds(20)) { !$0.rightEvents.isEmpty })
    #expect(lost == 3)
    #expect(pair.rightMessages.map(\.payload) == [payload(101, number: 2)])
  }

  @Test(
    "no chunk is sent more often than its channel allows, and none after its lifetime",
    arguments: [
      SCTPSendOptions(maximumRetransmissions: 0), .init(maximumRetransmissions: 2),
      .init(lifetime: .milliseconds(100)),
    ],
    [0.05, 0.2, 0.4])
  func limits(options: SCTPSendOptions, loss: Double) throws {
    var pair = AssociationPair.connected(
      .init(
        loss: loss, delay: .milliseconds(25), reorder: 0.1, reorderDelay: .zero ... .milliseconds(20), duplicate: 0.05),
      seed: 91)
    let sends = Sends()
    pair.isLost = { side, datagram in
      guard side == .left else { return false }
      for case .data(let chunk) in chunks(datagram) { sends.add(chunk) }
      return false
    }
    let count = 1_000
    var generator = SeededGenerator(seed: 4)
    for number in 0..<count {
      let bytes = [20, 300, 1_132, 3_000].randomElement(using: &generator) ?? 20
      sends.now = pair.now
      sends.sent.append(pair.now)
      try pair.sendLeft(bytes, number: number, options: options)
      for _ in 0..<4 {
        pair.run(.milliseconds(5))
        sends.now = pair.now
      }
    }
    pair.run(.seconds(120))
    let numbers = pair.rightMessages.compactMap { $0.payload.getInteger(at: $0.payload.readerIndex, as: UInt64.self) }
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    #expect(pair.left.bytesInFlight == 0 && pair.right.receiveMemory == 0 && pair.left.queuedEntries.chunks == 0)
    #expect(numbers.count + pair.left.counters.messagesAbandoned >= count)
    if let maximum = options.maximumRetransmissions {
      #expect(sends.counts.values.allSatisfy { $0 <= 1 + maximum })
      // Nothing is given up before it is lost.
      #expect(maximum == 0 || sends.counts.values.contains(1 + maximum))
    } else {
      // The packet is made up to 5 ms after the clock was read.
      #expect(sends.latest <= .milliseconds(110))
    }
    let name = options.maximumRetransmissions.map { "\($0) retransmissions" } ?? "a lifetime of 100 ms"
    print("measured: \(name), loss \(loss): \(numbers.count) of \(count) messages arrived")
    #expect(Double(numbers.count) > Double(count) * (loss < 0.1 ? 0.7 : loss < 0.3 ? 0.4 : 0.05))
  }

  /// How often each chunk was sent, and how long after its message was queued.
  private final class Sends {
    var now = MonotonicInstant.now
    var sent: [MonotonicInstant] = []
    var counts: [UInt32: Int] = [:]
    var latest = Duration.zero

    func add(_ chunk: DataChunk) {
      counts[chunk.tsn, default: 0] += 1
      guard chunk.isFirst, let number = chunk.payload.getInteger(at: chunk.payload.readerIndex, as: UInt64.self),
        sent.indices.contains(Int(number))
      else { return }
      latest = max(latest, now - sent[Int(number)])
    }
  }
}

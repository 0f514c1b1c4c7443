import Media
import NIOCore
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
      .init(loss: 0.2, delay: .milliseconds(10), reordering: 0.05), seed: UInt64(seed) + 40)
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
}

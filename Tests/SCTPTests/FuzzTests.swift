import Foundation
import Media
import NIOCore
import NetworkEmulation
import SCTP
import TestSupport
import Testing

@Suite("Random and damaged packets")
struct FuzzTests {
  /// `CHATBOT_SCTP_PACKETS=3000000` tries more.
  static let rounds = ProcessInfo.processInfo.environment["CHATBOT_SCTP_PACKETS"].flatMap(Int.init) ?? 100_000

  @Test("damaged packets with a right checksum cause no trap, need limited memory, and are read as they are written")
  func damagedPackets() throws {
    let seeds = Self.recordedPackets()
    #expect(seeds.count > 200)
    var generator = SeededGenerator(seed: 2_026)
    var sender = ScriptedSender(seed: 3)
    var parsed = 0
    var restarts: UInt64 = 0
    var largestVisits = 0
    var largestMemory = 0
    for round in 0..<Self.rounds {
      let datagram = Self.damage(seeds, tag: sender.tag, tsn: sender.nextTSN, using: &generator)
      if let packet = try? SCTPPacket(parsing: datagram) {
        parsed += 1
        // Padding and unused bits may differ, but what is written is read as the same.
        let written = packet.encoded()
        if (try? SCTPPacket(parsing: written)) != packet { Issue.record("round \(round): \(datagram)") }
      }
      let visits = sender.target.visits
      sender.target.receive(datagram, now: sender.now)
      largestVisits = max(largestVisits, sender.target.visits - visits)
      let queued = sender.target.queuedEntries
      if queued.chunks > 8_192 || queued.packets > 32 || queued.controls > 64 {
        Issue.record("round \(round): \(queued)")
      }
      largestMemory = max(largestMemory, sender.target.receiveMemory)
      if round % 5 == 0 {
        while sender.target.nextEvent(now: sender.now) != nil {}
        _ = sender.target.takePackets(now: sender.now)
        sender.now += .milliseconds(Int64.random(in: 0...60, using: &generator))
      }
      if round % 50 == 0 {
        try? sender.target.send(
          payload(Int.random(in: 1...9_000, using: &generator), number: round), stream: UInt16(round % 300),
          protocolID: 53, options: .init(maximumRetransmissions: round % 3), now: sender.now)
        if round % 400 == 0 { sender.target.resetStream(UInt16(round % 300), now: sender.now) }
      }
      if sender.target.closeReason != nil {
        restarts += 1
        sender = ScriptedSender(seed: 3 + restarts)
      }
    }
    #expect(parsed > Self.rounds / 4)
    // The receive window, which nothing exceeds.
    #expect(largestMemory <= 4 << 20)
    #expect(largestVisits <= FloodTests.visitsOfPacket)
    print(
      "measured: \(parsed) of \(Self.rounds) damaged packets parsed, \(restarts) associations ended, at most",
      "\(largestMemory) bytes and \(largestVisits) visits for a packet")
  }

  @Test("damaged data channel messages cause no trap, and channels stay within their limit")
  func damagedControlMessages() {
    var generator = SeededGenerator(seed: 5)
    var target = DataChannelPair.connected(seed: 8)
    for round in 0..<5_000 {
      var message = ByteBuffer()
      DataChannelControlMessage.open(
        .init(
          label: "a label", subprotocol: "a protocol", isOrdered: round % 2 == 0, reliability: .retransmissions(3))
      ).write(into: &message)
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        let index = Int.random(in: 0..<message.writerIndex, using: &generator)
        message.setInteger(UInt8.random(in: .min ... .max, using: &generator), at: index)
      }
      message.moveWriterIndex(to: Int.random(in: 1...message.writerIndex, using: &generator))
      _ = try? DataChannelControlMessage(parsing: message)
      target.sendRaw(
        message, stream: UInt16.random(in: 0...600, using: &generator),
        protocolID: [50, 50, 51, 53, 56, 99].randomElement(using: &generator) ?? 50)
      if round % 10 == 0 { target.run(.milliseconds(20)) }
    }
    target.run(.seconds(60))
    #expect(target.right.openChannels.count <= DataChannelTransport.maximumChannels)
    #expect(target.right.association.isConnected)
    #expect(target.right.counters.invalidControlMessages > 100)
  }

  @Test("associations that get damaged packets of their own, in every state, cause no trap, for each of 60 seeds")
  func damagedAssociations() {
    for seed in 1...60 as ClosedRange<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var pair = AssociationPair(
        .init(loss: 0.05, delay: .milliseconds(5), reorder: 0.1, reorderDelay: .zero ... .milliseconds(20)), seed: seed)
      let recorder = Recorder()
      pair.isLost = { side, datagram in
        recorder.packets[side, default: []].append(datagram)
        return false
      }
      pair.left.connect(now: pair.now)
      if seed % 2 == 0 { pair.right.connect(now: pair.now) }
      for step in 0..<120 {
        pair.run(.milliseconds(Int64.random(in: 0...30, using: &generator)))
        for _ in 0..<3 {
          pair.right.receive(Self.damage(recorder.packets[.left] ?? [], using: &generator), now: pair.now)
          pair.left.receive(Self.damage(recorder.packets[.right] ?? [], using: &generator), now: pair.now)
        }
        try? pair.sendLeft(
          Int.random(in: 1...4_000, using: &generator), stream: UInt16(step % 4), number: step,
          options: .init(lifetime: step % 3 == 0 ? .milliseconds(20) : nil))
        try? pair.right.send(payload(200, number: step), stream: UInt16(step % 3), protocolID: 53, now: pair.now)
        if step % 20 == 19 { pair.left.resetStream(UInt16(step % 4), now: pair.now) }
        if step == 110, seed % 3 > 0 { pair.left.shutdown(now: pair.now) }
        if step == 110, seed % 3 > 1 { pair.right.shutdown(now: pair.now) }
      }
      pair.run(.seconds(20))
      if pair.maximumReceiveMemory > 5 << 20 { Issue.record("seed \(seed): \(pair.maximumReceiveMemory) bytes") }
    }
  }

  private final class Recorder {
    var packets: [AssociationPair.Side: [ByteBuffer]] = [:]
  }

  /// Packets of whole associations: set-up, data, loss, resets, shutdown.
  private static func recordedPackets() -> [ByteBuffer] {
    var packets: [ByteBuffer] = []
    var pair = AssociationPair(
      .init(loss: 0.1, delay: .milliseconds(5), reorder: 0.1, reorderDelay: .zero ... .milliseconds(20)), seed: 17)
    pair.isLost = { _, datagram in
      packets.append(datagram)
      return false
    }
    pair.left.connect(now: pair.now)
    pair.run(.seconds(3))
    for number in 0..<150 {
      try? pair.sendLeft(
        number % 4 == 0 ? 3_000 : 40, stream: UInt16(number % 5), number: number,
        options: .init(isUnordered: number % 3 == 0, maximumRetransmissions: number % 2 == 0 ? 0 : nil))
      try? pair.right.send(payload(300, number: number), stream: 1, protocolID: 51, now: pair.now)
      if number % 30 == 0 { pair.left.resetStream(UInt16(number / 30), now: pair.now) }
      pair.run(.milliseconds(30))
    }
    pair.run(.seconds(40))
    pair.left.shutdown(now: pair.now)
    pair.run(.seconds(10))
    return packets
  }

  /// A recorded packet for another association, with some bytes changed, added or removed, and mostly a right checksum.
  private static func damage(
    _ seeds: [ByteBuffer], tag: UInt32? = nil, tsn: UInt32? = nil, using generator: inout SeededGenerator
  ) -> ByteBuffer {
    var datagram = seeds.randomElement(using: &generator) ?? ByteBuffer()
    datagram = ByteBuffer(bytes: datagram.readableBytesView)
    if let tag, datagram.getInteger(at: 4, as: UInt32.self) != 0 { datagram.setInteger(tag, at: 4) }
    // TSNs near the expected ones get further than random ones.
    if let tsn, datagram.getInteger(at: 12, as: UInt8.self) == 0, Bool.random(using: &generator) {
      datagram.setInteger(tsn &+ UInt32.random(in: 0...400, using: &generator), at: 16)
    }
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      let length = datagram.writerIndex
      guard length > 13 else { break }
      // The first bytes of a packet decide more than payload does.
      let end = Bool.random(using: &generator) ? min(length, 48) : length
      let index = Int.random(in: 12..<end, using: &generator)
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: datagram.moveWriterIndex(to: Int.random(in: 12...length, using: &generator))
      case 1: datagram.writeBytes((0..<4 * Int.random(in: 1...4, using: &generator)).map { _ in UInt8(0) })
      case 2: datagram.setInteger(UInt16.random(in: 0...40, using: &generator), at: index & ~1)
      case 3:
        var more = seeds.randomElement(using: &generator) ?? ByteBuffer()
        more.moveReaderIndex(forwardBy: 12)
        datagram.writeImmutableBuffer(more)
      default: datagram.setInteger(UInt8.random(in: .min ... .max, using: &generator), at: index)
      }
    }
    if datagram.writerIndex >= 12, Int.random(in: 0..<50, using: &generator) > 0 { setChecksum(&datagram) }
    return datagram
  }

  private static func setChecksum(_ datagram: inout ByteBuffer) {
    datagram.setInteger(UInt32(0), at: 8)
    var checksum = CRC32c()
    datagram.withUnsafeReadableBytes { checksum.update($0) }
    datagram.setInteger(checksum.value, at: 8, endianness: .little)
  }
}

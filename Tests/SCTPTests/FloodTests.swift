import Media
import NIOCore
import SCTP
import TestSupport
import Testing

/// What a peer with the right tag, or without it, sends in masses. Work is counted in kept entries that were looked at.
@Suite("Floods")
struct FloodTests {
  /// The maximum number of visits that one packet may cause: the entries of all lists, a few times over.
  static let visitsOfPacket = 400_000

  @Test("10,000 INITs to an established association cost no memory, are answered up to a limit, and change nothing")
  func initFlood() throws {
    var sender = ScriptedSender()
    var largest = 0
    for number in 1...10_000 as ClosedRange<UInt32> {
      let chunk = InitChunk(initiateTag: number &* 77_777 | 1, window: 100_000, initialTSN: number)
      sender.target.receive(
        SCTPPacket(sourcePort: 5_000, destinationPort: 5_000, verificationTag: 0, chunks: [.initiation(chunk)])
          .encoded(), now: sender.now)
      largest = max(largest, sender.target.queuedEntries.packets)
    }
    #expect(largest == 32)
    #expect(sender.target.takePackets(now: sender.now).count == 32)
    #expect(sender.target.receiveMemory == 0 && sender.target.visits == 0)
    sender.send([sender.data(0)])
    #expect(sender.events.count == 1 && sender.target.isConnected)
  }

  @Test("100,000 packets with guessed tags have no effect")
  func guessedTags() throws {
    var sender = ScriptedSender()
    var generator = SeededGenerator(seed: 6)
    for number in 0..<100_000 {
      var packet = sender.packet([
        [
          .abort([], tagIsReflected: number % 2 == 0), .shutdown(cumulativeTSN: 0), sender.data(0), .shutdownAck,
          .forwardTSN(.init(newCumulativeTSN: sender.nextTSN &+ 9)), .cookieAck, .error([]),
        ][number % 7]
      ])
      repeat {
        packet.verificationTag = UInt32.random(in: 1 ... .max, using: &generator)
      } while packet.verificationTag
        == sender.tag
      sender.target.receive(packet.encoded(), now: sender.now)
    }
    #expect(sender.target.counters.wrongTags == 100_000)
    #expect(sender.target.takePackets(now: sender.now).isEmpty && sender.target.nextEvent(now: sender.now) == nil)
    #expect(sender.target.isConnected && sender.target.visits == 0)
  }

  @Test("10,000 repeated and forged cookies cost no memory and change nothing")
  func cookieFlood() throws {
    var pair = AssociationPair()
    var echo: ByteBuffer?
    pair.isLost = { _, datagram in
      if chunks(datagram).contains(where: { if case .cookieEcho = $0 { true } else { false } }) { echo = datagram }
      return false
    }
    pair.left.connect(now: pair.now)
    pair.run(.seconds(1))
    let repeated = try #require(echo)
    var generator = SeededGenerator(seed: 8)
    var largest = 0
    for number in 0..<10_000 {
      var packet = try SCTPPacket(parsing: repeated)
      if number % 2 == 0, case .cookieEcho(var cookie)? = packet.chunks.first {
        let index = cookie.readerIndex + Int.random(in: 0..<cookie.readableBytes, using: &generator)
        let byte = cookie.getInteger(at: index, as: UInt8.self) ?? 0
        cookie.setInteger(byte ^ UInt8.random(in: 1 ... .max, using: &generator), at: index)
        packet.chunks = [.cookieEcho(cookie)]
      }
      pair.right.receive(packet.encoded(), now: pair.now)
      largest = max(largest, pair.right.queuedEntries.controls)
    }
    #expect(pair.right.counters.invalidCookies == 5_000 && largest <= 64)
    #expect(pair.right.nextEvent(now: pair.now) == nil)
    try pair.sendLeft(100)
    #expect(pair.run(.seconds(2)) { $0.rightMessages.count == 1 })
    // A week later the cookie still belongs to this association.
    pair.right.receive(repeated, now: pair.now + .seconds(604_800))
    #expect(pair.right.isConnected && pair.right.counters.invalidCookies == 5_000)
  }

  @Test("packets full of SACKs with absurd gaps cause limited work")
  func absurdAcks() throws {
    var sender = ScriptedSender()
    for number in 0..<400 {
      try sender.target.send(payload(60_000, number: number), stream: 0, protocolID: 53, now: sender.now)
    }
    var first: UInt32?
    var highest: UInt32 = 0
    var generator = SeededGenerator(seed: 9)
    for round in 0..<2_000 {
      let sent = sender.target.takePackets(now: sender.now).flatMap { chunks($0) }
      for case .data(let chunk) in sent {
        first = first ?? chunk.tsn
        highest = chunk.tsn
      }
      let base = try #require(first)
      let acks = (0..<50).map { _ -> SCTPChunk in
        // The cumulative TSN stays behind, so that thousands of chunks stay outstanding.
        let distance = UInt16(clamping: Int(highest &- base) + 1)
        let start = UInt16.random(in: 0...min(distance, 60_000), using: &generator)
        return .selectiveAck(
          .init(
            cumulativeTSN: base &- 1, window: .random(in: 0...10_000_000, using: &generator),
            gapBlocks: [
              .init(start: 2, end: distance), .init(start: start, end: .max), .init(start: start, end: start / 2),
            ].shuffled(using: &generator), duplicates: [base, highest]))
      }
      let visits = sender.target.visits
      sender.target.receive(sender.packet(acks).encoded(), now: sender.now)
      #expect(sender.target.visits - visits <= Self.visitsOfPacket, "round \(round)")
      sender.now += .milliseconds(20)
    }
    #expect(sender.target.queuedEntries.chunks <= 8_192)
    #expect(sender.target.isConnected)
    #expect(sender.target.counters.unexpectedChunks >= 2_000 * 42)
    print("measured: \(sender.target.visits) visits by SACKs, \(sender.target.queuedEntries.chunks) chunks outstanding")
  }

  @Test("FORWARD TSNs that name one stream hundreds of times look at its waiting messages once")
  func forwardTSNs() {
    var sender = ScriptedSender()
    // Messages that wait for sequence number 0.
    for offset in 0..<20_000 as Range<UInt32> {
      sender.send([sender.data(offset, sequence: UInt16(1 + offset), bytes: 10)])
    }
    #expect(sender.target.receiveMemory > 1 << 20)
    var largest = 0
    for round in 0..<500 as Range<UInt32> {
      let skips = (0..<30 as Range<UInt32>).map { number in
        SCTPChunk.forwardTSN(
          .init(
            newCumulativeTSN: sender.nextTSN &+ 20_000 &+ round * 30 &+ number,
            skipped: Array(repeating: .init(stream: 0, streamSequenceNumber: UInt16(32_000 &- round)), count: 8)))
      }
      let visits = sender.target.visits
      sender.send(skips)
      largest = max(largest, sender.target.visits - visits)
    }
    #expect(largest <= Self.visitsOfPacket)
    #expect(sender.target.isConnected && sender.target.receiveMemory == 0)
    #expect(sender.events.count == 20_000)
  }

  @Test("RE-CONFIG requests in masses are answered up to a limit, and waiting events stay limited")
  func resets() {
    var sender = ScriptedSender()
    var request = sender.nextTSN
    var largest = 0
    for _ in 0..<2_000 {
      let chunks = (0..<10).map { _ -> SCTPChunk in
        defer { request &+= 1 }
        return .reconfiguration([
          .outgoingReset(request: request, response: 0, lastTSN: sender.nextTSN &- 1, streams: Array(0..<40))
        ])
      }
      let visits = sender.target.visits
      sender.send(chunks, takesEvents: false)
      request = request &- 2  // Two of ten are not processed.
      largest = max(largest, sender.target.visits - visits)
    }
    #expect(sender.target.counters.unexpectedChunks == 4_000)
    var events = 0
    while sender.target.nextEvent(now: sender.now) != nil { events += 1 }
    #expect(events == 4_096)
    #expect(largest <= 1_000 && sender.target.isConnected && sender.target.receiveMemory == 0)
  }

  @Test("10,000 DATA_CHANNEL_OPENs open 256 channels at most, and the queue of answers stays small")
  func channelOpens() {
    var peer = ScriptedChannelPeer()
    let label = String(repeating: "x", count: 500)
    var opened = 0
    var message = ByteBuffer()
    DataChannelControlMessage.open(.init(label: label)).write(into: &message)
    for number in 0..<10_000 {
      opened += peer.send(message, stream: UInt16(number)).count { if case .openedByPeer = $0 { true } else { false } }
    }
    #expect(opened == DataChannelTransport.maximumChannels)
    #expect(peer.target.openChannels.count == DataChannelTransport.maximumChannels)
    #expect(peer.target.counters.channelsRefused == 1_024 - 256)
    let association = peer.target.association
    // Streams beyond the limit of the association do not get as far as the channels.
    #expect(association.counters.messagesOnRefusedStreams == 10_000 - 1_024)
    #expect(association.isConnected && association.receiveMemory == 0)
    // The peer acknowledges nothing: the answers are one byte for each channel.
    #expect(association.bufferedAmount + association.bytesInFlight <= 256)
    #expect(association.queuedEntries.controls <= 64)
    // The channels that were opened work.
    #expect(peer.send(payload(10, number: 1), stream: 7, protocolID: DataChannelProtocolID.binary).count == 1)
  }
}

import Media
import NIOCore
import SCTP
import TestSupport
import Testing

@Suite("Hostile peers")
struct HostileTests {
  @Test("a message that never ends is dropped at the limit, costs no more memory, and is reported at its end")
  func endlessFragments() {
    var sender = ScriptedSender()
    var maximum = 0
    for offset in 0..<10_000 as Range<UInt32> {
      sender.send([sender.data(offset, bytes: 1_100, isFirst: offset == 0, isLast: false)])
      maximum = max(maximum, sender.target.receiveMemory)
    }
    #expect(maximum <= 300 << 10)
    sender.send([sender.data(10_000, isFirst: false)])
    #expect(sender.events == [.messageTooLarge(stream: 0)])
    #expect(sender.target.counters.oversizedMessages == 1)
    // The stream continues.
    sender.send([sender.data(10_001, sequence: 1)])
    #expect(sender.events.count == 2)
    #expect(sender.target.receiveMemory == 0)
  }

  @Test("fragments of ever new messages that never end stay within the window, whatever their size")
  func unfinishedMessages() {
    for bytes in [8, 1_100] {
      var sender = ScriptedSender()
      var maximum = 0
      var offset: UInt32 = 0
      while sender.target.isConnected, offset < 100_000 {
        sender.send([
          sender.data(offset, stream: UInt16(offset % 1_000), bytes: bytes, isLast: false, isUnordered: true)
        ])
        maximum = max(maximum, sender.target.receiveMemory)
        offset += 1
      }
      #expect(sender.events.last == .closed(.outOfMemory(limit: 4 << 20)))
      #expect(maximum <= 4 << 20)
    }
  }

  @Test("ordered messages that wait for one that never comes stay within the window")
  func neverFirst() {
    var sender = ScriptedSender()
    var offset: UInt32 = 0
    while sender.target.isConnected, offset < 100_000 {
      sender.send([sender.data(offset, sequence: UInt16(1 + offset % 30_000), bytes: 900)])
      offset += 1
    }
    #expect(sender.events.last == .closed(.outOfMemory(limit: 4 << 20)))
    #expect(sender.target.receiveMemory == 0)
  }

  @Test("chunks out of order are limited in distance, number and memory, and the connection survives them")
  func outOfOrder() {
    var sender = ScriptedSender()
    for offset in 1..<10_000 as Range<UInt32> {
      sender.send([sender.data(2 * offset, bytes: 1_000, isLast: false, isUnordered: true)])
    }
    #expect(sender.target.receiveMemory <= 4 << 20)
    #expect(sender.target.counters.chunksBeyondWindow > 5_000)
    #expect(sender.target.isConnected)
    sender.send([sender.data(0)])
    #expect(sender.events.count == 1)
  }

  @Test("a fragment that contradicts its neighbours, or data without bytes, aborts the association")
  func contradictions() {
    var sender = ScriptedSender()
    let answers = sender.send([
      sender.data(0, stream: 1, isLast: false), sender.data(1, stream: 2, isFirst: false),
    ])
    #expect(answers.contains { if case .abort = $0 { true } else { false } })
    #expect(!sender.target.isConnected)
    sender = ScriptedSender()
    let empty = sender.send([sender.data(0, bytes: 0)])
    #expect(empty.contains { if case .abort(let causes, _) = $0 { causes.first?.code == .noUserData } else { false } })
  }

  @Test("SACKs of chunks that were never sent are ignored")
  func impossibleAcks() throws {
    var sender = ScriptedSender()
    try sender.target.send(payload(100, number: 1), stream: 0, protocolID: 53, now: sender.now)
    let sent = sender.target.takePackets(now: sender.now).flatMap { chunks($0) }
    guard case .data(let chunk)? = sent.first(where: { if case .data = $0 { true } else { false } }) else {
      Issue.record("Nothing was sent.")
      return
    }
    let blocks = (0..<280).map { SelectiveAckChunk.GapBlock(start: UInt16($0 % 7), end: .max) }
    for tsn in [chunk.tsn &+ 1, chunk.tsn &+ 1_000_000, chunk.tsn &- 1, chunk.tsn &- 2_000] {
      sender.send([.selectiveAck(.init(cumulativeTSN: tsn, window: 100_000, gapBlocks: blocks))])
    }
    #expect(sender.target.bytesInFlight == 100)
    #expect(sender.target.counters.invalidAcks == 2)
    sender.send([.selectiveAck(.init(cumulativeTSN: chunk.tsn, window: 100_000))])
    #expect(sender.target.bytesInFlight == 0)
  }

  @Test("a peer that discards what it acknowledged in gap blocks gets it again")
  func reneging() throws {
    var sender = ScriptedSender()
    for number in 0..<6 {
      try sender.target.send(payload(1_000, number: number), stream: 0, protocolID: 53, now: sender.now)
    }
    let sent = sender.target.takePackets(now: sender.now).flatMap { chunks($0) }
    guard case .data(let first)? = sent.first(where: { if case .data = $0 { true } else { false } }) else { return }
    sender.send([
      .selectiveAck(
        .init(cumulativeTSN: first.tsn, window: 100_000, gapBlocks: [.init(start: 2, end: 5)]))
    ])
    sender.now += .milliseconds(10)
    let again = sender.send([.selectiveAck(.init(cumulativeTSN: first.tsn &+ 1, window: 100_000))])
    let numbers = again.compactMap { if case .data(let chunk) = $0 { chunk.tsn &- first.tsn } else { nil } }
    #expect(numbers == [2, 3, 4, 5])
  }

  @Test("more streams than the limit are refused, and other streams continue")
  func manyStreams() {
    var sender = ScriptedSender()
    for offset in 0..<3_000 as Range<UInt32> { sender.send([sender.data(offset, stream: UInt16(offset))]) }
    #expect(sender.events.count == 1_024)
    #expect(sender.target.counters.messagesOnRefusedStreams == 3_000 - 1_024)
    sender.send([sender.data(3_000, stream: 5, sequence: 1)])
    #expect(sender.events.count == 1_025)
  }

  @Test("unknown chunks are skipped or end the packet, and are reported or not, by the high bits of their type")
  func unknownChunks() {
    for (type, continues, reports) in [
      (UInt8(0x3F), false, false), (0x7F, false, true), (0xBF, true, false), (0xFF, true, true),
    ] {
      var sender = ScriptedSender()
      let answers = sender.send([.unknown(type: type, flags: 1, body: ByteBuffer(string: "what")), sender.data(0)])
      #expect(sender.events.count == (continues ? 1 : 0))
      let isReported = answers.contains {
        if case .error(let causes) = $0 { causes.first?.code == .unrecognizedChunk } else { false }
      }
      #expect(isReported == reports)
    }
  }

  @Test("a FORWARD TSN far ahead, and many of them, cost little and do no harm")
  func forwardTSN() {
    var sender = ScriptedSender()
    for offset in 1..<2_000 as Range<UInt32> {
      sender.send([sender.data(offset * 5, bytes: 500, isLast: false, isUnordered: true)])
    }
    let skipped = (0..<280).map {
      ForwardTSNChunk.Skipped(stream: UInt16($0), streamSequenceNumber: UInt16($0 &* 200))
    }
    for offset in 0..<2_500 as Range<UInt32> {
      sender.send([.forwardTSN(.init(newCumulativeTSN: sender.nextTSN &+ offset * 20, skipped: skipped))])
    }
    #expect(sender.target.isConnected && sender.target.receiveMemory == 0)
    sender.send([.forwardTSN(.init(newCumulativeTSN: sender.nextTSN &+ 0x7FFF_FF00))])
    sender.send([.forwardTSN(.init(newCumulativeTSN: sender.nextTSN &+ 0xFFFF_FF00))])
    sender.send([sender.data(0xFFFF_FF01, stream: 7, isUnordered: true)])
    #expect(sender.target.isConnected)
  }

  @Test("requests for answers are answered only up to a limit, and those to reset or add streams are refused")
  func answers() {
    var sender = ScriptedSender()
    let beats = sender.send((0..<100).map { _ in .heartbeat(ByteBuffer(string: "how are you")) })
    #expect(beats.count == 64)
    #expect(sender.target.counters.answersDropped == 36)
    let large = sender.send([.heartbeat(ByteBuffer(repeating: 1, count: 1_400))])
    #expect(large.isEmpty)
    let first = sender.nextTSN
    let answers = sender.send([
      .reconfiguration([
        .incomingReset(request: first, streams: [1]),
        .unsupportedRequest(type: 17, request: first &+ 1, rest: ByteBuffer(integer: UInt32(9))),
      ])
    ])
    #expect(
      answers == [
        .reconfiguration([.response(to: first, .denied)]), .reconfiguration([.response(to: first &+ 1, .denied)]),
      ])
    let again = sender.send([
      .reconfiguration([.outgoingReset(request: first &+ 9, response: 0, lastTSN: 0, streams: [])])
    ])
    #expect(again == [.reconfiguration([.response(to: first &+ 9, .badSequenceNumber)])])
  }

  @Test("a reset that arrives before data is performed when the data arrived, and a repeated request is not repeated")
  func deferredReset() {
    var sender = ScriptedSender()
    let first = sender.nextTSN
    let request = SCTPChunk.reconfiguration([
      .outgoingReset(request: first, response: 0, lastTSN: first &+ 1, streams: [0])
    ])
    #expect(sender.send([request]) == [.reconfiguration([.response(to: first, .inProgress)])])
    sender.send([sender.data(1, sequence: 1)])
    #expect(sender.events.isEmpty)
    let answers = sender.send([sender.data(0)])
    #expect(answers.contains(.reconfiguration([.response(to: first, .performed)])))
    #expect(sender.events.count == 3 && sender.events.last == .incomingStreamsReset([0]))
    #expect(sender.send([request]) == [.reconfiguration([.response(to: first, .performed)])])
    #expect(sender.events.count == 3)
    sender.send([sender.data(2)])
    #expect(sender.events.count == 4)
  }
}

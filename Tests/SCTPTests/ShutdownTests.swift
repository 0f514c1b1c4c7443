import Media
import NIOCore
import NetworkEmulation
import SCTP
import TestSupport
import Testing

@Suite("Ending an association, and resetting streams")
struct ShutdownTests {
  @Test("a shutdown delivers all messages first, then both sides are closed", arguments: [0, 0.3])
  func shutdown(loss: Double) throws {
    var pair = AssociationPair.connected(.init(loss: loss, delay: .milliseconds(10)), seed: 21)
    for number in 0..<60 {
      try pair.sendLeft(2_000, number: number)
      try pair.right.send(payload(500, number: number), stream: 2, protocolID: 53, now: pair.now)
    }
    pair.left.shutdown(now: pair.now)
    #expect(throws: SCTPSendError.closed) { try pair.sendLeft(10) }
    #expect(pair.run(.seconds(600)) { $0.left.closeReason != nil && $0.right.closeReason != nil })
    pair.exchange()
    #expect(pair.rightMessages.count == 60 && pair.leftMessages.count == 60)
    #expect(pair.leftEvents.last == .closed(.shutDown))
    #expect(pair.rightEvents.last == .closed(.shutDown))
    pair.run(.seconds(5))
    #expect(pair.left.deadline == nil && pair.right.deadline == nil)
  }

  @Test("both sides shut down at the same time, also with loss", arguments: 0..<20)
  func simultaneous(seed: Int) throws {
    var pair = AssociationPair.connected(
      .init(loss: seed == 0 ? 0 : 0.3, delay: .milliseconds(10)), seed: UInt64(seed) + 60)
    try pair.sendLeft(2_000)
    pair.left.shutdown(now: pair.now)
    pair.right.shutdown(now: pair.now)
    #expect(pair.run(.seconds(600)) { $0.left.closeReason != nil && $0.right.closeReason != nil })
    #expect(pair.rightMessages.count == 1)
    #expect(pair.left.closeReason == .shutDown && pair.right.closeReason == .shutDown)
  }

  @Test("an abort ends both sides at once and tells the peer the reason")
  func abort() throws {
    var pair = AssociationPair.connected()
    try pair.sendLeft(200_000)
    pair.left.abort("no longer needed", now: pair.now)
    pair.run(.seconds(1))
    #expect(pair.leftEvents == [.closed(.abortedLocally)])
    guard case .closed(let reason)? = pair.rightEvents.last else {
      Issue.record("The right side was not closed.")
      return
    }
    #expect(
      reason.description == "The peer aborted the SCTP association: user-initiated abort: no longer needed.")
    #expect(pair.left.bufferedAmount == 0 && pair.right.receiveMemory == 0)
  }

  @Test("a peer that vanishes is noticed by data that nobody acknowledges, and by heartbeats without data")
  func unreachable() throws {
    for sends in [true, false] {
      var pair = AssociationPair.connected(options: .init())
      pair.isLost = { _, _ in true }
      if sends { try pair.sendLeft(100) }
      pair.run(.seconds(600))
      #expect(pair.leftEvents == [.closed(.unreachable(timeouts: 11))])
    }
  }

  @Test("heartbeats keep an idle association, and measure the round trip")
  func heartbeats() {
    var pair = AssociationPair.connected(.init(delay: .milliseconds(40)), options: .init())
    pair.run(.seconds(600))
    #expect(pair.left.isConnected && pair.right.isConnected)
    #expect(pair.left.smoothedRoundTrip == .milliseconds(80))
    #expect(pair.left.counters.packetsSent < 60)
  }

  @Test("a stream is reset after its messages, and begins again", arguments: [0, 0.25])
  func reset(loss: Double) throws {
    var pair = AssociationPair.connected(
      .init(loss: loss, delay: .milliseconds(10), reorder: 0.1, reorderDelay: .zero ... .milliseconds(20)), seed: 31)
    for round in 0..<20 {
      for number in 0..<10 { try pair.sendLeft(1_500, stream: 3, number: round * 10 + number) }
      pair.left.resetStream(3, now: pair.now)
      #expect(throws: SCTPSendError.streamIsResetting(3)) { try pair.sendLeft(10, stream: 3) }
      #expect(pair.run(.seconds(300)) { $0.leftEvents.count == round + 1 })
      #expect(pair.leftEvents.last == .outgoingStreamsReset([3]))
      #expect(pair.rightEvents.count == (round + 1) * 11)
      #expect(pair.rightEvents.last == .incomingStreamsReset([3]))
    }
    #expect(pair.rightMessages.map(\.payload) == (0..<200).map { payload(1_500, number: $0) })
  }

  @Test("several streams are reset together, and messages of others pass meanwhile")
  func severalResets() throws {
    var pair = AssociationPair.connected(.init(loss: 0.1, delay: .milliseconds(10)), seed: 5)
    for stream in 0..<600 as Range<UInt16> { try pair.sendLeft(20, stream: stream, number: Int(stream)) }
    for stream in 0..<600 as Range<UInt16> where stream != 5 { pair.left.resetStream(stream, now: pair.now) }
    for number in 0..<50 { try pair.sendLeft(3_000, stream: 5, number: number) }
    #expect(pair.run(.seconds(300)) { $0.rightMessages.count == 650 })
    pair.run(.seconds(60))
    let reset = pair.rightEvents.reduce(into: Set<UInt16>()) { all, event in
      if case .incomingStreamsReset(let streams?) = event { all.formUnion(streams) }
    }
    #expect(reset == Set(0..<600).subtracting([5]))
    // Streams that were reset can be used again.
    for stream in 0..<600 as Range<UInt16> { try pair.sendLeft(20, stream: stream, number: Int(stream)) }
    #expect(pair.run(.seconds(300)) { $0.rightMessages.count == 1_250 })
  }

  @Test("a lost SHUTDOWN, SHUTDOWN ACK or SHUTDOWN COMPLETE is sent again", arguments: 0..<3, [1, 3])
  func lostChunk(which: Int, times: Int) throws {
    var pair = AssociationPair.connected()
    try pair.sendLeft(2_000)
    var lost = 0
    pair.isLost = { _, datagram in
      let isMatch = chunks(datagram).contains {
        switch $0 {
        case .shutdown: which == 0
        case .shutdownAck: which == 1
        case .shutdownComplete: which == 2
        default: false
        }
      }
      guard isMatch, lost < times else { return false }
      lost += 1
      return true
    }
    pair.left.shutdown(now: pair.now)
    #expect(pair.run(.seconds(20)) { $0.left.closeReason != nil && $0.right.closeReason != nil })
    pair.exchange()
    #expect(lost == times)
    #expect(pair.leftEvents.last == .closed(.shutDown) && pair.rightEvents.last == .closed(.shutDown))
    #expect(pair.rightMessages.count == 1)
  }

  @Test("a peer that never completes a shutdown ends after the limit of timeouts, on both sides")
  func shutdownUnanswered() throws {
    var pair = AssociationPair.connected(options: .init())
    pair.isLost = { side, _ in side == .right }
    pair.left.shutdown(now: pair.now)
    pair.run(.seconds(120))
    #expect(pair.leftEvents == [.closed(.unreachable(timeouts: 11))])
    #expect(pair.rightEvents == [.closed(.unreachable(timeouts: 11))])
    #expect(pair.left.deadline == nil && pair.right.deadline == nil)
  }

  @Test("an ABORT ends a side in every state, with its own tag, or with the T bit and the peer's tag")
  func abortInEveryState() throws {
    for (isReflected, isSettingUp) in [(false, false), (true, false), (false, true)] {
      var pair = AssociationPair()
      var tags: [AssociationPair.Side: UInt32] = [:]
      pair.isLost = { side, datagram in
        for chunk in chunks(datagram) {
          if case .initiation(let chunk) = chunk { tags[side] = chunk.initiateTag }
          if case .initiationAck(let chunk) = chunk { tags[side] = chunk.initiateTag }
        }
        return isSettingUp
      }
      pair.left.connect(now: pair.now)
      pair.run(.milliseconds(100))
      let tag = try #require(tags[isReflected ? .right : .left])
      let packet = SCTPPacket(
        sourcePort: 5_000, destinationPort: 5_000, verificationTag: tag,
        chunks: [.abort([ErrorCause(.outOfResource)], tagIsReflected: isReflected)])
      pair.left.receive(packet.encoded(), now: pair.now)
      #expect(pair.left.closeReason == .abortedByPeer([ErrorCause(.outOfResource)]))
    }
  }
}

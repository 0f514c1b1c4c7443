import Media
import NIOCore
import NetworkEmulation
import SCTP
import TestSupport
import Testing

@Suite("Setting up an association")
struct SetupTests {
  @Test("one side connects, the other answers, and both report that once")
  func oneSide() {
    var pair = AssociationPair()
    pair.left.connect(now: pair.now)
    #expect(pair.run(.seconds(1)) { $0.left.isConnected && $0.right.isConnected })
    #expect(pair.leftEvents == [.connected])
    #expect(pair.rightEvents == [.connected])
  }

  @Test("both sides connect at the same time, also when packets are lost", arguments: 0..<40)
  func simultaneous(seed: Int) throws {
    var pair = AssociationPair(
      .init(
        loss: seed == 0 ? 0 : 0.3, delay: .milliseconds(10), reorder: 0.2, reorderDelay: .zero ... .milliseconds(20),
        duplicate: 0.1),
      seed: UInt64(seed) + 1)
    pair.left.connect(now: pair.now)
    pair.run(.milliseconds(Int64(seed % 25)))
    pair.right.connect(now: pair.now)
    try pair.left.send(payload(100, number: 1), stream: 0, protocolID: 53, now: pair.now)
    try pair.right.send(payload(100, number: 2), stream: 0, protocolID: 53, now: pair.now)
    #expect(pair.run(.seconds(120)) { !$0.leftMessages.isEmpty && !$0.rightMessages.isEmpty })
    pair.run(.seconds(5))
    #expect(pair.leftEvents.filter { $0 == .connected }.count == 1)
    #expect(pair.rightEvents.filter { $0 == .connected }.count == 1)
    #expect(pair.leftMessages.count == 1 && pair.rightMessages.count == 1)
  }

  @Test("a lost INIT, INIT ACK, COOKIE ECHO or COOKIE ACK is sent again", arguments: 0..<4)
  func lostChunk(which: Int) {
    var pair = AssociationPair()
    var lost = 0
    pair.isLost = { _, datagram in
      let isMatch = chunks(datagram).contains {
        switch $0 {
        case .initiation: which == 0
        case .initiationAck: which == 1
        case .cookieEcho: which == 2
        case .cookieAck: which == 3
        default: false
        }
      }
      guard isMatch, lost < 2 else { return false }
      lost += 1
      return true
    }
    pair.left.connect(now: pair.now)
    #expect(pair.run(.seconds(10)) { $0.left.isConnected && $0.right.isConnected })
    #expect(lost == 2)
    #expect(pair.leftEvents == [.connected] && pair.rightEvents == [.connected])
  }

  @Test("a peer that never answers ends the attempt after the configured number of INITs")
  func noAnswer() {
    var pair = AssociationPair(options: .init())
    pair.toRight.conditions.loss = 1
    pair.left.connect(now: pair.now)
    pair.run(.seconds(120))
    #expect(pair.leftEvents == [.closed(.setupTimedOut(attempts: 9))])
    #expect(pair.left.counters.packetsSent == 9)
    #expect(pair.left.deadline == nil)
  }

  @Test("messages sent before the association is set up arrive")
  func early() throws {
    var pair = AssociationPair()
    try pair.sendLeft(3_000, number: 4)
    #expect(pair.left.bufferedAmount == 3_000)
    pair.left.connect(now: pair.now)
    #expect(pair.run(.seconds(1)) { !$0.rightMessages.isEmpty })
    #expect(pair.rightMessages.map(\.payload) == [payload(3_000, number: 4)])
  }

  @Test("a repeated COOKIE ECHO is answered and changes nothing; a forged, foreign or old one is refused")
  func cookieReplay() throws {
    var pair = AssociationPair()
    var echo: ByteBuffer?
    pair.isLost = { _, datagram in
      if chunks(datagram).contains(where: { if case .cookieEcho = $0 { true } else { false } }) { echo = datagram }
      return false
    }
    pair.left.connect(now: pair.now)
    pair.run(.seconds(1))
    let repeated = try #require(echo)
    try pair.sendLeft(100, number: 1)
    pair.run(.seconds(1))
    pair.right.receive(repeated, now: pair.now)
    try pair.sendLeft(100, number: 2)
    pair.run(.seconds(1))
    #expect(pair.rightEvents.count == 3 && pair.rightMessages.count == 2)

    var packet = try SCTPPacket(parsing: repeated)
    guard case .cookieEcho(var cookie)? = packet.chunks.first else { return }
    cookie.setInteger(UInt8(99), at: cookie.readerIndex + 20)
    packet.chunks = [.cookieEcho(cookie)]
    pair.right.receive(packet.encoded(), now: pair.now)
    #expect(pair.right.counters.invalidCookies == 1)

    // Another association has another key, and this one refuses the cookie after its end.
    var other = SCTPAssociation(generator: SeededGenerator(seed: 77), now: pair.now)
    other.receive(repeated, now: pair.now)
    #expect(other.counters.invalidCookies == 1 && !other.isConnected)
    pair.right.abort(now: pair.now)
    _ = pair.right.takePackets(now: pair.now)
    pair.right.receive(repeated, now: pair.now)
    #expect(!pair.right.isConnected)
    #expect(pair.right.takePackets(now: pair.now).isEmpty)
  }

  @Test("a cookie older than 60 s is refused as stale, and the peer requests a new one")
  func staleCookie() {
    var pair = AssociationPair()
    pair.isLost = { _, datagram in
      chunks(datagram).contains { if case .cookieEcho = $0 { true } else { false } }
    }
    pair.left.connect(now: pair.now)
    pair.run(.seconds(70))
    #expect(!pair.right.isConnected)
    pair.isLost = { _, _ in false }
    #expect(pair.run(.seconds(20)) { $0.left.isConnected && $0.right.isConnected })
    #expect(pair.right.counters.invalidCookies == 1)
  }

  @Test("packets with another tag or port have no effect")
  func wrongTags() throws {
    var pair = AssociationPair.connected()
    var last: ByteBuffer?
    pair.isLost = { side, datagram in
      if side == .left { last = datagram }
      return side == .left
    }
    try pair.sendLeft(100, number: 1)
    pair.exchange()
    let packet = try SCTPPacket(parsing: try #require(last))
    var wrong = packet
    wrong.verificationTag &+= 2
    for chunks in [
      packet.chunks, [.abort([], tagIsReflected: false)], [.abort([], tagIsReflected: true)], [.shutdownAck],
      [.shutdownComplete(tagIsReflected: true)], [.shutdown(cumulativeTSN: 0)], [],
    ] as [[SCTPChunk]] {
      wrong.chunks = chunks
      pair.right.receive(wrong.encoded(), now: pair.now)
    }
    #expect(pair.right.counters.wrongTags == 7)
    wrong = packet
    wrong.destinationPort = 5_001
    pair.right.receive(wrong.encoded(), now: pair.now)
    #expect(pair.right.counters.wrongPorts == 1)
    pair.run(.milliseconds(1))
    #expect(pair.rightEvents.isEmpty && pair.right.isConnected)
  }

  @Test("unknown parameters of an INIT and of an INIT ACK are reported if their type says so")
  func unknownParameters() throws {
    var pair = AssociationPair()
    pair.left.connect(now: pair.now)
    let sent = pair.left.takePackets(now: pair.now)
    guard let first = sent.first, case .initiation(var initiation)? = chunks(first).first else {
      Issue.record("No INIT was sent.")
      return
    }
    let unknown = [0x4123, 0x8123, 0xC123, 0x0123].map {
      SCTPParameter(.init(rawValue: UInt16($0)), ByteBuffer(string: "what"))
    }
    initiation.parameters = unknown.suffix(3) + initiation.parameters
    var packet = try SCTPPacket(parsing: first)
    packet.chunks = [.initiation(initiation)]
    pair.right.receive(packet.encoded(), now: pair.now)
    let answer = try #require(pair.right.takePackets(now: pair.now).first)
    guard case .initiationAck(var ack)? = chunks(answer).first else { return }
    #expect(ack.parameters.filter { $0.kind.rawValue == 8 }.count == 1)

    ack.parameters.append(unknown[0])
    packet = try SCTPPacket(parsing: answer)
    packet.chunks = [.initiationAck(ack)]
    pair.left.receive(packet.encoded(), now: pair.now)
    #expect(pair.run(.seconds(5)) { $0.left.isConnected && $0.right.isConnected })
    pair.run(.seconds(1))
    let reports = pair.rightEvents.filter { if case .errorReported = $0 { true } else { false } }
    #expect(reports.count == 1)
  }

  @Test("INITs cost an idle association no memory")
  func initFlood() throws {
    var association = SCTPAssociation(generator: SeededGenerator(seed: 3), now: .now)
    let now = MonotonicInstant.now
    for number in 1...10_000 as ClosedRange<UInt32> {
      let initiation = InitChunk(initiateTag: number, window: 100_000, initialTSN: number)
      association.receive(
        SCTPPacket(sourcePort: 5_000, destinationPort: 5_000, verificationTag: 0, chunks: [.initiation(initiation)])
          .encoded(), now: now)
    }
    #expect(association.takePackets(now: now).count == 32)
    #expect(association.counters.answersDropped == 10_000 - 32)
    #expect(!association.isConnected)
  }
}

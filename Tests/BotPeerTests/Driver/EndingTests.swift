import Foundation
import ICE
import Media
import NIOCore
import NIOPosix
import RTP
import TestSupport
import Testing

@testable import BotPeer

@Suite("The end of a call")
struct EndingTests {
  @Test("is known to the other side at once, though much is lost", arguments: [0.1, 0.3])
  func goodbyeUnderLoss(loss: Double) throws {
    var heard = 0
    let calls = 20
    for seed in 0..<UInt64(calls) {
      var pair = try EnginePair(seed: seed)
      try pair.connect()
      pair.setLine(.init(loss: loss, delay: .milliseconds(25)), seed: seed)
      pair.alice.engine.close(PeerEnding(.closedByUs, "We leave."), now: pair.now)
      pair.run(for: .milliseconds(100))
      #expect(pair.alice.ending?.cause == .closedByUs)
      if pair.bob.ending?.cause == .closedByParticipant { heard += 1 }
    }
    print("measured: at \(loss) loss \(heard) of \(calls) goodbyes are heard")
    #expect(heard >= (loss < 0.2 ? calls : calls - 2))
  }

  @Test("is said in RTCP too, for each source that has sent")
  func goodbyeInControl() throws {
    var pair = try EnginePair(seed: 3)
    try pair.connect()
    _ = pair.exchangeMedia(for: .seconds(1))
    pair.carries = { datagram, _ in PacketKind.of(datagram) != .dtls }
    pair.alice.engine.close(PeerEnding(.closedByUs, "We leave."), now: pair.now)
    pair.run(for: .milliseconds(20))
    #expect(pair.bob.engine.hasSaidGoodbye)
    pair.bob.engine.participantLeft(now: pair.now)
    #expect(pair.bob.engine.state == .closed)
  }

  @Test("leaves nothing behind of those who were connected, however they ended")
  func nothingIsLeft() throws {
    let call = SwitchboardCall(seed: 91)
    var engines: [Weak] = []
    for number in 0..<24 {
      let name = "guest \(number)"
      try call.enter(name, host: UInt8(number + 1))
      try call.connect(name)
      call.play(name, seed: UInt64(number), shape: .slim)
      call.run(for: .milliseconds(100))
      engines.append(Weak(call.engine(of: name)))
      let id = ParticipantID(name)
      switch number % 4 {
      case 0: call.switchboard.disconnect(id, because: PeerEnding(.closedByUs, "Enough."), now: call.now)
      case 1: call.guests[id]?.engine.close(PeerEnding(.closedByUs, "I leave."), now: call.now)
      case 2:
        call.participantLeft(name)
        call.guests[id]?.speaks = false
      default: call.guests[id]?.speaks = false
      }
      call.run(for: .milliseconds(50))
      _ = call.stop(name)
    }
    call.run(for: .seconds(31))
    #expect(engines.count == 24)
    #expect(engines.allSatisfy { $0.engine == nil })
    #expect(call.switchboard.footprint == 0)
    #expect(call.switchboard.deadline == nil)
  }

  @Test("of 200 participants and of their driver leaves no engine, no driver and no socket")
  func driverIsGone() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (port, engines, driver) = try await loop.flatSubmit {
      let driver = PeerDriver(loop: loop, configuration: LoopbackCall.configuration(sending: [.video])) { _ in }
      let bound = NIOLoopBound(driver, eventLoop: loop)
      return driver.bind([IPAddress("127.0.0.1") ?? .v4(0)], port: 0).map { addresses in
        let driver = bound.value
        for number in 0..<200 {
          let id = ParticipantID("guest \(number)")
          if number % 2 == 0 { driver.offer(to: id) }
          driver.received(
            .candidate(
              TrickledCandidate(candidate: "candidate:1 1 udp 1 127.0.0.1 9 typ host", mid: "0", mLineIndex: 0)),
            from: id)
        }
        let engines = driver.switchboard.engines.values.map { Weak($0) }
        for number in 0..<100 {
          driver.disconnect(ParticipantID("guest \(number)"), because: PeerEnding(.closedByUs, "Enough."))
        }
        driver.close(reason: "The test is over.")
        return (addresses.first?.port ?? 0, engines, WeakDriver(driver))
      }
    }.get()
    #expect(engines.count == 200)
    #expect(port > 0)
    // The socket is closed by the loop's next turns.
    for _ in 0..<200 where try Self.isBound(port) || driver.driver != nil {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(try !Self.isBound(port))
    #expect(driver.driver == nil)
    #expect(engines.allSatisfy { $0.engine == nil })
  }

  /// Whether this machine has a UDP socket at a port of 127.0.0.1.
  private static func isBound(_ port: UInt16) throws -> Bool {
    let digits = String(port, radix: 16, uppercase: true)
    let entry = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
    return try String(contentsOfFile: "/proc/net/udp", encoding: .utf8).contains(entry)
  }

  /// Set on the loop, looked at for nil alone anywhere else.
  private struct Weak: @unchecked Sendable {
    weak var engine: PeerEngine?

    init(_ engine: PeerEngine?) { self.engine = engine }
  }

  private struct WeakDriver: @unchecked Sendable {
    weak var driver: PeerDriver?

    init(_ driver: PeerDriver) { self.driver = driver }
  }
}

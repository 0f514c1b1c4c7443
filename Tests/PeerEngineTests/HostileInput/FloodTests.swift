import Media
import NIOCore
import PeerEngineTestSupport
import Signalling
import TestSupport
import Testing

@testable import ICE
@testable import PeerEngine

@Suite("Floods")
struct FloodTests {
  private func scene() throws -> (mallory: ScriptedPeer, anna: HonestParticipant) {
    let call = DemultiplexerCall(seed: 71)
    let anna = try HonestParticipant(in: call)
    return (try ScriptedPeer(in: call), anna)
  }

  /// Returns an address at which no participant is, a different one for each number.
  private func elsewhere(_ number: Int) -> TransportAddress {
    TransportAddress(ip: .v4(0xC633_6400 &+ UInt32(number / 50_000)), port: UInt16(1_024 + number % 50_000))
  }

  /// Returns a Binding request as the guest would send it, or with another password.
  private func request(to mallory: ScriptedPeer, number: UInt64, isForged: Bool = false) throws -> ByteBuffer {
    try request(to: mallory.name, in: mallory.call, number: number, isForged: isForged)
  }

  private func request(
    to name: String, in call: DemultiplexerCall, number: UInt64, isForged: Bool = false
  ) throws -> ByteBuffer {
    var generator = SeededGenerator(seed: number)
    let ours = try #require(call.engine(of: name)?.transport.ice.agent.localCredentials)
    let theirs = try #require(call.guests[ParticipantID(name)]?.engine.transport.ice.agent.localCredentials)
    var request = STUNMessage(.request, transactionID: .random(using: &generator))
    request.username = "\(ours.usernameFragment):\(theirs.usernameFragment)"
    request.priority = 1
    request.iceControlling = 1
    request.usesCandidate = number % 2 == 0
    return request.encoded(integrityKey: isForged ? Array("a password of somebody".utf8) : Array(ours.password.utf8))
  }

  @Test("Binding requests with a wrong password or for an unknown user name get no response")
  func forgedRequests() throws {
    let (mallory, anna) = try scene()
    var noise = ByteBuffer(repeating: 0, count: 20)
    noise.setInteger(UInt32(0x0001_0000), at: 0)
    noise.setInteger(UInt32(0x2112_A442), at: 4)
    for number in 0..<2_000 {
      mallory.call.datagram(try request(to: mallory, number: UInt64(number), isForged: true), from: elsewhere(number))
      mallory.call.datagram(noise, from: elsewhere(number))
      if number % 200 == 0 { mallory.call.run(for: .milliseconds(10)) }
    }
    mallory.call.run(for: .seconds(2))
    #expect(mallory.call.stray.datagrams == 0)
    // As many as the participant's allowance are verified; the others, and all of the noise, are dropped unseen.
    let rejected = mallory.engine?.transport.ice.agent.statistics.requestsRejected ?? 0
    #expect(rejected >= 90 && rejected <= 110)
    #expect(mallory.call.demultiplexer.datagramsDropped >= 4_000 - rejected)
    #expect(mallory.engine?.state == .connected)
    anna.expectUnharmed()
  }

  @Test("a flood of checks for one participant is no reason to drop those for another, or those on known paths")
  func allowances() throws {
    let (mallory, anna) = try scene()
    for number in 0..<1_000 {
      mallory.call.datagram(try request(to: mallory, number: UInt64(number), isForged: true), from: elsewhere(number))
    }
    let known = mallory.engine?.transport.ice.agent.statistics.requestsReceived ?? 0
    mallory.call.datagram(try request(to: mallory, number: 1), from: mallory.address)
    #expect(mallory.engine?.transport.ice.agent.statistics.requestsReceived == known + 1)
    let before = mallory.call.engine(of: "anna")?.transport.ice.agent.statistics.requestsReceived ?? 0
    let forged = try request(to: "anna", in: mallory.call, number: 1, isForged: true)
    mallory.call.datagram(forged, from: TransportAddress(ip: .v4(0xC633_0001), port: 1_024))
    #expect(mallory.call.engine(of: "anna")?.transport.ice.agent.statistics.requestsReceived == before + 1)
    anna.expectUnharmed()
  }

  @Test("checks of one address have a limit, whomever they are for, and so have those of all addresses")
  func addressAllowance() {
    var allowance = UnknownCheckAllowance()
    let now = MonotonicInstant.now
    let one = (0..<10_000).count { _ in allowance.take(from: .v4(1), now: now) }
    #expect(one == UnknownCheckAllowance.burstOfAddress)
    let all = (0..<20_000 as Range<UInt32>).count { allowance.take(from: .v4($0), now: now) }
    #expect(one + all == UnknownCheckAllowance.burst)
    let second = (0..<20_000 as Range<UInt32>).count { allowance.take(from: .v4($0), now: now + .seconds(1)) }
    #expect(second == UnknownCheckAllowance.burst)
  }

  @Test("responses that nobody awaits, and media from strangers, are counted and reach no connection")
  func strangers() throws {
    let (mallory, anna) = try scene()
    let refused = mallory.call.demultiplexer.statistics.map(\.datagramsRefused)
    let dropped = mallory.call.demultiplexer.datagramsDropped
    var generator = SeededGenerator(seed: 6)
    for number in 0..<1_000 {
      let response = STUNMessage(.success, transactionID: .random(using: &generator))
      mallory.call.datagram(response.encoded(integrityKey: nil), from: elsewhere(number))
      mallory.call.datagram(response.encoded(integrityKey: nil), from: mallory.address)
      for first: UInt8 in [0x80, 0x16, 0xFF] {
        mallory.call.datagram(
          ByteBuffer(bytes: [first, 96] + [UInt8](repeating: 5, count: 60)), from: elsewhere(number))
      }
    }
    #expect(mallory.call.demultiplexer.datagramsDropped == dropped + 5_000)
    #expect(mallory.call.demultiplexer.statistics.map(\.datagramsRefused) == refused)
    anna.expectUnharmed()
  }

  @Test("Binding requests with the right password from many addresses are answered once each, and little else is sent")
  func authenticRequests() throws {
    let (mallory, anna) = try scene()
    var bytes = 0
    for number in 0..<2_000 {
      let request = try request(to: mallory, number: UInt64(number))
      bytes += request.readableBytes
      mallory.call.datagram(request, from: elsewhere(number))
      if number % 50 == 0 { mallory.call.run(for: .milliseconds(10)) }
    }
    mallory.call.run(for: .seconds(10))
    let stray = mallory.call.stray
    print("measured: 2,000 authentic checks from other addresses: \(bytes) bytes received, \(stray.bytes) sent")
    #expect(stray.bytes < bytes)
    #expect((mallory.engine?.transport.ice.agent.remoteCandidates.count ?? 0) <= 50)
    #expect((mallory.engine?.transport.ice.agent.checkList.pairs.count ?? 0) <= 100)
    #expect(mallory.engine?.state == .connected)
    anna.expectUnharmed()
  }

  @Test("Binding requests with spoofed addresses cause no more traffic to them than a standard agent would send")
  func amplification() throws {
    let mallory = try ScriptedPeer(in: DemultiplexerCall(seed: 73))
    var bytes = 0
    for number in 0..<20 {
      let request = try request(to: mallory, number: UInt64(number))
      bytes += request.readableBytes
      mallory.call.datagram(request, from: elsewhere(number))
    }
    mallory.call.run(for: .seconds(60))
    let stray = mallory.call.stray
    print("measured: 20 authentic checks from spoofed addresses: \(bytes) bytes received, \(stray.bytes) sent to them")
    // A response, and a check that is sent seven times (RFC 8489, 6.2.1: Rc).
    #expect(stray.datagrams <= 20 * 8)
  }

  @Test(
    "ClientHellos from other addresses get no response, and those from the participant's own address change nothing")
  func clientHellos() throws {
    let (mallory, anna) = try scene()
    let hello = try DTLSConnection(role: .client, identity: DTLSIdentity(), expecting: [])
    hello.start()
    let datagrams = hello.takeDatagrams()
    #expect(!datagrams.isEmpty)
    for number in 0..<10_000 {
      for datagram in datagrams {
        mallory.call.datagram(datagram, from: elsewhere(number))
        if number % 10 == 0 { mallory.sendRaw(datagram) }
      }
      if number % 200 == 0 { mallory.call.run(for: .milliseconds(10)) }
    }
    #expect(mallory.call.stray.datagrams == 0)
    let sent = mallory.sendVideoFrame(0, isKeyframe: true)
    mallory.call.run(for: .seconds(1))
    #expect(mallory.videoFrames == [sent])
    anna.expectUnharmed()
  }

  @Test("a flood of candidates uses bounded memory, and a call connects during one", arguments: [true, false])
  func candidates(beforeOffer: Bool) throws {
    let call = DemultiplexerCall(seed: 72)
    let anna = try HonestParticipant(in: call)
    var mallory: ScriptedPeer?
    if !beforeOffer { mallory = try ScriptedPeer(in: call) }
    for number in 0..<10_000 {
      let address = elsewhere(number)
      let text = "candidate:\(number) 1 udp \(number) \(address.ip) \(address.port) typ host"
      call.signal(.candidate(TrickledCandidate(candidate: text, mid: "0", mLineIndex: 0)), from: "mallory")
      if number % 500 == 0 { call.run(for: .milliseconds(10)) }
    }
    let peer = try mallory ?? ScriptedPeer(in: call)
    call.run(for: .seconds(2))
    #expect((peer.engine?.transport.ice.agent.remoteCandidates.count ?? 0) <= 50)
    #expect((peer.engine?.transport.ice.agent.waitingCandidates.count ?? 0) <= 50)
    let sent = peer.sendVideoFrame(0, isKeyframe: true)
    call.run(for: .seconds(1))
    #expect(peer.videoFrames == [sent])
    // At most as many checks as there are candidates times retransmissions.
    print("measured: 10,000 candidates: \(call.stray.datagrams) datagrams sent to them")
    #expect(call.stray.datagrams < 50 * 26)
    anna.expectUnharmed()
  }
}

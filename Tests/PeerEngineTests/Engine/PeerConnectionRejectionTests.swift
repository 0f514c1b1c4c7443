import ICE
import Media
import NIOCore
import PeerEngine
import Signalling
import TestSupport
import Testing

@Suite("Input that an engine refuses")
struct PeerConnectionRejectionTests {
  @Test(
    "no media is accepted from a peer whose certificate does not match the fingerprint in its SDP",
    arguments: [true, false])
  func wrongFingerprint(inOffer: Bool) throws {
    var pair = try EnginePair()
    let other = try DTLSIdentity().fingerprint.digest.map(Self.hexadecimal).joined(separator: ":")
    pair.relay = { message, _ in
      switch message {
      case .offer(let sdp) where inOffer: [.offer(sdp.replacingFingerprint(with: other))]
      case .answer(let sdp) where !inOffer: [.answer(sdp.replacingFingerprint(with: other))]
      default: [message]
      }
    }
    pair.call()
    pair.run(for: .seconds(3))
    let deceived = inOffer ? pair.bob : pair.alice
    #expect(deceived.engine.state == .failed)
    #expect(
      deceived.events.contains {
        if case .ended(let reason) = $0 { reason.sentence.contains("fingerprint") } else { false }
      })
    _ = pair.exchangeMedia(for: .milliseconds(500))
    #expect(deceived.frames.count == 0)
  }

  @Test("a ClientHello from an address that no connectivity check has validated is ignored")
  func unvalidatedHandshake() throws {
    var pair = try EnginePair()
    pair.call()
    pair.run(for: .milliseconds(5))
    let intruder = TransportAddress(ip: .v4(0x0A00_0063), port: 6666)
    let hello = try DTLSConnection(role: .client, identity: DTLSIdentity(), expecting: [])
    hello.start()
    for datagram in hello.takeDatagrams() {
      pair.bob.engine.received(datagram, from: intruder, to: pair.bob.address, now: pair.now)
      pair.alice.engine.received(datagram, from: intruder, to: pair.alice.address, now: pair.now)
    }
    #expect(pair.bob.engine.statistics.datagramsRefused > 0)
    try pair.run(until: \.areConnected, within: .seconds(1))
  }

  @Test("media from an unvalidated address and random datagrams of every kind change nothing")
  func noise() throws {
    var pair = try EnginePair()
    pair.call()
    try pair.run(until: \.areConnected)
    let intruder = TransportAddress(ip: .v4(0x0A00_0063), port: 6666)
    for first in UInt8.min...UInt8.max {
      for count in [1, 2, 3, 11, 12, 20, 28, 64, 1200] {
        var datagram = ByteBuffer(repeating: first ^ 0x5A, count: count)
        datagram.setInteger(first, at: 0)
        pair.bob.engine.received(datagram, from: intruder, to: pair.bob.address, now: pair.now)
        pair.bob.engine.received(datagram, from: pair.alice.address, to: pair.bob.address, now: pair.now)
      }
    }
    #expect(pair.bob.engine.statistics.datagramsRefused > 1_000)
    let sent = pair.exchangeMedia(for: .seconds(1))
    pair.run(for: .milliseconds(300))
    expectSame(pair.bob.frames.payloads(.vp8), sent.fromAlice.payloads(.vp8))
  }

  @Test("an unusable offer is reported as a problem, and the next valid one is answered")
  func badOffer() throws {
    var pair = try EnginePair()
    for bad in ["", "hello", "v=0\r\n", String(repeating: "a=x\r\n", count: 100_000)] {
      pair.deliverToBob(.offer(bad))
    }
    #expect(pair.bob.events.compactMap(\.problem).count == 4)
    pair.call()
    try pair.run(until: \.areConnected, within: .seconds(1))
  }

  @Test("an offer without a fingerprint is refused with a sentence that says so")
  func noFingerprint() throws {
    var pair = try EnginePair()
    pair.relay = { message, _ in
      guard case .offer(let sdp) = message else { return [message] }
      return [
        .offer(
          sdp.split(separator: "\r\n").filter { !$0.hasPrefix("a=fingerprint") }.joined(separator: "\r\n") + "\r\n")
      ]
    }
    pair.call()
    pair.run(for: .milliseconds(100))
    #expect(pair.bob.events.compactMap(\.problem).contains { $0.contains("fingerprint") })
  }

  @Test("an offer echoed back as an answer is ignored")
  func echoedOffer() throws {
    var pair = try EnginePair()
    pair.call()
    guard case .signal(.offer(let sdp)) = pair.alice.events.first(where: { $0.isOffer }) else {
      Issue.record("Alice made no offer.")
      return
    }
    pair.deliverToAlice(.answer(sdp))
    try pair.run(until: \.areConnected, within: .seconds(1))
  }

  @Test("an unanswered call fails after 30 s and reports the reason")
  func nobodyAnswers() throws {
    var pair = try EnginePair()
    pair.relay = { _, _ in [] }
    pair.call()
    pair.run(for: .seconds(31))
    #expect(pair.alice.events.last == .ended(CloseReason(.failed, "Not connected within 30 s: no answer arrived.")))
  }

  @Test("a call without an address of ours fails after 30 s and names what the TURN server said")
  func noAddress() throws {
    var pair = try EnginePair()
    let configuration = PeerConnection.Configuration(
      participant: "bob", identity: try DTLSIdentity(), localAddresses: [], isPolite: true,
      policy: .init(sending: [.video]))
    pair.alice.engine = PeerConnection(configuration, offers: true)
    pair.alice.engine.relayFailure = "turn:turn.example: The server's quota for this user is reached (error 486)."
    pair.call()
    pair.run(for: .seconds(1))
    let reason =
      "we have no address for the participant; turn:turn.example: The server's quota for this user is reached (error 486)"
    #expect(pair.alice.engine.statistics.unreachableReason == reason)
    #expect(pair.bob.engine.statistics.unreachableReason == nil)
    pair.run(for: .seconds(30))
    #expect(
      pair.alice.ending?.sentence == "Not connected within 30 s: no ICE check was answered, because \(reason).")
  }

  @Test("a call in which no check succeeds fails after 30 s and reports the reason")
  func noPath() throws {
    var pair = try EnginePair()
    pair.carries = { _, _ in false }
    pair.call()
    pair.run(for: .seconds(31))
    guard case .ended(let reason) = pair.alice.events.last else {
      Issue.record("Alice's call did not end.")
      return
    }
    #expect(reason.sentence.contains("no ICE check was answered"))
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    let text = String(byte, radix: 16, uppercase: true)
    return text.count == 1 ? "0" + text : text
  }
}

extension PeerEvent {
  var isOffer: Bool {
    if case .signal(.offer) = self { true } else { false }
  }
}

extension String {
  func replacingFingerprint(with digest: String) -> String {
    split(separator: "\r\n").map { $0.hasPrefix("a=fingerprint") ? "a=fingerprint:sha-256 \(digest)" : String($0) }
      .joined(separator: "\r\n") + "\r\n"
  }
}

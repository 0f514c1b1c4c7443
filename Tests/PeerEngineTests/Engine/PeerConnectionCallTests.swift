import ICE
import Media
import NIOCore
import PeerEngine
import RTP
import Signalling
import TestSupport
import Testing

@Suite("A call between two engines")
struct PeerConnectionCallTests {
  @Test("a call connects within 60 ms over a path of 1 ms and carries media unchanged in both directions")
  func connectsAndCarriesMedia() throws {
    var pair = try EnginePair()
    pair.call()
    try pair.run(until: \.areConnected)
    #expect(pair.now - pair.start < .milliseconds(60))
    let sent = pair.exchangeMedia(for: .seconds(3))
    pair.run(for: .milliseconds(500))
    for codec in [Codec.opus, .vp8] {
      expectSame(pair.bob.frames.payloads(codec), sent.fromAlice.payloads(codec))
      expectSame(pair.alice.frames.payloads(codec), sent.fromBob.payloads(codec))
    }
    #expect(sent.fromAlice.payloads(.vp8).count == 90)
    #expect(pair.alice.engine.statistics.protectionProfile == "AEAD_AES_128_GCM")
    #expect(pair.bob.engine.statistics.datagramsRefused == 0)
  }

  @Test("a call connects within 100 ms with a peer that drops checks until it has our answer")
  func firstCheckLost() throws {
    var pair = try EnginePair()
    // As Pion does; its first checks then follow every 20 ms.
    pair.signallingDelay = .milliseconds(10)
    var dropped = 0
    let isDropped = { () -> Bool in
      dropped += 1
      return dropped == 1
    }
    pair.carries = { datagram, toBob in toBob || PacketKind.of(datagram) != .stun || !isDropped() }
    pair.call()
    try pair.run(until: \.areConnected)
    #expect(pair.now - pair.start < .milliseconds(100))
    #expect(dropped > 1)
  }

  @Test("frames carry their owner and rising times, and keyframes their size")
  func framesAreDescribed() throws {
    var pair = try EnginePair()
    pair.call()
    try pair.run(until: \.areConnected)
    _ = pair.exchangeMedia(for: .seconds(1))
    let frames = pair.bob.frames
    #expect(Set(frames.map(\.owner.text)) == ["alice"])
    for codec in [Codec.opus, .vp8] {
      let ticks = frames.filter { $0.codec == codec }.map(\.time.ticks)
      let steps = Set(zip(ticks.dropFirst(), ticks).map { $0 - $1 })
      #expect(steps == [codec == .vp8 ? 3_000 : 960])
    }
    #expect(frames.first { $0.codec == .vp8 }?.isKeyframe == true)
    #expect(frames.first { $0.codec == .vp8 }?.size == VideoSize(width: 640, height: 480))
  }

  @Test("a side that only receives gets media and sends none")
  func oneWay() throws {
    var pair = try EnginePair(bobSends: [])
    pair.call()
    try pair.run(until: \.areConnected)
    let sent = pair.exchangeMedia(for: .seconds(1))
    #expect(pair.bob.frames.payloads(.opus).count >= sent.fromAlice.payloads(.opus).count - 1)
    #expect(pair.alice.frames.count == 0)
  }

  @Test("a side that accepts only audio gets only audio, whichever side offers", arguments: [true, false])
  func audioOnly(offersAlice: Bool) throws {
    var pair = try EnginePair(offersAlice: offersAlice, offersBob: !offersAlice, bobReceives: [.audio])
    if offersAlice { pair.call() } else { pair.bob.engine.offer(now: pair.now) }
    try pair.run(until: \.areConnected)
    let sent = pair.exchangeMedia(for: .seconds(1))
    #expect(pair.bob.frames.payloads(.opus).count >= sent.fromAlice.payloads(.opus).count - 1)
    #expect(pair.bob.frames.payloads(.vp8).isEmpty)
    // It sends both kinds nevertheless.
    #expect(pair.alice.frames.payloads(.opus).count >= sent.fromBob.payloads(.opus).count - 1)
    #expect(!pair.alice.frames.payloads(.vp8).isEmpty)
  }

  @Test("a call connects when candidates arrive two seconds late and the SDP contains none")
  func lateCandidates() throws {
    var pair = try EnginePair()
    var held: [SignallingMessage] = []
    pair.relay = { message, _ in
      switch message {
      case .offer(let sdp): [.offer(sdp.withoutCandidates)]
      case .answer(let sdp): [.answer(sdp.withoutCandidates)]
      case .candidate: []
      }
    }
    pair.call()
    pair.run(for: .seconds(2))
    #expect(!pair.areConnected)
    held = pair.alice.events.compactMap(\.candidate)
    #expect(!held.isEmpty)
    for message in held { pair.deliverToBob(message) }
    try pair.run(until: \.areConnected, within: .seconds(1))
  }

  @Test("a call connects when one side never sends a candidate")
  func peerReflexiveOnly() throws {
    var pair = try EnginePair()
    pair.relay = { message, toBob in
      guard toBob else { return [message] }
      switch message {
      case .offer(let sdp): return [.offer(sdp.withoutCandidates)]
      case .answer, .candidate: return []
      }
    }
    pair.call()
    try pair.run(until: \.areConnected, within: .seconds(1))
  }

  @Test("candidates that arrive before the offer are kept for it")
  func candidatesBeforeOffer() throws {
    var pair = try EnginePair()
    pair.relay = { message, toBob in
      if case .candidate = message { return toBob ? [] : [message] }
      return [message]
    }
    pair.bob.engine.received(
      .candidate(
        TrickledCandidate(candidate: "candidate:1 1 udp 2122260223 10.0.0.1 5000 typ host", mid: "0", mLineIndex: 0)),
      now: pair.now)
    pair.call()
    try pair.run(until: \.areConnected, within: .seconds(1))
  }

  @Test("when both sides offer at once, one rolls back and the call connects")
  func glare() throws {
    var pair = try EnginePair(offersBob: true)
    pair.alice.engine.offer(now: pair.now)
    pair.bob.engine.offer(now: pair.now)
    try pair.run(until: \.areConnected, within: .seconds(2))
    let sent = pair.exchangeMedia(for: .seconds(1))
    pair.run(for: .milliseconds(300))
    expectSame(pair.bob.frames.payloads(.vp8), sent.fromAlice.payloads(.vp8))
    expectSame(pair.alice.frames.payloads(.vp8), sent.fromBob.payloads(.vp8))
  }

  @Test("two controlling agents resolve their role conflict and connect")
  func roleConflict() throws {
    var pair = try EnginePair(offersAlice: true, offersBob: true)
    pair.call()
    try pair.run(until: \.areConnected, within: .seconds(2))
  }

  @Test("a call survives a second offer from either side, without a gap in its media")
  func renegotiation() throws {
    var pair = try EnginePair()
    pair.call()
    try pair.run(until: \.areConnected)
    var sent = pair.exchangeMedia(for: .seconds(1)).fromAlice
    pair.bob.engine.offer(now: pair.now)
    pair.run(for: .milliseconds(50))
    #expect(pair.areConnected)
    pair.call()
    pair.run(for: .milliseconds(50))
    #expect(pair.areConnected)
    pair.run(for: .milliseconds(300))
    expectSame(pair.bob.frames.payloads(.vp8), sent.payloads(.vp8))
    let before = pair.bob.frames.count
    sent = pair.exchangeMedia(for: .seconds(1), seed: 9).fromAlice
    pair.run(for: .milliseconds(300))
    #expect(pair.bob.frames.count > before)
  }

  @Test("a goodbye ends the call on the other side at once")
  func goodbye() throws {
    var pair = try EnginePair()
    pair.call()
    try pair.run(until: \.areConnected)
    pair.alice.engine.close(CloseReason(.closedByUs, "We leave."), now: pair.now)
    pair.run(for: .milliseconds(20))
    #expect(pair.alice.engine.state == .closed)
    #expect(pair.bob.engine.state == .closed)
    #expect(pair.bob.events.last == .ended(CloseReason(.closedByParticipant, "The participant closed the connection.")))
  }

  @Test("thirty seconds without a response end the call; ten do not")
  func consentIsLost() throws {
    var pair = try EnginePair()
    pair.call()
    try pair.run(until: \.areConnected)
    pair.carries = { _, _ in false }
    pair.run(for: .seconds(10))
    #expect(pair.alice.engine.state == .disconnected)
    pair.carries = { _, _ in true }
    pair.run(for: .seconds(10))
    #expect(pair.areConnected)
    pair.carries = { _, _ in false }
    pair.run(for: .seconds(40))
    #expect(pair.alice.engine.state == .failed)
    #expect(pair.bob.engine.state == .failed)
  }
}

extension PeerEvent {
  var candidate: SignallingMessage? {
    if case .signal(let message) = self, case .candidate = message { message } else { nil }
  }

  var restart: ICERestartReason? {
    if case .iceRestarted(let reason) = self { reason } else { nil }
  }

  var problem: String? {
    if case .problem(let sentence) = self { sentence } else { nil }
  }
}

extension String {
  var withoutCandidates: String {
    split(separator: "\r\n").filter { !$0.hasPrefix("a=candidate") }.joined(separator: "\r\n") + "\r\n"
  }
}

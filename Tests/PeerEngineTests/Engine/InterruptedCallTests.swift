import Media
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("A whole call over a network that fails for a time")
struct InterruptedCallTests {
  /// The directions of the network path that fail.
  enum Ways: CaseIterable {
    case both
    case toBob
    case toAlice
  }

  static let usual = Impairment.Conditions(delay: .milliseconds(25))

  /// Returns a call that has been running for 3 s.
  private func call(shape: SyntheticMedia.Shape = .usual) throws -> EnginePair {
    var pair = try EnginePair(seed: 21, line: Self.usual)
    try pair.connect()
    pair.setBandwidth(Self.usual, seed: 21)
    pair.play(shape: shape)
    pair.run(for: .seconds(3))
    return pair
  }

  private func change(_ pair: inout EnginePair, _ ways: Ways, _ change: (inout Impairment.Conditions) -> Void) {
    if ways != .toAlice { change(&pair.toBob.conditions) }
    if ways != .toBob { change(&pair.toAlice.conditions) }
  }

  @Test("a call continues within 2 s of an outage of 500 ms, with every frame", arguments: Ways.allCases)
  func outage(ways: Ways) throws {
    var pair = try call()
    change(&pair, ways) { $0.loss = 1 }
    pair.run(for: .milliseconds(500))
    change(&pair, ways) { $0.loss = 0 }
    let end = pair.now
    pair.run(for: .seconds(4))
    let sent = stop(&pair)
    let wait = try expectFlow(pair, sent, from: end, within: .seconds(2))
    print("measured: after an outage of 500 ms (\(ways)) frames continue after \(wait)")
    expectSame(pair.bob.frames.payloads(.vp8), sent.fromAlice.payloads(.vp8))
    expectSame(pair.alice.frames.payloads(.vp8), sent.fromBob.payloads(.vp8))
    #expect(pair.bob.stateTimes[.disconnected] == nil)
  }

  @Test("over a path with a delay of 500 ms every frame arrives, from the start")
  func delayFromTheStart() throws {
    var pair = try EnginePair(seed: 22, line: Self.usual)
    pair.toBob.conditions.delay = .milliseconds(500)
    try pair.connect(within: .seconds(10))
    print("measured: connected after \(pair.now - pair.start) over a path with a delay of 500 ms")
    pair.play()
    pair.run(for: .seconds(5))
    let sent = stop(&pair)
    for codec in [Codec.opus, .vp8] {
      expectSame(pair.bob.frames.payloads(codec), sent.fromAlice.payloads(codec))
      expectSame(pair.alice.frames.payloads(codec), sent.fromBob.payloads(codec))
    }
    let ages = pair.bob.received(.vp8, since: pair.start, of: sent.fromAlice).map(\.age)
    #expect(ages.allSatisfy { $0 < .milliseconds(900) })
  }

  @Test(
    "a delay that rises to 500 ms during the call loses no frame, and frames arrive promptly after it falls",
    arguments: [0, 0.02])
  func delayInMidCall(loss: Double) throws {
    var pair = try call()
    pair.toBob.conditions.delay = .milliseconds(500)
    pair.toBob.conditions.loss = loss
    let begin = pair.now
    pair.run(for: .seconds(5))
    change(&pair, .both) { $0 = Self.usual }
    let end = pair.now
    pair.run(for: .seconds(3))
    let sent = stop(&pair)
    let slow = try expectFlow(pair, sent, from: begin, within: .seconds(2))
    let quick = try expectFlow(pair, sent, from: end, within: .seconds(2))
    print(
      "measured: delay of 500 ms (loss \(loss)): first frame after \(slow), and after \(quick) when it is short again"
    )
    expectSame(pair.bob.frames.payloads(.vp8), sent.fromAlice.payloads(.vp8))
    let settled = pair.bob.received(.vp8, since: end + .seconds(2), of: sent.fromAlice).map(\.age)
    #expect(settled.allSatisfy { $0 < .milliseconds(200) })
  }

  @Test("a limit of 300 kb/s on a stream of 200 kb/s loses no frame, and after 2 s none is late")
  func limitAboveTheStream() throws {
    var pair = try call(shape: .slim)
    pair.toBob.conditions.rate = 300_000
    let begin = pair.now
    pair.run(for: .seconds(8))
    let sent = stop(&pair)
    _ = try expectFlow(pair, sent, from: begin, within: .seconds(2))
    expectSame(pair.bob.frames.payloads(.vp8), sent.fromAlice.payloads(.vp8))
    let ages = pair.bob.received(.vp8, since: begin + .seconds(2), of: sent.fromAlice).map(\.age)
    print("measured: under a limit of 300 kb/s the latest frame of 200 kb/s is \(ages.max() ?? .zero) old")
    #expect(ages.count > 150)
    #expect(ages.allSatisfy { $0 < .milliseconds(1_000) })
  }

  @Test("a stream that exceeds a limit of 300 kb/s is complete again within 2 s of the limit's end")
  func limitBelowTheStream() throws {
    var pair = try call()
    pair.toBob.conditions.rate = 300_000
    pair.run(for: .seconds(5))
    pair.toBob.conditions.rate = nil
    let end = pair.now
    pair.run(for: .seconds(5))
    let sent = stop(&pair)
    let wait = try expectFlow(pair, sent, from: end, within: .seconds(2))
    print("measured: after a limit of 300 kb/s frames of 600 kb/s continue after \(wait)")
    let after = pair.bob.received(.vp8, since: end + .seconds(2), of: sent.fromAlice)
    #expect(after.count > 85)
    #expect(after.allSatisfy { $0.age < .milliseconds(500) })
    #expect(pair.areConnected)
  }

  @Test("10 s of silence do not end a call, and frames continue within 4 s")
  func silence() throws {
    var pair = try call()
    change(&pair, .both) { $0.loss = 1 }
    pair.run(for: .seconds(10))
    #expect(pair.bob.engine.state == .disconnected)
    change(&pair, .both) { $0.loss = 0 }
    let end = pair.now
    pair.run(for: .seconds(5))
    let sent = stop(&pair)
    // Frames wait for missing packets for up to 3 s.
    let wait = try expectFlow(pair, sent, from: end, within: .seconds(4))
    let back = try #require(pair.bob.stateTimes[.connected]) - end
    print("measured: after 10 s of silence frames continue after \(wait), connected again after \(back)")
    #expect(pair.areConnected)
    #expect(back < .seconds(2))
    #expect(pair.bob.ending == nil)
    for codec in [Codec.opus, .vp8] { #expect(gaps(pair.bob, codec, since: end).first?.reason == .reconnect) }
  }

  @Test("10 s without media but with ICE leave the connection established, and frames continue within 4 s")
  func silenceOfMedia() throws {
    var pair = try call()
    pair.carries = { datagram, _ in
      switch PacketKind.of(datagram) {
      case .rtp, .rtcp: false
      case .stun, .dtls, .unknown: true
      }
    }
    pair.run(for: .seconds(10))
    #expect(pair.areConnected)
    pair.carries = { _, _ in true }
    let end = pair.now
    pair.run(for: .seconds(5))
    let sent = stop(&pair)
    let wait = try expectFlow(pair, sent, from: end, within: .seconds(4))
    print("measured: after 10 s without media frames continue after \(wait)")
    #expect(pair.bob.stateTimes[.disconnected] == nil)
    for codec in [Codec.opus, .vp8] {
      let gap = try #require(gaps(pair.bob, codec, since: end).first)
      #expect(gap.reason == .lost || gap.reason == .waitingForKeyframe)
      #expect(gap.packetsLost > 200)
    }
  }

  @Test("30 s of silence end the call on both sides, with the reason")
  func consentIsLost() throws {
    var pair = try call()
    _ = pair.stopPlaying()
    change(&pair, .both) { $0.loss = 1 }
    let begin = pair.now
    try pair.run(until: { $0.alice.ending != nil && $0.bob.ending != nil }, within: .seconds(40))
    print("measured: without an answer the call ends after \(pair.now - begin)")
    #expect(pair.now - begin > .seconds(20))
    for side in [pair.alice, pair.bob] {
      #expect(side.ending == CloseReason(.connectionLost, "Nothing was received from the participant for 30 s."))
      #expect(side.engine.deadline == nil)
    }
  }

  /// Returns the gaps before the frames that were delivered since a time.
  private func gaps(_ side: EnginePair.Side, _ codec: Codec, since moment: MonotonicInstant) -> [MediaGap] {
    zip(side.frameTimes, side.frames).filter { $0 >= moment && $1.codec == codec }.compactMap(\.1.gap)
  }

  /// Stops sending, and lets everything in flight arrive.
  private func stop(_ pair: inout EnginePair) -> (fromAlice: [EncodedFrame], fromBob: [EncodedFrame]) {
    let sent = pair.stopPlaying()
    pair.run(for: .seconds(4))
    return sent
  }

  /// Expects that frames sent after a time are delivered soon in both directions, and that no broken frame was ever
  /// delivered.
  ///
  /// - Returns: how long after that time the first of these video frames was delivered, in the slower direction.
  private func expectFlow(
    _ pair: EnginePair, _ sent: (fromAlice: [EncodedFrame], fromBob: [EncodedFrame]),
    from moment: MonotonicInstant, within limit: Duration
  ) throws -> Duration {
    pair.bob.expectUnbroken(sent.fromAlice)
    pair.alice.expectUnbroken(sent.fromBob)
    var slowest = Duration.zero
    for (side, originals) in [(pair.bob, sent.fromAlice), (pair.alice, sent.fromBob)] {
      for codec in [Codec.opus, .vp8] {
        let first = try #require(
          side.received(codec, since: moment, of: originals).first { $0.time - $0.age >= moment })
        #expect(first.time - moment < limit)
        if codec == .vp8 { slowest = max(slowest, first.time - moment) }
      }
    }
    return slowest
  }
}

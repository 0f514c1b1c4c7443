import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Loss and its repair, between two sessions")
struct LossRecoveryTests {
  @Test("without loss every frame is delivered unchanged, in order and with its timestamp")
  func clean() throws {
    var call = SessionCall(toBob: .init(delay: .milliseconds(25)))
    call.run(for: .seconds(20))
    call.settle()
    for codec in [Codec.opus, .vp8] {
      let sent = call.played.filter { $0.codec == codec }
      let received = call.bob.frames(codec)
      expectSame(received.map(\.payload), sent.map(\.payload))
      expectSame(received.map(\.isKeyframe), sent.map(\.isKeyframe))
      expectSame(received.map(\.size), sent.map(\.size))
      expectAll(received) { $0.owner == ParticipantID("alice") }
      let origin = try #require(received.first?.time.ticks)
      expectSame(received.map { $0.time.ticks - origin }, sent.map(\.time.ticks))
    }
    let video = try #require(call.bob.session.receiveStatistics[.video])
    #expect(video.packetsLost == 0)
    #expect(video.packetsRecovered == 0)
    #expect(video.packetsRequested == 0)
    #expect(video.keyframeRequests == 0)
    #expect(video.framesDropped == 0)
    #expect(video.frames == UInt64(call.played.count { $0.codec == .vp8 }))
    #expect(video.packetsReceived == UInt64(call.alice.rtp.count { $0.packet.ssrc == Negotiated.aliceVideo }))
  }

  @Test(
    "all video packets are recovered from random loss at a round-trip time of 50 ms", arguments: [0.01, 0.05, 0.1],
    [true, false])
  func randomLoss(share: Double, retransmission: Bool) throws {
    var media = Negotiated()
    media.retransmission = retransmission
    var call = SessionCall(
      seed: 7, toBob: .init(loss: share, delay: .milliseconds(25)),
      toAlice: .init(loss: share, delay: .milliseconds(25)), media: media)
    call.run(for: .seconds(30))
    clearUp(&call)
    try expectAllVideo(call)
    let video = try #require(call.bob.session.receiveStatistics[.video])
    #expect(video.packetsRecovered > 0)
  }

  @Test(
    "all video packets are recovered from loss in bursts at a round-trip time of 50 ms", arguments: [0.01, 0.05, 0.1],
    [12, 13] as [UInt64])
  func burstLoss(share: Double, seed: UInt64) throws {
    var line = Impairment.Conditions(delay: .milliseconds(25))
    line.loss = share
    line.burst = 4
    var call = SessionCall(seed: seed, toBob: line, toAlice: line)
    call.run(for: .seconds(30))
    clearUp(&call)
    try expectAllVideo(call)
  }

  @Test(
    "reordering by up to 30 packets and 5 % of duplicates do not change the delivered frames",
    arguments: [1, 2, 3] as [UInt64])
  func reordering(seed: UInt64) throws {
    var line = Impairment.Conditions(delay: .milliseconds(10), reorder: 0.3, duplicate: 0.05)
    line.reorderDelay = .zero ... .milliseconds(150)
    var call = SessionCall(seed: seed, toBob: line)
    call.run(for: .seconds(20))
    call.settle()
    for codec in [Codec.opus, .vp8] {
      expectSame(call.bob.frames(codec).map(\.payload), call.played.filter { $0.codec == codec }.map(\.payload))
    }
    let video = try #require(call.bob.session.receiveStatistics[.video])
    #expect(video.packetsLost == 0)
    #expect(video.packetsDuplicated > 0)
    let audio = try #require(call.bob.session.receiveStatistics[.audio])
    #expect(audio.packetsLost == 0)
  }

  @Test("received and lost packets add up to those sent, when some are lost permanently")
  func sums() throws {
    var media = Negotiated()
    media.nack = false
    var call = SessionCall(seed: 3, toBob: .init(loss: 0.05, delay: .milliseconds(25)), media: media)
    call.run(for: .seconds(20))
    clearUp(&call)
    for (kind, ssrc) in [(MediaKind.audio, Negotiated.aliceAudio), (.video, Negotiated.aliceVideo)] {
      let counts = try #require(call.bob.session.receiveStatistics[kind])
      let sent = call.alice.rtp.count { $0.packet.ssrc == ssrc }
      #expect(counts.packetsReceived + counts.packetsLost == UInt64(sent))
      #expect(counts.packetsLost > 0)
    }
  }

  @Test("no frame is delivered that depends on a missing one", arguments: [1, 2, 3, 4] as [UInt64])
  func unrecoverable(seed: UInt64) throws {
    var media = Negotiated()
    media.nack = false
    var call = SessionCall(
      seed: seed, toBob: .init(loss: 0.02, delay: .milliseconds(25)),
      toAlice: .init(loss: 0.02, delay: .milliseconds(25)), media: media)
    call.source?.keyframeEvery = 60
    call.run(for: .seconds(30))
    call.settle()
    let video = try #require(call.bob.session.receiveStatistics[.video])
    #expect(video.packetsLost > 0)
    #expect(video.framesDropped > 0)
    expectUnbroken(call)
  }

  @Test("a packet whose retransmissions are all lost is given up, and a keyframe is requested before that")
  func keyframeAfterLoss() throws {
    var call = SessionCall(toBob: .init(delay: .milliseconds(25)))
    call.source?.keyframeEvery = 10_000
    var isFirst = true
    var victim: UInt16?
    call.carriesRTP = { packet in
      guard packet.ssrc != Negotiated.aliceAudio else { return true }
      if let victim { return !Self.carries(packet, number: victim) }
      if packet.ssrc == Negotiated.aliceVideo, isFirst, packet.sequenceNumber & 0x3F == 0x3F {
        isFirst = false
        victim = packet.sequenceNumber
        return false
      }
      return true
    }
    call.run(for: .seconds(10))
    call.settle()
    let requests = call.bob.rtcp.filter { if case .pictureLossIndication = $0.packet { true } else { false } }
    #expect(requests.count == 1)
    let nacks = call.bob.rtcp.filter { if case .genericNACK = $0.packet { true } else { false } }
    #expect(nacks.count >= 10)
    let video = try #require(call.bob.session.receiveStatistics[.video])
    #expect(video.packetsLost == 1)
    #expect(video.keyframeRequests == 1)
    // The group was replayed, so in the end no frame is missing.
    #expect(
      Set(call.bob.frames(.vp8).compactMap(SyntheticSource.number)).count == call.played.count { $0.codec == .vp8 })
    expectUnbroken(call)
  }

  @Test("a lost keyframe request is repeated every 500 ms until the keyframe arrives")
  func repeatedRequest() throws {
    var call = SessionCall(toBob: .init(delay: .milliseconds(25)))
    // The only keyframe of the source is lost.
    call.source?.keyframeEvery = 10_000
    call.carriesRTP = { _ in false }
    call.run(for: .seconds(1))
    call.carriesRTP = { _ in true }
    call.carriesFeedback = { packet in
      if case .pictureLossIndication = packet { false } else { true }
    }
    call.run(for: .milliseconds(2_200))
    let times = call.bob.rtcp.filter { if case .pictureLossIndication = $0.packet { true } else { false } }.map(\.time)
    #expect(times.count == 5)
    for (earlier, later) in zip(times, times.dropFirst()) {
      #expect(later - earlier >= .milliseconds(500))
      #expect(later - earlier < .milliseconds(540))
    }
    #expect(call.bob.frames(.vp8).count == 0)
    call.carriesFeedback = { _ in true }
    call.run(for: .seconds(1))
    #expect(call.bob.frames(.vp8).first?.isKeyframe == true)
    let after = call.bob.rtcp.count { if case .pictureLossIndication = $0.packet { true } else { false } }
    #expect(after == 6)
  }

  @Test("an outage of 500 ms and a delay of 500 ms lose no video frame")
  func outage() throws {
    var call = SessionCall(toBob: .init(delay: .milliseconds(25)))
    call.run(for: .seconds(3))
    call.toBob.conditions.loss = 1
    call.run(for: .milliseconds(500))
    call.toBob.conditions.loss = 0
    call.run(for: .seconds(3))
    call.toBob.conditions.delay = .milliseconds(500)
    call.toBob.conditions.loss = 0.02
    call.run(for: .seconds(10))
    clearUp(&call)
    try expectAllVideo(call)
  }

  @Test("at 30 % loss in both directions hardly a frame is missing, and no delivered frame depends on a missing one")
  func heavyLoss() throws {
    var call = SessionCall(
      seed: 13, toBob: .init(loss: 0.3, delay: .milliseconds(25)), toAlice: .init(loss: 0.3, delay: .milliseconds(25)))
    call.run(for: .seconds(20))
    clearUp(&call)
    expectUnbroken(call)
    let video = try #require(call.bob.session.receiveStatistics[.video])
    #expect(Double(video.packetsLost) < Double(video.packetsReceived) * 0.002)
    let seen = Set(call.bob.frames(.vp8).compactMap(SyntheticSource.number))
    #expect(Double(seen.count) > Double(call.played.count { $0.codec == .vp8 }) * 0.9)
  }

  @Test("lost first packets are requested, although they precede the first packet received")
  func lostBeginning() throws {
    var call = SessionCall(toBob: .init(delay: .milliseconds(25)))
    var count = 0
    call.carriesRTP = { packet in
      guard packet.ssrc == Negotiated.aliceVideo else { return true }
      count += 1
      return count > 5
    }
    call.run(for: .seconds(3))
    call.settle()
    try expectAllVideo(call)
    #expect(call.alice.session.sendStatistics.groupsReplayed == 0)
  }

  /// Returns whether a packet contains the given packet of Alice's video, itself or as a retransmission.
  static func carries(_ packet: RTPPacket, number: UInt16) -> Bool {
    if packet.ssrc == Negotiated.aliceVideo { return packet.sequenceNumber == number }
    return packet.payload.getInteger(at: packet.payload.readerIndex, as: UInt16.self) == number
  }

  /// Ends without loss, because the receiver cannot detect a lost packet that no other packet follows.
  private func clearUp(_ call: inout SessionCall) {
    call.toBob.conditions.loss = 0
    call.toBob.conditions.burst = nil
    call.run(for: .milliseconds(200))
    call.settle()
  }

  private func expectAllVideo(_ call: SessionCall) throws {
    let video = try #require(call.bob.session.receiveStatistics[.video])
    #expect(video.packetsLost == 0)
    #expect(video.framesDropped == 0)
    expectSame(call.bob.frames(.vp8).map(\.payload), call.played.filter { $0.codec == .vp8 }.map(\.payload))
  }

  /// Expects that every frame that is not a keyframe directly follows the frame before it.
  private func expectUnbroken(_ call: SessionCall) {
    var last: Int?
    for frame in call.bob.frames(.vp8) {
      let number = SyntheticSource.number(of: frame)
      if !frame.isKeyframe { #expect(number == last.map { $0 + 1 }) }
      last = number
    }
    #expect(call.bob.frames(.vp8).first?.isKeyframe == true)
    let times = call.bob.frames(.vp8).map(\.time.ticks)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
  }
}

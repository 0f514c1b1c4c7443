import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Recovery at different loss rates, between two sessions")
struct RecoveryFiguresTests {
  enum Kind: String, CaseIterable {
    case random
    case bursts
  }

  private func line(_ kind: Kind, _ share: Double) -> Impairment.Conditions {
    var line = Impairment.Conditions(delay: .milliseconds(25))
    switch kind {
    case .random: line.loss = share
    case .bursts:
      line.loss = share
      line.burst = 4
    }
    return line
  }

  /// Ends without loss, because the receiver cannot detect a lost packet that no other packet follows.
  private func clearUp(_ call: inout SessionCall) {
    call.toBob.conditions = .init(delay: .milliseconds(25))
    call.toAlice.conditions = .init(delay: .milliseconds(25))
    call.run(for: .milliseconds(200))
    call.settle()
  }

  @Test(
    "at 1, 5 and 10 % loss in both directions and a round-trip time of 50 ms, all video and audio packets are recovered",
    arguments: Kind.allCases, [true, false])
  func all(kind: Kind, retransmission: Bool) throws {
    for share in [0.01, 0.05, 0.1] {
      var (lost, repeats, slowest) = (0, 0 as UInt64, Duration.zero)
      for seed in 1...3 as ClosedRange<UInt64> {
        var media = Negotiated()
        media.retransmission = retransmission
        media.audioNack = true
        var call = SessionCall(
          seed: seed * 31, toBob: line(kind, share), toAlice: line(kind, share), media: media)
        call.run(for: .seconds(5))
        lost += Int(call.toBob.counts.lost)
        clearUp(&call)
        for codec in [Codec.opus, .vp8] {
          let counts = try #require(call.bob.session.receiveStatistics[codec.kind])
          #expect(counts.packetsLost == 0 && counts.framesDropped == 0, "\(share), seed \(seed)")
          expectSame(call.bob.frames(codec).map(\.payload), call.played.filter { $0.codec == codec }.map(\.payload))
          expectAll(call.bob.frames(codec)) { $0.gap == nil || $0.gap?.reason == .recoveredLate }
          repeats += counts.packetsRecovered
          slowest = max(slowest, call.bob.frames(codec).compactMap(\.gap?.delay).max() ?? .zero)
        }
      }
      #expect(repeats > 0)
      print(
        "measured: \(Int(share * 100)) % \(kind.rawValue) loss, \(retransmission ? "RTX" : "plain"):",
        "\(lost) datagrams lost, \(repeats) packets recovered, 0 missing; longest wait \(slowest)")
    }
  }

  @Test(
    "at 30 % loss in both directions for 60 s, the delivered media is complete, in order and as long as the sent media",
    arguments: [true, false])
  func heavy(retransmission: Bool) throws {
    var media = Negotiated()
    media.retransmission = retransmission
    media.audioNack = true
    // The source is like a live encoder, so no group is replayed and keyframe requests do not change the frames.
    var configuration = MediaSession.Configuration()
    configuration.sending.keyframeResponse = .requestFromSource
    var call = SessionCall(
      seed: 5, toBob: line(.random, 0.3), toAlice: line(.random, 0.3), media: media, configuration: configuration)
    call.source?.keyframeBytes = 12_000
    call.source?.frameBytes = 2_500
    call.run(for: .seconds(60))
    clearUp(&call)
    let requests = call.bob.rtcp.filter { if case .pictureLossIndication = $0.packet { true } else { false } }.map(
      \.time)
    let pauses = zip(requests, requests.dropFirst()).map { $1 - $0 }
    #expect(pauses.allSatisfy { $0 >= .milliseconds(500) })
    print(
      "measured: 30 % random loss for 60 s, \(retransmission ? "RTX" : "plain"): \(requests.count) keyframes requested,",
      "\(pauses.min().map { "\($0)" } ?? "none") apart at least")
    for codec in [Codec.opus, .vp8] {
      let sent = call.played.filter { $0.codec == codec }
      let frames = call.bob.frames(codec)
      var last: Int?
      var whole = 0
      for frame in frames {
        let number = try #require(SyntheticSource.number(of: frame))
        // Frames are unchanged, and only a keyframe may follow a missing frame.
        #expect(sent.indices.contains(number) && frame.payload == sent[number].payload)
        if codec == .vp8, !frame.isKeyframe { #expect(number == last.map { $0 + 1 }) }
        if number == last.map({ $0 + 1 }) ?? 0 { whole += 1 }
        last = number
      }
      let first = try #require(frames.first)
      let end = try #require(frames.last)
      let duration = end.time.duration(since: first.time)
      let wanted = try #require(sent.last).time.duration(since: try #require(sent.first).time)
      #expect(abs(duration / wanted - 1) < 0.01)
      // Without a reported gap, the timestamps advance by exactly one frame.
      for (one, next) in zip(frames, frames.dropFirst()) where next.gap == nil {
        #expect(next.time.ticks - one.time.ticks == (codec == .vp8 ? 3_000 : 960))
      }
      let counts = try #require(call.bob.session.receiveStatistics[codec.kind])
      let share = Double(Set(frames.compactMap(SyntheticSource.number)).count) / Double(sent.count)
      #expect(share > 0.99)
      #expect(counts.packetsReceived + counts.packetsLost == counts.packetsExpected)
      print(
        "measured: 30 % random loss for 60 s, \(retransmission ? "RTX" : "plain"), \(codec.rawValue):",
        "\(counts.packetsExpected) packets sent, \(counts.packetsRecovered) recovered, \(counts.packetsLost) lost;",
        "\(frames.count) of \(sent.count) frames, \(duration / .seconds(1)) of \(wanted / .seconds(1)) s")
    }
  }

  @Test(
    "after 5 s at 300 kb/s for a stream of 600 kb/s, the delivered frame is the current one again within 2 s",
    arguments: [true, false], 1...3 as ClosedRange<UInt64>)
  func limit(isLive: Bool, seed: UInt64) throws {
    var configuration = MediaSession.Configuration()
    if isLive { configuration.sending.keyframeResponse = .requestFromSource }
    var call = SessionCall(seed: seed, toBob: .init(delay: .milliseconds(25)), configuration: configuration)
    call.source?.keyframeBytes = 12_000
    call.source?.frameBytes = 2_500
    call.source?.keyframeEvery = 60
    call.sourceMakesKeyframes = isLive
    call.run(for: .seconds(3))
    call.toBob.conditions.rate = 300_000
    call.run(for: .seconds(5))
    call.toBob.conditions.rate = nil
    let end = call.now
    let asked = try #require(call.bob.session.receiveStatistics[.video]).packetsRequested
    var wait: Duration?
    while wait == nil, call.now - end < .seconds(4) {
      call.run(for: .milliseconds(10))
      guard let last = call.bob.frames(.vp8).last, let number = SyntheticSource.number(of: last),
        let sent = call.played.last(where: { $0.codec == .vp8 && SyntheticSource.number(of: $0) == number })
      else { continue }
      if sent.arrived >= end, call.now - sent.arrived < .milliseconds(200) { wait = call.now - end }
    }
    let counts = try #require(call.bob.session.receiveStatistics[.video])
    print(
      "measured: 5 s of 300 kb/s for 600 kb/s, \(isLive ? "live" : "replayed"), seed \(seed): the current frame after",
      "\(wait.map { "\($0)" } ?? "never"); \(asked) packets requested meanwhile, \(counts.packetsRequested - asked) after"
    )
    #expect(try #require(wait) < .seconds(2))
    // Retransmissions do not use up the rate limit: about 40 of them a second pass.
    #expect(asked < 1_000)
  }
}

import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("A session that is configured again")
struct RenegotiationTests {
  @Test("a second negotiation that changes nothing does not interrupt media")
  func same() {
    var call = SessionCall(seed: 4, toBob: .init(loss: 0.03, delay: .milliseconds(20)))
    call.run(for: .seconds(2))
    call.alice.session.configure(Negotiated().alice, now: call.now)
    call.bob.session.configure(Negotiated().bob, now: call.now)
    call.run(for: .seconds(2))
    call.toBob.conditions.loss = 0
    call.run(for: .milliseconds(200))
    call.settle()
    expectSame(call.bob.frames(.vp8).map(\.payload), call.played.filter { $0.codec == .vp8 }.map(\.payload))
  }

  @Test("video that is added later starts with the current group of pictures")
  func addedVideo() {
    var call = SessionCall()
    let all = Negotiated()
    call.alice.session = MediaSession(owner: ParticipantID("bob"), cname: "alice", seed: 1)
    call.alice.session.configure([all.section(.opus, ofAlice: true)], now: call.now)
    call.alice.session.transportBecameReady(now: call.now)
    call.bob.session.configure([all.section(.opus, ofAlice: false)], now: call.now)
    call.run(for: .milliseconds(1_010))
    #expect(call.bob.frames(.vp8).count == 0)
    #expect(call.bob.frames(.opus).count == 46 || call.bob.frames(.opus).count == 51)
    call.alice.session.configure(all.alice, now: call.now)
    call.bob.session.configure(all.bob, now: call.now)
    call.run(for: .seconds(1))
    call.settle()
    #expect(
      call.bob.frames(.vp8).compactMap(SyntheticSource.number) == Array(0..<call.played.count { $0.codec == .vp8 }))
  }

  @Test("a removed section ends, and the other continues")
  func removedVideo() {
    var call = SessionCall()
    call.run(for: .seconds(1))
    let all = Negotiated()
    call.alice.session.configure([all.section(.opus, ofAlice: true)], now: call.now)
    call.bob.session.configure([all.section(.opus, ofAlice: false)], now: call.now)
    call.run(for: .seconds(1))
    #expect(call.bob.session.receiveStatistics[.video] == nil)
    #expect(call.bob.frames(.opus).count >= 100)
    let videoAfter = call.alice.rtp.count {
      $0.packet.ssrc == Negotiated.aliceVideo && $0.time > call.start + .milliseconds(1_001)
    }
    #expect(videoAfter == 0)
  }

  @Test("video that is turned off and on again starts with a keyframe")
  func pausedVideo() {
    var call = SessionCall()
    call.source?.keyframeEvery = 50
    call.run(for: .milliseconds(990))
    let all = Negotiated()
    var paused = all.section(.vp8, ofAlice: true)
    paused.sends = false
    call.alice.session.configure([all.section(.opus, ofAlice: true), paused], now: call.now)
    call.run(for: .seconds(1))
    let sent = call.alice.rtp.count { $0.packet.ssrc == Negotiated.aliceVideo }
    call.run(for: .seconds(1))
    #expect(call.alice.rtp.count { $0.packet.ssrc == Negotiated.aliceVideo } == sent)
    call.alice.session.configure(all.alice, now: call.now)
    call.run(for: .seconds(2))
    call.settle()
    let numbers = call.bob.frames(.vp8).compactMap(SyntheticSource.number)
    let jump = numbers.firstIndex(of: 50)
    #expect(jump.map { numbers[$0 - 1] } == 29)
    #expect(numbers.last == call.played.last { $0.codec == .vp8 }.flatMap(SyntheticSource.number))
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 || $1 == 50 })
    #expect(call.bob.session.receiveStatistics[.video]?.framesDropped == 0)
  }
}

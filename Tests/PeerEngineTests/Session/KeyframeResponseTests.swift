import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Responses to keyframe requests, between two sessions")
struct KeyframeResponseTests {
  private func request(_ call: inout SessionCall, byFullIntraRequest number: UInt8? = nil) {
    var datagram = ByteBuffer()
    if let number {
      RTCPPacket.write(
        [
          .fullIntraRequest(
            FullIntraRequest(senderSSRC: 1, entries: [.init(ssrc: Negotiated.aliceVideo, sequenceNumber: number)]))
        ], into: &datagram)
    } else {
      RTCPPacket.write(
        [.pictureLossIndication(PictureLossIndication(senderSSRC: 1, mediaSSRC: Negotiated.aliceVideo))],
        into: &datagram)
    }
    call.alice.session.receivedRTCP(datagram, now: call.now)
  }

  @Test("a request replays the whole group, with timestamps between the last frame and the next")
  func replay() throws {
    var call = SessionCall(toBob: .init(delay: .milliseconds(20)))
    call.run(for: .milliseconds(2_010))
    request(&call)
    call.run(for: .seconds(3))
    call.settle()
    let frames = call.bob.frames(.vp8)
    let numbers = frames.compactMap(SyntheticSource.number)
    #expect(Array(numbers.prefix(61)) == Array(0...60))
    #expect(Array(numbers[61..<122]) == Array(0...60))
    #expect(Array(numbers[122...]) == Array(61..<call.played.count { $0.codec == .vp8 }))
    let ticks = frames.map(\.time.ticks)
    #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $0 < $1 })
    // The timestamps of live frames do not change.
    #expect(ticks[122] - ticks[60] == 3_000)
    #expect(call.alice.keyframeRequests.count == 1)
    #expect(call.alice.session.sendStatistics.groupsReplayed == 1)
  }

  @Test("ten requests a second are answered at most twice a second")
  func limit() {
    var call = SessionCall(toBob: .init(delay: .milliseconds(20)))
    call.run(for: .seconds(1))
    for _ in 0..<30 {
      request(&call)
      call.run(for: .milliseconds(100))
    }
    #expect((5...6).contains(call.alice.keyframeRequests.count))
    #expect(call.alice.session.sendStatistics.keyframeRequests == 30)
  }

  @Test("a full intra request counts once, however often it is repeated")
  func fullIntraRequest() {
    var call = SessionCall()
    call.run(for: .seconds(1))
    for _ in 0..<3 {
      request(&call, byFullIntraRequest: 7)
      call.run(for: .seconds(1))
    }
    #expect(call.alice.keyframeRequests.count == 1)
    request(&call, byFullIntraRequest: 8)
    call.run(for: .milliseconds(10))
    #expect(call.alice.keyframeRequests.count == 2)
  }

  @Test("a live encoder is only asked for a keyframe, and no group is replayed")
  func liveEncoder() {
    var configuration = MediaSession.Configuration()
    configuration.sending.keyframeResponse = .requestFromSource
    var call = SessionCall(configuration: configuration)
    call.run(for: .seconds(1))
    request(&call)
    call.run(for: .seconds(1))
    #expect(call.alice.keyframeRequests.count == 1)
    #expect(call.alice.session.sendStatistics.groupsReplayed == 0)
  }

  /// A call that forwards the frames of another participant.
  private func forwarding(makesKeyframes: Bool, isReady: Bool = true) -> SessionCall {
    var call = SessionCall(
      toBob: .init(delay: .milliseconds(20)),
      configuration: MediaSession.Configuration(keyframeResponse: .requestFromSource, isForwarding: true),
      isReady: isReady)
    call.sourceMakesKeyframes = makesKeyframes
    call.times = .ofTrack
    return call
  }

  @Test("a forwarded source that answers no request has its group replayed, once, with timestamps that go on")
  func silentSource() throws {
    var call = forwarding(makesKeyframes: false)
    call.run(for: .milliseconds(2_010))
    request(&call)
    call.run(for: .milliseconds(450))
    #expect(call.alice.session.sendStatistics.groupsReplayed == 0)
    call.run(for: .seconds(2))
    call.settle()
    #expect(call.alice.session.sendStatistics.groupsReplayed == 1)
    #expect(call.alice.keyframeRequests.count == 1)
    let frames = call.bob.frames(.vp8)
    let numbers = frames.compactMap(SyntheticSource.number)
    let again = try #require(numbers.dropFirst().firstIndex(of: 0))
    #expect(Array(numbers[..<again]) == Array(0..<again))
    #expect(Array(numbers[again..<2 * again]) == Array(0..<again))
    #expect(Array(numbers[(2 * again)...]) == Array(again..<call.played.count { $0.codec == .vp8 }))
    let ticks = frames.map(\.time.ticks)
    #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $0 < $1 })
    #expect(ticks[2 * again] - ticks[again - 1] == 3_000)
  }

  @Test(
    "a viewer that misses a source which has sent nothing for 2 s sees no frame of it again, and one that asks earlier does",
    arguments: [(500, 1), (3_000, 0)])
  func sourceThatLeft(pause: Int, replays: Int) {
    var call = forwarding(makesKeyframes: false)
    call.run(for: .seconds(2))
    call.settle(for: .milliseconds(pause))
    request(&call)
    call.settle(for: .seconds(2))
    #expect(call.alice.session.sendStatistics.groupsReplayed == replays)
  }

  @Test("a forwarded source that answers in time has nothing replayed")
  func answeringSource() {
    var call = forwarding(makesKeyframes: true)
    call.run(for: .seconds(2))
    for _ in 0..<3 {
      request(&call)
      call.run(for: .seconds(2))
    }
    #expect(call.alice.session.sendStatistics.groupsReplayed == 0)
    #expect(call.alice.keyframeRequests.count == 3)
    #expect(call.bob.frames(.vp8).count(where: \.isKeyframe) == 4)
  }

  @Test("a late viewer of a forwarded source that answers no request sees its group after the time for an answer")
  func lateViewerOfSilentSource() throws {
    var call = forwarding(makesKeyframes: false, isReady: false)
    call.run(for: .seconds(3))
    call.alice.session.transportBecameReady(now: call.now)
    call.bob.session.transportBecameReady(now: call.now)
    let ready = call.now
    call.run(for: .seconds(2))
    call.settle()
    let frames = call.bob.frames(.vp8)
    #expect(frames.compactMap(SyntheticSource.number) == Array(0..<call.played.count { $0.codec == .vp8 }))
    let first = try #require(frames.first)
    #expect(first.isKeyframe && (.milliseconds(500)...(.milliseconds(700))).contains(first.arrived - ready))
    let ticks = frames.map(\.time.ticks)
    #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $0 < $1 })
    #expect(call.alice.session.sendStatistics.groupsReplayed == 1)
  }

  @Test("a group that is too long is not replayed: the viewer begins with the next keyframe")
  func longGroup() {
    var call = forwarding(makesKeyframes: false, isReady: false)
    call.source?.keyframeEvery = 10_000
    call.run(for: .seconds(11))
    call.alice.session.transportBecameReady(now: call.now)
    call.bob.session.transportBecameReady(now: call.now)
    call.run(for: .seconds(2))
    #expect(call.bob.frames(.vp8).isEmpty)
    #expect(!call.bob.frames(.opus).isEmpty)
    #expect(call.alice.keyframeRequests.count > 1)
  }

  @Test("keyframes are requested with FIR if PLI was not negotiated")
  func askedByFullIntraRequest() {
    var media = Negotiated()
    media.pictureLossIndication = false
    media.fullIntraRequest = true
    var call = SessionCall(media: media)
    call.run(for: .seconds(2))
    call.bob.session.requestKeyframe(now: call.now)
    call.run(for: .seconds(2))
    let requests = call.bob.rtcp.compactMap { sent -> FullIntraRequest? in
      if case .fullIntraRequest(let request) = sent.packet { request } else { nil }
    }
    #expect(requests.count == 1)
    #expect(requests.first?.entries.map(\.ssrc) == [Negotiated.aliceVideo])
    #expect(call.bob.frames(.vp8).count(where: \.isKeyframe) == 2)
  }

  @Test("a late viewer starts with the current group of pictures, and nothing is sent before a keyframe")
  func lateViewer() throws {
    var call = SessionCall(toBob: .init(delay: .milliseconds(20)), isReady: false)
    call.run(for: .milliseconds(1_510))
    #expect(call.alice.rtp.count == 0)
    call.alice.session.transportBecameReady(now: call.now)
    call.bob.session.transportBecameReady(now: call.now)
    call.run(for: .seconds(2))
    call.settle()
    let frames = call.bob.frames(.vp8)
    let numbers = frames.compactMap(SyntheticSource.number)
    #expect(numbers == Array(0..<call.played.count { $0.codec == .vp8 }))
    let first = try #require(frames.first)
    #expect(first.isKeyframe)
    #expect(first.arrived - call.start < .milliseconds(1_600))
    #expect(call.bob.frames(.opus).first.flatMap(SyntheticSource.number) == 76)
    let ticks = frames.map(\.time.ticks)
    #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $0 < $1 })
    // Audio and video stay on one clock: frame 45 and audio packet 75 have the same media time.
    #expect(ticks[46] - ticks[45] < 3_400)
  }

  @Test("a session can be primed with the group that another viewer's session has cached")
  func primed() throws {
    var group = GroupOfPicturesCache()
    var generator = SeededGenerator(seed: 1)
    var call = SessionCall()
    call.source = nil
    for number in 0..<50 {
      group.add(
        SyntheticSource.vp8(
          number: number, isKeyframe: number == 0, bytes: 900, time: Int64(number) * 3_000, arrival: call.now,
          using: &generator))
    }
    call.alice.session.prime(group, now: call.now)
    call.run(for: .seconds(1))
    #expect(call.bob.frames(.vp8).compactMap(SyntheticSource.number) == Array(0..<50))
  }

  @Test("without a keyframe no video is sent, but audio is")
  func noKeyframe() {
    var call = SessionCall()
    call.source?.sendsVideo = false
    var generator = SeededGenerator(seed: 1)
    call.give(
      SyntheticSource.vp8(number: 1, isKeyframe: false, bytes: 900, time: 0, arrival: call.now, using: &generator))
    call.run(for: .seconds(1))
    #expect(call.bob.frames(.vp8).count == 0)
    #expect(call.bob.frames(.opus).count == 51)
    #expect(call.alice.session.sendStatistics.framesSkipped == 1)
  }
}

import CallCheck
import CallCheckTestSupport
import Media
import Testing

@Suite("Media that continued but is no longer available")
struct UnavailableMediaTests {
  /// Returns the report of a call of 5 s of which only 3 s are available.
  private func report(_ kinds: [MediaKind], until end: Double = 5) throws -> CheckReport {
    var call = SyntheticCall()
    call.duration = 3
    let judge = CallJudge(call.options)
    judge.joined(at: SyntheticCall.instant(0.2))
    for participantEvent in try call.participantEvents() {
      judge.receive(participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
    }
    for kind in kinds { judge.mediaContinued(kind, of: SyntheticCall.peer, until: SyntheticCall.instant(end)) }
    judge.step(
      .departed(.closedByUs, "The recording was stopped."), of: SyntheticCall.peer, at: SyntheticCall.instant(end))
    return judge.report(at: SyntheticCall.instant(end))
  }

  @Test("is a freeze and an audio gap until its end")
  func untold() throws {
    let peer = try #require(report([.video, .audio]).peers.first)
    let freeze = try #require(peer.video?.freezes.worst)
    #expect(freeze.reason == "untilEnd" && abs(freeze.duration - 2) < 0.2)
    let gap = try #require(peer.audio?.gaps.worst)
    #expect(gap.reason == "lost" && abs(gap.duration - 2) < 0.2)
  }

  @Test("of one kind causes no gap in the other kind")
  func oneKind() throws {
    let videoFrames = try #require(report([.video]).peers.first)
    #expect(videoFrames.video?.freezes.count == 1 && videoFrames.audio?.gaps.count == 0)
    let audio = try #require(report([.audio]).peers.first)
    #expect(audio.audio?.gaps.count == 1)
  }

  @Test("that ended before the available media changes nothing")
  func nothing() throws {
    for peers in [try report([]).peers, try report([.video, .audio], until: 2.5).peers] {
      let peer = try #require(peers.first)
      #expect(peer.video?.freezes.count == 0 && peer.audio?.gaps.count == 0)
    }
  }
}

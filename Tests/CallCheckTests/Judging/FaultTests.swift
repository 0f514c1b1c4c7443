import CallCheck
import CallCheckTestSupport
import Media
import Testing

@Suite("A call with one fault")
struct FaultTests {
  @Test("all default rules hold for a good call")
  func good() throws {
    let report = try SyntheticCall().report()
    #expect(report.failedRules == [], "\(report.reported)")
    #expect(report.verdict == .held)
    #expect(report.diagnosis == nil)
    #expect(report.results.count == report.rules.count)
    let peer = try #require(report.peers.first)
    let video = try #require(peer.video)
    let audio = try #require(peer.audio)
    let pattern = try #require(peer.pattern)
    #expect(abs(video.fps - 30) < 0.3)
    #expect((video.fpsMinimum ?? 0) >= 28)
    #expect(video.freezes.count == 0)
    #expect(audio.gaps.count == 0)
    #expect(audio.silence.count == 0)
    #expect((-45...(-20)).contains(audio.level))
    #expect(pattern.missing == 0)
    #expect(pattern.doubled == 0)
    #expect(pattern.framesRead == video.frames)
    #expect((pattern.quality?.ssim ?? 0) > 0.8)
    #expect(peer.skew?.source == .pattern)
    print(
      "measured: good call: \(video.fps) fps, level \(audio.level) dB, skew \(peer.skew?.total.p95 ?? 9) s, delay "
        + "\(pattern.videoDelay?.p95 ?? 9) s, SSIM \(pattern.quality?.ssim ?? 0), PSNR \(pattern.quality?.psnr ?? 0) dB"
    )
  }

  @Test("black video fails the rule about black and no other")
  func black() throws {
    var call = SyntheticCall()
    call.black = 4..<7
    let report = try call.report()
    #expect(report.failedRules == ["video.black.longest <= 1s"], "\(report.reported)")
    let value = try #require(report.result("video.black.longest <= 1s")?.value?.number)
    print("measured: black for 3 s: \(value) s")
    #expect(abs(value - 3) < 0.1)
  }

  @Test("a silent track fails the rule about silence and no other")
  func silence() throws {
    var call = SyntheticCall()
    call.silent = 3.05..<6.05
    let report = try call.report()
    #expect(report.failedRules == ["audio.silence.longest <= 2s"], "\(report.reported)")
    let value = try #require(report.result("audio.silence.longest <= 2s")?.value?.number)
    print("measured: silent for 3 s: \(value) s")
    #expect(abs(value - 3) < 0.1)
  }

  @Test("five frames per second fail the rule about the frame rate and no other")
  func fiveVideoFrames() throws {
    var call = SyntheticCall()
    call.framesPerSecond = 5
    let report = try call.report()
    #expect(report.failedRules == ["video.fps >= 15"], "\(report.reported)")
    let value = try #require(report.result("video.fps >= 15")?.value?.number)
    print("measured: 5 frames a second: \(value)")
    #expect(abs(value - 5) < 0.2)
    #expect(report.peers.first?.video?.freezes.count == 0)
  }

  @Test("a pause of 2 s fails the rule about freezes and no other")
  func freeze() throws {
    var call = SyntheticCall()
    call.paused = 4..<6
    let report = try call.report()
    #expect(report.failedRules == ["video.freeze.longest <= 1s"], "\(report.reported)")
    let video = try #require(report.peers.first?.video)
    print("measured: paused for 2 s: \(video.freezes.longest) s")
    #expect(abs(video.freezes.longest - 2) < 0.2)
    #expect(video.freezes.count == 1)
    #expect(video.freezes.list.first?.reason == FreezeReason.senderPaused.rawValue)
    #expect(video.frozen.count == 0)
    #expect(video.fpsMinimum == 0)
    let sentence = try #require(report.result("video.freeze.longest <= 1s")?.sentence)
    #expect(sentence.contains("because the sender sent nothing"))
  }

  @Test("a static video of 4 s fails the rule about static video and no other")
  func frozen() throws {
    var call = SyntheticCall()
    call.duration = 9
    call.standing = 3..<7
    let report = try call.report()
    #expect(report.failedRules == ["video.frozen.longest <= 3s"], "\(report.reported)")
    let video = try #require(report.peers.first?.video)
    print("measured: the same frame for 4 s: \(video.frozen.longest) s")
    #expect(abs(video.frozen.longest - 4) < 0.2)
    #expect(video.freezes.count == 0)
  }

  @Test("audio that is 300 ms late fails the rule about skew and no other", arguments: [0.3, 0.15])
  func lateAudio(delay: Double) throws {
    var call = SyntheticCall()
    call.audioDelay = delay
    let report = try call.report()
    #expect(report.failedRules == ["av.skew.p95 <= 120ms"], "\(report.reported)")
    let skew = try #require(report.peers.first?.skew)
    print("measured: audio \(delay) s late: skew p95 \(skew.total.p95) s")
    // A packet of 20 ms can be sent only after its last sample was captured.
    #expect(abs(skew.total.p95 - delay) < 0.03)
    #expect(skew.total.p50 > 0)
  }

  @Test("leaving early fails the rule about absence and no other")
  func leaving() throws {
    var call = SyntheticCall()
    call.leaves = 5
    let report = try call.report()
    #expect(report.failedRules == ["absent <= 1s"], "\(report.reported)")
    let value = try #require(report.result("absent <= 1s")?.value?.number)
    print("measured: left 3 s before the end: \(value) s")
    #expect(abs(value - 3) < 0.1)
    let sentence = try #require(report.result("absent <= 1s")?.sentence)
    #expect(sentence.contains("the peer left the room"))
  }

  @Test("clipped audio fails the rule about clipping and no other")
  func clipped() throws {
    var call = SyntheticCall()
    call.clipped = 3..<5
    let report = try call.report()
    #expect(report.failedRules == ["audio.clipped.ratio <= 10%"], "\(report.reported)")
    let audio = try #require(report.peers.first?.audio)
    print("measured: clipped for 2 s: \(audio.clipped.total) s, peak \(audio.peak) dB")
    #expect(abs(audio.clipped.total - 2) < 0.15)
  }

  @Test("an audio gap of 600 ms fails the rule about gaps and no other")
  func hole() throws {
    var call = SyntheticCall()
    call.lostAudio = Set(120..<150)
    let report = try call.report()
    #expect(report.failedRules == ["audio.gap.longest <= 500ms"], "\(report.reported)")
    let audio = try #require(report.peers.first?.audio)
    print("measured: 30 audio packets lost: gap of \(audio.gaps.longest) s, \(audio.concealed) s concealed")
    #expect(abs(audio.gaps.longest - 0.6) < 0.01)
    #expect(abs(audio.concealed - 0.2) < 0.01)
    #expect(audio.gaps.list.first?.reason == AudioGapReason.lost.rawValue)
  }
}

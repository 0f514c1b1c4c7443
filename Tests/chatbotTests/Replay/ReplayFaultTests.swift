import CallCheck
import Media
import Testing

@testable import BotPeer
@testable import FaultInjection
@testable import NetworkEmulation
@testable import PeerEngine

@Suite("the check of an app with a fault")
struct ReplayFaultTests {
  /// - Parameter duration: The duration of the check; nil to end it so soon after the pattern that nothing is frozen or
  ///   silent.
  private func report(
    _ fault: Fault, duration: Duration? = nil, _ change: (inout ReplayCall.Plan) -> Void = { _ in }
  ) throws -> (report: CheckReport, peer: PeerReport) {
    var plan = ReplayCall.Plan(seed: 3, fault: fault)
    plan.patternLength = .seconds(2)
    change(&plan)
    plan.duration = duration ?? plan.patternStart + plan.patternLength + .milliseconds(100)
    let report = try ReplayCall(plan).report()
    return (report, try #require(report.peers.first))
  }

  /// Expects that nothing of the app's pattern is missing, and that all rules hold.
  private func expectWhole(
    _ found: (report: CheckReport, peer: PeerReport), videoFrames: Int,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let pattern = found.peer.pattern
    #expect(found.report.verdict == .held, "\(found.report.summary)", sourceLocation: sourceLocation)
    #expect(pattern?.numbersPainted == videoFrames, sourceLocation: sourceLocation)
    #expect(pattern?.missing == 0 && pattern?.restarts == 0, sourceLocation: sourceLocation)
    #expect(found.peer.video?.freezes.count == 0, sourceLocation: sourceLocation)
    #expect(found.peer.audio?.gaps.count == 0, sourceLocation: sourceLocation)
    #expect(found.peer.departure == nil, sourceLocation: sourceLocation)
  }

  @Test("every fault of the engine is tested here")
  func allFaults() {
    let tried: [Fault] = [
      .candidateBeforeOffer, .secondOffer, .ssrcChange, .absurdTimestamps, .paddingOnly, .suddenLeave, .slowAnswer,
      .wrongFingerprint,
    ]
    #expect(Fault.allCases.filter { !$0.isInjectedBySource } == tried)
  }

  @Test("candidate before offer: the candidate is reported a second before the offer, and the call is complete")
  func candidateBeforeOffer() throws {
    let found = try report(.candidateBeforeOffer) { $0.patternStart = .milliseconds(1_200) }
    let candidate = try #require(found.peer.steps.firstRemoteCandidate)
    let offer = try #require(found.peer.steps.offerReceived)
    #expect(abs(offer - candidate - 1) < 0.01)
    expectWhole(found, videoFrames: 50)
  }

  @Test("second offer: it is reported, and nothing is interrupted")
  func secondOffer() throws {
    let found = try report(.secondOffer) {
      $0.checkerOffers = true
      $0.patternLength = .seconds(4)
    }
    let connected = try #require(found.peer.steps.dtlsConnected)
    let offer = try #require(found.peer.steps.offerReceived)
    #expect(abs(offer - connected - 3) < 0.03)
    expectWhole(found, videoFrames: 100)
    #expect(found.peer.pattern?.doubled == 0)
  }

  @Test("SSRC change: the pattern continues, and only the frames since the last keyframe are repeated")
  func ssrcChange() throws {
    let found = try report(.ssrcChange) { $0.patternLength = .seconds(4) }
    expectWhole(found, videoFrames: 100)
    let doubled = try #require(found.peer.pattern?.doubled)
    print("measured: after a change of SSRC \(doubled) frames were repeated")
    #expect((1...EncodedPattern.framesPerSecond).contains(doubled))
    // The packets of both SSRCs are counted.
    #expect((found.peer.connection.video?.sent ?? 0) > 200)
  }

  @Test("absurd timestamps: no frame is missing, and no long gap is waited for or filled with silence")
  func absurdTimestamps() throws {
    let found = try report(.absurdTimestamps) { $0.patternLength = .seconds(5) }
    expectWhole(found, videoFrames: 125)
    #expect(found.peer.audio?.silence.count == 0 && found.peer.audio?.concealed == 0)
    #expect((found.peer.audio?.packets ?? 0) >= 245)
  }

  @Test("padding only: packets arrive, but no audio and no frame, and no loss is reported")
  func paddingOnly() throws {
    let (report, peer) = try report(.paddingOnly)
    #expect(peer.reached == .packets)
    #expect(peer.video == nil && peer.audio == nil && peer.connection.video == nil)
    #expect(report.diagnosis == "Media packets arrived, but no complete frame.")
    #expect(report.results.first { $0.measurement == "video.firstFrame" }?.outcome == .notMeasured)
  }

  @Test("sudden leave: the peer is absent from its last frame on, and the connection is lost when the timeout is over")
  func suddenLeave() throws {
    let (report, peer) = try report(.suddenLeave, duration: .seconds(36)) { $0.patternLength = .seconds(7) }
    #expect(peer.departure?.cause == .connectionLost)
    // Silent from 5 s after the connection was established.
    let connected = try #require(peer.steps.dtlsConnected)
    print("measured: away for \(peer.absent) of 36 s, known at \(peer.departure?.time ?? 0) s")
    #expect(abs(peer.absent - (36 - connected - 5)) < 0.05)
    // Detected 30 s after the last answer to a consent check, which is sent at least every 6 s.
    let known = try #require(peer.departure?.time) - connected
    #expect((5 + 30 - 6...5 + 30).contains(known))
    #expect(report.results.filter { $0.outcome != .held }.map(\.measurement) == ["absent"])
  }

  @Test("slow answer: the first frame and the first audio are as late as the answer")
  func slowAnswer() throws {
    let (report, peer) = try report(.slowAnswer) {
      $0.checkerOffers = true
      $0.patternStart = .seconds(8)
    }
    let answer = try #require(peer.steps.answerReceived)
    #expect(abs(answer - 8) < 0.01)
    #expect(
      report.results.filter { $0.outcome != .held }.map(\.measurement) == ["video.firstFrame", "audio.firstSound"])
  }

  @Test("wrong fingerprint: the peer is never connected, and the certificate is the reason", arguments: [true, false])
  func wrongFingerprint(checkerOffers: Bool) throws {
    let (report, peer) = try report(.wrongFingerprint) { $0.checkerOffers = checkerOffers }
    #expect(peer.reached == .iceConnected)
    #expect(peer.steps.dtlsConnected == nil && peer.video == nil)
    #expect(peer.departure?.cause == .failed)
    #expect(report.diagnosis?.contains("the peer's certificate matches none of the 1 fingerprint(s)") == true)
  }
}

import CallCheck
import CallCheckTestSupport
import Testing

@testable import CallReport

@Suite("Events during the failure of a rule")
struct FindingTests {
  private func finding(
    _ measurement: String, limit: Double, in peer: PeerReport, impairment: [CheckReport.ImpairmentNote] = [],
    outcome: RuleResult.Outcome = .failed
  ) -> Finding {
    let result = RuleResult(
      rule: "", measurement: measurement, peer: peer.id, outcome: outcome, value: 9, limit: .number(limit), unit: "",
      figure: "9",
      sentence: "")
    return Finding(of: result, peer: peer, impairment: impairment)
  }

  @Test("a freeze that packet loss caused is reported with the loss and the keyframe requests")
  func loss() {
    let peer = SamplePeer(id: "a", length: 20, freeze: (8, 2, .lost), lossAtFreeze: 0.4).report
    let found = finding("video.freeze.longest", limit: 0.5, in: peer)
    #expect(found.worst?.start == 8)
    #expect(found.concurrentEvents.first?.hasPrefix("loss rose to 3") == true)
    #expect(found.concurrentEvents.dropFirst().first == "video fell to 14 kbit/s (median 1.15 Mbit/s)")
    #expect(found.concurrentEvents.contains("2 keyframes were requested"))
  }

  @Test("the report says that no packet was lost only if that is certain and does not contradict the reason")
  func noLoss() {
    var peer = SamplePeer(id: "a", length: 20, freeze: (8, 2, .senderPaused)).report
    peer.timeline.loss = peer.timeline.loss.map { $0.map { _ in 0 } }
    #expect(finding("video.freeze.longest", limit: 0.5, in: peer).concurrentEvents.contains("no packet was lost"))
    peer.video?.freezes.list[0].reason = FreezeReason.lost.rawValue
    #expect(!finding("video.freeze.longest", limit: 0.5, in: peer).concurrentEvents.contains("no packet was lost"))
    peer.timeline.loss = []
    peer.video?.freezes.list[0].reason = nil
    #expect(!finding("video.freeze.longest", limit: 0.5, in: peer).concurrentEvents.contains("no packet was lost"))
  }

  @Test("an impairment by the check itself is named")
  func impairment() {
    let peer = SamplePeer(id: "a", length: 20, freeze: (8, 2, .late)).report
    let notes: [CheckReport.ImpairmentNote] = [
      .init(start: 0, end: 7, text: "loss=1%"), .init(start: 7, end: 9, direction: "receive", text: "rate=150kbit"),
      .init(start: 9, text: "none"),
    ]
    let found = finding("video.freeze.longest", limit: 0.5, in: peer, impairment: notes)
    #expect(found.concurrentEvents.last == "this check impaired the network on purpose (receive: rate=150kbit)")
  }

  @Test("the failure of a rule about a series is located where the series exceeds the limit")
  func positions() {
    let peer = SamplePeer(id: "a", length: 20, freeze: (8, 2, .lost), skew: 0.3, lossAtFreeze: 0.4).report
    let fps = finding("video.fps", limit: 15, in: peer)
    #expect(fps.positions.count == 1)
    #expect(fps.worst.map { $0.start >= 7.9 && $0.start + $0.duration <= 10.3 } == true)
    // It lasted for the whole call, so nothing else explains it.
    let skew = finding("av.skew.p95", limit: 0.08, in: peer)
    #expect(skew.positions.count == 1)
    #expect(skew.concurrentEvents.isEmpty)
    #expect(finding("video.firstFrame", limit: 1, in: peer).positions.isEmpty)
    #expect(finding("video.fps", limit: 15, in: peer, outcome: .notMeasured).positions.isEmpty)
  }
}

import Media
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Target bitrate events")
struct TargetEventTests {
  @Test("the target is reported when it changes by 5 %, and at most ten times a second unless it falls")
  func rate() throws {
    var conditions = Impairment.Conditions(delay: .milliseconds(20), rate: 2_000_000)
    conditions.queue = .milliseconds(500)
    var line = SharedPath(seed: 1, conditions)
    line.add()
    line.run(for: .seconds(6))
    line.line.conditions.rate = 500_000
    line.run(for: .seconds(6))
    let reported = line.flows[0].targets
    #expect(reported.count > 10)
    for (before, after) in zip(reported, reported.dropFirst()) {
      let change = Double(after.bitrate - before.bitrate) / Double(before.bitrate)
      #expect(abs(change) >= 0.05)
      if change > 0 { #expect(after.time - before.time >= .milliseconds(100)) }
    }
    let statistics = line.flows[0].sender.sendStatistics
    #expect(statistics.targetBitrate == reported.last?.bitrate)
    #expect(reported.allSatisfy { (50_000...2_500_000).contains($0.bitrate) })
  }

  @Test("the target stays within the configured limits")
  func limits() {
    var conditions = Impairment.Conditions(delay: .milliseconds(20), rate: 60_000)
    conditions.queue = .milliseconds(500)
    var line = SharedPath(seed: 2, conditions)
    var configuration = MediaSession.Configuration.live
    configuration.congestion.minimumBitrate = 120_000
    configuration.congestion.maximumBitrate = 400_000
    line.add(configuration: configuration)
    line.run(for: .seconds(5))
    line.line.conditions.rate = nil
    line.run(for: .seconds(10))
    let reported = line.flows[0].targets.map(\.bitrate)
    #expect(reported.min() == 120_000)
    #expect(reported.max() == 400_000)
  }

  @Test("a session that sends nothing reports no target")
  func listener() {
    var call = SessionCall()
    call.run(for: .seconds(3))
    #expect(call.alice.targets.count > 0)
    #expect(call.bob.targets.count == 0)
  }
}

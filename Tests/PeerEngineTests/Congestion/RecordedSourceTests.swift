import Media
import NetworkEmulation
import PeerEngine
import TestSupport
import Testing

@Suite("A recorded source on narrow links")
struct RecordedSourceTests {
  private func line(rate: Double?, queue: Duration = .seconds(3)) -> Impairment.Conditions {
    var conditions = Impairment.Conditions(delay: .milliseconds(20), rate: rate)
    conditions.queue = queue
    return conditions
  }

  @Test("no frame is skipped if the link is fast enough", arguments: [1_500_000, 20_000_000] as [Double])
  func wide(rate: Double) throws {
    var shared = SharedPath(seed: 1, line(rate: rate))
    shared.add(configuration: .init(), file: 1_000_000)
    shared.run(for: .seconds(20))
    let skipped = shared.flows[0].sender.sendStatistics.framesSkipped
    let (ages, numbers) = shared.videoFrames()
    #expect(skipped == 0)
    #expect(numbers.count > 590)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 })
    #expect(ages.allSatisfy { $0 < .milliseconds(600) })
  }

  @Test("on a link that is too slow, whole groups are skipped, no frame is broken, and no queue lasts for seconds")
  func narrow() throws {
    var shared = SharedPath(seed: 2, line(rate: 400_000))
    shared.add(configuration: .init(), file: 1_000_000)
    shared.run(for: .seconds(30))
    let queue = shared.queue(from: shared.start, until: shared.now)
    let later = shared.queue(from: shared.start + .seconds(6), until: shared.now)
    let (ages, numbers) = shared.videoFrames()
    let oldest = ages.max() ?? .zero
    let use = shared.bitrate(5..<30) / 400_000
    print(
      "measured: a file of 1 Mb/s on 400 kb/s: \(numbers.count) of 900 frames, the oldest \(oldest) old,",
      "worst queue \(queue.worst), after 6 s \(later.worst), link utilisation \(use)")
    let isUnbroken = shared.isUnbroken()
    #expect(isUnbroken)
    #expect(numbers.count > 120)
    #expect(queue.worst < .seconds(3))
    #expect(later.above < .seconds(1))
  }

  @Test("replaying a group on a link of 300 kb/s does not build a queue of seconds", arguments: [1, 2] as [UInt64])
  func replay(seed: UInt64) throws {
    var shared = SharedPath(seed: seed, line(rate: 300_000))
    shared.add(configuration: .init(), file: 220_000)
    shared.run(for: .seconds(6))
    for _ in 0..<5 {
      shared.run(for: .milliseconds(2_300))
      shared.requestKeyframe()
    }
    shared.run(for: .seconds(4))
    let queue = shared.queue(from: shared.start + .seconds(6), until: shared.now)
    let (ages, _) = shared.videoFrames()
    print(
      "measured: PLI to a file of 220 kb/s on 300 kb/s, seed \(seed): worst queue \(queue.worst), above 200 ms for \(queue.above), oldest frame \(ages.max() ?? .zero)"
    )
    let isUnbroken = shared.isUnbroken()
    #expect(isUnbroken)
    #expect(queue.worst < .milliseconds(1_300))
  }

  @Test(
    "a late viewer on a wide path gets each frame since the last keyframe once, and each that follows",
    arguments: [(1_000, 3_000_000), (2_500, 3_000_000), (7_500, 3_000_000), (6_000, 6_000_000)])
  func lateViewer(delay: Int, bitrate: Int) throws {
    var shared = SharedPath(seed: 3, .init(delay: .milliseconds(1), rate: 100_000_000))
    shared.add(configuration: .init(), file: bitrate)
    shared.flows[0].file?.keyframeEvery = 250
    shared.flows[0].file?.wanted = bitrate
    shared.flows[0].joins = shared.start + .milliseconds(delay)
    shared.run(for: .milliseconds(delay) + .seconds(12))
    let frames = shared.flows[0].frames.map(\.frame).filter { $0.codec == .vp8 }
    let numbers = frames.compactMap(SyntheticSource.number)
    #expect(numbers == Array(0..<numbers.count))
    #expect(numbers.count > (delay + 11_500) * 30 / 1_000)
    let first = try #require(shared.flows[0].frames.first { $0.frame.codec == .vp8 })
    #expect(first.time - shared.flows[0].joins < .milliseconds(200))
    // What was sent before the viewer came appears within the 2 s before, and what follows in its own times.
    let steps = zip(frames, frames.dropFirst()).map { $1.time.ticks - $0.time.ticks }
    let early = delay * 30 / 1_000
    #expect(steps.allSatisfy { $0 > 0 && $0 <= 3_001 })
    #expect(steps.dropFirst(early + 2).allSatisfy { $0 == 3_000 })
    if delay <= 2_000 { #expect(steps.allSatisfy { $0 == 3_000 }) }
    // Video and audio of before.
    #expect(shared.flows[0].sender.sendStatistics.framesSkipped <= UInt64(early + delay / 20 + 4))
  }
}

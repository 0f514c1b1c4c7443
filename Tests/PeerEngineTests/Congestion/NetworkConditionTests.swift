import Glibc
import Media
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("A live source on links with loss, jitter, cross traffic and REMB")
struct NetworkConditionTests {
  private func line(
    rate: Double, loss: Double = 0, jitter: Duration = .zero, queue: Duration = .milliseconds(500)
  ) -> Impairment.Conditions {
    var conditions = Impairment.Conditions(loss: loss, delay: .milliseconds(20), jitter: jitter, rate: rate)
    conditions.queue = queue
    return conditions
  }

  @Test("5 % of random loss on a link of 2 Mb/s leaves more than 1 Mb/s", arguments: [1, 2] as [UInt64])
  func randomLoss(seed: UInt64) throws {
    var shared = SharedPath(seed: seed, line(rate: 2_000_000, loss: 0.05))
    shared.add()
    shared.run(for: .seconds(20))
    let bitrate = shared.bitrate(5..<20)
    let lowest = shared.flows[0].targets.filter { $0.time - shared.start > .seconds(3) }.map(\.bitrate).min() ?? 0
    print(
      "measured: 5 % loss at 2 Mb/s, seed \(seed): \(Int(bitrate / 1_000)) kb/s arrive, lowest target \(lowest / 1_000) kb/s"
    )
    #expect(bitrate > 1_000_000)
    #expect(lowest > 800_000)
  }

  @Test("jitter of 20 ms on a link of 2 Mb/s leaves more than 1.3 Mb/s", arguments: [1, 2] as [UInt64])
  func jitter(seed: UInt64) throws {
    var shared = SharedPath(seed: seed, line(rate: 2_000_000, jitter: .milliseconds(20)))
    shared.add()
    shared.run(for: .seconds(20))
    let bitrate = shared.bitrate(5..<20)
    print("measured: jitter of 20 ms at 2 Mb/s, seed \(seed): \(Int(bitrate / 1_000)) kb/s arrive")
    #expect(bitrate > 1_300_000)
  }

  @Test("two flows share a link within two to one, although one starts later", arguments: [1, 2, 3, 4] as [UInt64])
  func sharing(seed: UInt64) throws {
    var shared = SharedPath(seed: seed, line(rate: 2_000_000))
    shared.add()
    shared.add(after: .milliseconds(8_017))
    shared.run(for: .seconds(45))
    if getenv("TRACE") != nil { shared.trace() }
    let both = [shared.bitrate(of: 0, 25..<45), shared.bitrate(of: 1, 25..<45)]
    let queue = shared.queue(from: shared.start + .seconds(12), until: shared.now)
    print(
      "measured: two flows on 2 Mb/s, seed \(seed): \(both.map { Int($0 / 1_000) }) kb/s, use",
      "\(Int((both[0] + both[1]) / 20_000)) %, worst queue \(queue.worst)")
    #expect(max(both[0], both[1]) < 2 * min(both[0], both[1]))
    #expect(both[0] + both[1] > 1_400_000)
    #expect(queue.above <= .seconds(1))
  }

  @Test("without transport-wide feedback, the sender follows the receiver's REMB limit: 2 Mb/s, 300 kb/s, 2 Mb/s")
  func maximumBitrateEstimate() throws {
    var media = Negotiated()
    media.transportWide = false
    media.maximumBitrateEstimate = true
    var shared = SharedPath(seed: 3, line(rate: 2_000_000, queue: .milliseconds(200)))
    shared.add(media: media)
    shared.run(for: .seconds(15))
    let fall = shared.now
    shared.line.conditions.rate = 300_000
    shared.run(for: .seconds(15))
    let rise = shared.now
    shared.line.conditions.rate = 2_000_000
    shared.run(for: .seconds(20))
    let down = try #require(shared.settled(from: fall, until: rise) { $0 <= 300_000 })
    let up = try #require(shared.settled(from: rise, until: shared.now) { $0 >= 1_200_000 })
    print("measured: by REMB alone, 2 Mb/s, 300 kb/s, 2 Mb/s: down in \(down) s, up to 1.2 Mb/s in \(up) s")
    #expect(down < 5)
    #expect(up < 15)
  }

  @Test("a source that uses little of a fast link does not raise the target far beyond its bitrate")
  func applicationLimited() throws {
    var shared = SharedPath(seed: 4, line(rate: 20_000_000))
    var configuration = MediaSession.Configuration.live
    configuration.congestion.maximumBitrate = 15_000_000
    shared.add(configuration: configuration)
    shared.flows[0].encoder?.wanted = 500_000
    shared.run(for: .seconds(20))
    let target = shared.target(at: shared.now)
    print("measured: a source of 500 kb/s on 20 Mb/s: target \(target / 1_000) kb/s")
    #expect(target < 4_000_000)
    #expect(target > 600_000)
  }

  @Test("ten keyframe requests a second cause two keyframes a second, each delivered within 100 ms, and no queue")
  func manyRequests() throws {
    var shared = SharedPath(seed: 5, line(rate: 1_000_000))
    shared.add()
    shared.run(for: .seconds(3))
    let before = shared.flows[0].encoder?.keyframes.count ?? 0
    for _ in 0..<100 {
      shared.requestKeyframe()
      shared.run(for: .milliseconds(100))
    }
    let keyframes = (shared.flows[0].encoder?.keyframes.count ?? 0) - before
    let ages = shared.videoFrames().ages.sorted()
    let queue = shared.queue(from: shared.start + .seconds(3), until: shared.now)
    print(
      "measured: ten PLI a second at 1 Mb/s: \(keyframes) keyframes in 10 s, frame age: median",
      "\(ages[ages.count / 2]), 99 % \(ages[ages.count * 99 / 100]), worst queue \(queue.worst)")
    #expect((15...21).contains(keyframes))
    #expect(queue.worst < .milliseconds(250))
    let isUnbroken = shared.isUnbroken()
    #expect(isUnbroken)
  }

  @Test("a viewer who joins late receives the first frame within 500 ms", arguments: [300_000, 2_000_000] as [Double])
  func lateViewer(rate: Double) throws {
    var shared = SharedPath(seed: 6, line(rate: rate, queue: .seconds(1)))
    shared.add()
    // The camera has been running for 4 s when the viewer joins.
    let flow = shared.flows[0]
    flow.joins = shared.start + .milliseconds(4_010)
    shared.run(for: .seconds(8))
    let first = try #require(flow.frames.first { $0.frame.codec == .vp8 })
    let wait = first.time - flow.joins
    print("measured: first frame of a viewer who joins a link of \(Int(rate / 1_000)) kb/s late: after \(wait)")
    #expect(first.frame.isKeyframe)
    #expect(wait < .milliseconds(500))
  }
}

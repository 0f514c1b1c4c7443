import Glibc
import Media
import NetworkEmulation
import PeerEngine
import TestSupport
import Testing

@Suite("A live source adapts to changes of the link's rate")
struct BandwidthChangeTests {
  private let verbose = getenv("TRACE") != nil

  static func conditions(rate: Double, queue: Duration = .seconds(1)) -> Impairment.Conditions {
    var conditions = Impairment.Conditions(delay: .milliseconds(20), rate: rate)
    conditions.queue = queue
    return conditions
  }

  @Test(
    "2 Mb/s, 300 kb/s, 2 Mb/s: down within 5 s, up within 15 s, no queue above 200 ms for longer than 1 s",
    arguments: [1, 2] as [UInt64], [.milliseconds(200), .seconds(1), .seconds(3)] as [Duration])
  func downAndUp(seed: UInt64, buffer: Duration) throws {
    var line = SharedPath(seed: seed, Self.conditions(rate: 2_000_000, queue: buffer))
    line.add()
    line.run(for: .seconds(15))
    if verbose { line.trace() }
    let fall = line.now
    line.line.conditions.rate = 300_000
    line.run(for: .seconds(15))
    let rise = line.now
    line.line.conditions.rate = 2_000_000
    line.run(for: .seconds(15))
    let down = try #require(line.settled(from: fall, until: rise) { $0 <= 300_000 })
    let up = try #require(line.settled(from: rise, until: line.now) { $0 >= 1_600_000 })
    let queue = line.queue(from: line.start, until: line.now)
    let use = [(5..<15, 2e6), (20..<30, 3e5), (38..<45, 2e6)].map { line.bitrate($0.0) / $0.1 }
    let ages = line.videoFrames().ages.sorted()
    print(
      "measured: 2 Mb/s, 300 kb/s, 2 Mb/s with a buffer of \(buffer), seed \(seed): down in \(down) s, up in \(up) s,",
      "worst queue \(queue.worst), above 200 ms for \(queue.above), link utilisation \(use),",
      "frame age: median \(ages[ages.count / 2]), 99 % \(ages[ages.count * 99 / 100])")
    #expect(down < 5)
    #expect(up < 15)
    #expect(queue.above <= .seconds(1))
    #expect(use[0] > 0.7 && use[1] > 0.7 && use[2] > 0.7)
    if verbose { line.trace() }
    let isUnbroken = line.isUnbroken()
    #expect(isUnbroken)
  }
}

import Media
import PeerEngine
import Testing

@testable import NetworkEmulation

@Suite("One direction of an impaired network")
struct ImpairedDirectionTests {
  private let start = MonotonicInstant.now

  private func link(_ text: String, seed: UInt64 = 1) throws -> ImpairedDirection {
    ImpairedDirection(try Impairment(parsing: text, seed: 0).send, seed: seed)
  }

  /// Returns the fates of datagrams of 1,000 bytes that are sent at regular intervals.
  private func fates(
    _ link: inout ImpairedDirection, count: Int, every pause: Duration = .milliseconds(5), from: Duration = .zero
  ) -> [ImpairedDirection.Fate] {
    (0..<count).map { link.fate(bytes: 1_000, kind: .rtp, now: start + from + pause * $0) }
  }

  private func expectSums(_ link: ImpairedDirection, sourceLocation: SourceLocation = #_sourceLocation) {
    let sum = link.counts.total
    #expect(sum.datagrams == sum.passed + sum.lost + sum.droppedByQueue, sourceLocation: sourceLocation)
    #expect(sum.delayed <= sum.passed, sourceLocation: sourceLocation)
    #expect(sum.queued <= sum.delayed && sum.reordered <= sum.delayed, sourceLocation: sourceLocation)
  }

  @Test("without conditions every datagram passes at once")
  func nothing() throws {
    var link = try link("none")
    let passed = fates(&link, count: 1_000).count { $0 == .passes }
    #expect(passed == 1_000)
    #expect(link.counts.total.delayed == 0)
    expectSums(link)
  }

  @Test("the same seed gives the same datagrams the same fates, and another seed gives other fates")
  func repeats() throws {
    let text = "loss=5%,burst=3,delay=80ms,jitter=20ms,rate=1Mbit,reorder=2%"
    var (one, same, other) = (try link(text, seed: 4), try link(text, seed: 4), try link(text, seed: 5))
    let first = fates(&one, count: 5_000)
    let isSame = first == fates(&same, count: 5_000)
    let isOther = first != fates(&other, count: 5_000)
    #expect(isSame && isOther)
    #expect(one.counts == same.counts)
    expectSums(one)
  }

  @Test("whether a datagram is lost depends only on its number, not on other settings, sizes or times")
  func lossIsIndependent() throws {
    var (plain, full) = (try link("loss=10%,burst=2"), try link("loss=10%,burst=2,delay=50ms,jitter=50ms,reorder=30%"))
    let one = fates(&plain, count: 3_000).map { $0 == .dropped(.loss) }
    let other = fates(&full, count: 3_000, every: .microseconds(321)).map { $0 == .dropped(.loss) }
    let isSame = one == other
    #expect(isSame)
  }

  @Test("the rate of single losses is the configured one", arguments: [0.01, 0.05, 0.3])
  func singleLoss(share: Double) throws {
    var link = try link("loss=\(share * 100)%", seed: 9)
    let lost = fates(&link, count: 100_000).count { $0 == .dropped(.loss) }
    print("measured: loss of \(share * 100) %: \(Double(lost) / 1_000) %")
    // Five standard deviations.
    #expect(abs(Double(lost) / 100_000 - share) < 5 * (share * (1 - share) / 100_000).squareRoot())
    expectSums(link)
  }

  @Test(
    "the rate and the mean length of loss bursts are the configured ones",
    arguments: [(0.05, 3.0), (0.02, 8), (0.2, 1.5)])
  func bursts(share: Double, mean: Double) throws {
    var link = try link("loss=\(share * 100)%,burst=\(mean)", seed: 2)
    let lost = fates(&link, count: 300_000).map { $0 == .dropped(.loss) }
    let bursts = zip([false] + lost, lost).count { !$0 && $1 }
    let count = lost.count { $0 }
    let length = Double(count) / Double(bursts)
    print("measured: loss of \(share * 100) % in bursts of \(mean): \(Double(count) / 3_000) %, \(length) in a row")
    #expect(abs(Double(count) / 300_000 - share) < share * 0.06)
    #expect(abs(length - mean) < mean * 0.05)
  }

  @Test("a loss of 100 % drops every datagram")
  func everythingLost() throws {
    var link = try link("loss=100%")
    let lost = fates(&link, count: 1_000).count { $0 == .dropped(.loss) }
    #expect(lost == 1_000)
  }

  @Test("a delay applies to every datagram equally")
  func delay() throws {
    var link = try link("delay=80ms")
    let now = start
    let all = (0..<100).allSatisfy {
      let now = now + .milliseconds(5) * $0
      return link.fate(bytes: 100, kind: .stun, now: now) == .held(until: now + .milliseconds(80))
    }
    #expect(all)
    #expect(link.counts.byKind[.stun]?.delay == .milliseconds(8_000))
  }

  @Test("jitter is uniformly distributed up to its size for sparse datagrams, and never changes the order")
  func jitter() throws {
    var sparse = try link("delay=80ms,jitter=20ms")
    let delays = fates(&sparse, count: 10_000, every: .milliseconds(50)).enumerated().map { number, fate in
      arrival(fate, of: number, every: .milliseconds(50)) - (start + .milliseconds(50) * number)
    }
    let mean = delays.reduce(.zero, +) / 10_000
    let isWithin = delays.allSatisfy { $0 >= .milliseconds(80) && $0 <= .milliseconds(100) }
    #expect(isWithin)
    #expect(abs(mean / .milliseconds(1) - 90) < 0.5)
    var dense = try link("delay=80ms,jitter=20ms")
    let arrivals = fates(&dense, count: 10_000, every: .milliseconds(1)).enumerated().map { number, fate in
      arrival(fate, of: number, every: .milliseconds(1))
    }
    let rises = zip(arrivals, arrivals.dropFirst()).allSatisfy { $0 <= $1 }
    #expect(rises)
    #expect(dense.counts.total.reordered == 0)
  }

  private func arrival(
    _ fate: ImpairedDirection.Fate, of number: Int, every pause: Duration
  ) -> MonotonicInstant {
    if case .held(let instant) = fate { instant } else { start + pause * number }
  }

  @Test("the configured share of datagrams is delayed, overtaken by later ones, and counted if it was")
  func reordering() throws {
    var link = try link("delay=10ms,reorder=2%", seed: 3)
    let arrivals = fates(&link, count: 20_000, every: .milliseconds(2)).enumerated().map { number, fate in
      arrival(fate, of: number, every: .milliseconds(2))
    }
    // A datagram is overtaken if it arrives after one that was sent later.
    var earliestLater = start + .seconds(1_000)
    var overtaken = 0
    for arrival in arrivals.reversed() {
      if arrival > earliestLater { overtaken += 1 }
      earliestLater = min(earliestLater, arrival)
    }
    print("measured: reorder=2% at 500 datagrams/s: \(Double(overtaken) / 200) % overtaken")
    #expect(link.counts.total.reordered == UInt64(overtaken))
    #expect((320...480).contains(overtaken))
    expectSums(link)
  }

  @Test(
    "a rate limit passes the configured rate, and datagrams that would wait longer than the queue allows are dropped")
  func rate() throws {
    var link = try link("rate=500kbit,queue=200ms")
    // 1.6 Mb/s for 10 s.
    let all = fates(&link, count: 2_000)
    let dropped = all.count { $0 == .dropped(.queueIsFull) }
    let longest = all.enumerated().map { number, fate in
      arrival(fate, of: number, every: .milliseconds(5)) - (start + .milliseconds(5) * number)
    }.max()
    let passed = Double(2_000 - dropped) * 8_000 / 10
    print("measured: 1.6 Mb/s over rate=500kbit: \(passed / 1_000) kb/s, at most \(longest ?? .zero) late")
    #expect((490_000...515_000).contains(passed))
    // The wait in the queue, and then the datagram's own transmission time of 16 ms.
    #expect(longest.map { (.milliseconds(200)...(.milliseconds(216))).contains($0) } == true)
    #expect(link.counts.total.droppedByQueue == UInt64(dropped))
    expectSums(link)
    // A datagram that finds an empty queue is delayed only by its transmission time.
    let fates = fates(&link, count: 100, every: .milliseconds(20), from: .seconds(20))
    #expect(fates.first == .held(until: start + .seconds(20) + .milliseconds(16)))
    #expect(link.counts.total.droppedByQueue == UInt64(dropped))
  }

  @Test("steps begin at their time after the clock's start, and the step at 0 s also holds before the start")
  func script() throws {
    var link = try link("0s: delay=10ms; 10s: delay=30ms; 20s: none")
    func delay(at time: Duration) -> Duration {
      let now = start + time
      if case .held(let instant) = link.fate(bytes: 10, kind: .rtp, now: now) { return instant - now }
      return .zero
    }
    #expect(delay(at: .zero) == .milliseconds(10))
    #expect(delay(at: .seconds(15)) == .milliseconds(10))
    link.startClock(now: start + .seconds(15))
    link.startClock(now: start + .seconds(16))
    #expect(delay(at: .milliseconds(24_999)) == .milliseconds(10))
    #expect(delay(at: .seconds(25)) == .milliseconds(30))
    #expect(delay(at: .seconds(35)) == .zero)
  }

  @Test("a script that begins later has no effect until then, and steps that passed between two datagrams are skipped")
  func laterScript() throws {
    var link = try link("5s: loss=100%; 6s: delay=1ms; 7s: delay=2ms")
    link.startClock(now: start)
    #expect(link.fate(bytes: 10, kind: .rtp, now: start + .seconds(4)) == .passes)
    let now = start + .seconds(8)
    #expect(link.fate(bytes: 10, kind: .rtp, now: now) == .held(until: now + .milliseconds(2)))
  }

  @Test("when the delay falls, waiting datagrams are not overtaken")
  func orderOverSteps() throws {
    var link = try link("0s: delay=500ms; 1s: none")
    link.startClock(now: start)
    let all = fates(&link, count: 400).enumerated().map { arrival($1, of: $0, every: .milliseconds(5)) }
    let rises = zip(all, all.dropFirst()).allSatisfy { $0 <= $1 }
    #expect(rises)
    #expect(all.last == start + .milliseconds(1_995))
  }

  @Test("datagrams are counted by kind")
  func kinds() throws {
    var link = try link("loss=50%", seed: 8)
    for number in 0..<1_000 {
      for kind in NetworkStatistics.DatagramKind.allCases {
        _ = link.fate(bytes: 100, kind: kind, now: start + .milliseconds(number))
      }
    }
    for kind in NetworkStatistics.DatagramKind.allCases {
      let counter = link.counts.byKind[kind] ?? .init()
      #expect(counter.datagrams == 1_000)
      #expect((400...600).contains(counter.lost))
      #expect(counter.passed + counter.lost == 1_000)
    }
    expectSums(link)
  }
}

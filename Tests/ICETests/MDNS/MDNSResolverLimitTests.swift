import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Limits and cache of the multicast DNS resolver")
struct MDNSResolverLimitTests: ResolvesNames {
  let start = MonotonicInstant.now

  @Test("the 33rd name in progress fails at once, and a name in progress makes room when it ends")
  func maximumInProgress() {
    var resolver = MDNSResolver()
    for index in 0..<33 { resolver.resolve("n\(index).local", now: start) }
    #expect(resolver.queryCount == 32)
    let actions = resolver.poll(now: start)
    #expect(actions.count == 32 * 4 + 1)
    #expect(actions.contains(.failed("n32.local")))
    resolver.received(MDNSResponses.response("192.0.2.1", name: "n0.local"), from: browser, now: at(10))
    _ = resolver.poll(now: at(30))
    resolver.resolve("n32.local", now: at(30))
    #expect(resolver.queryCount == 32)
    #expect(resolver.deadline == at(30))
  }

  @Test("50 new names may be asked for at once, then 10 per second")
  func rate() {
    var resolver = MDNSResolver()
    var asked = 0
    /// Asks for a new name, answers it, and returns whether it was resolved.
    func isAsked(_ now: MonotonicInstant) -> Bool {
      let name = "n\(asked).local"
      asked += 1
      resolver.resolve(name, now: now)
      let isInProgress = resolver.queryCount == 1
      resolver.received(MDNSResponses.response("192.0.2.1", name: name), from: browser, now: now)
      _ = resolver.poll(now: now + .milliseconds(20))
      return isInProgress
    }
    #expect((0..<60).filter { _ in isAsked(start) }.count == 50)
    #expect((0..<60).filter { _ in isAsked(at(99)) }.isEmpty)
    #expect((0..<60).filter { _ in isAsked(at(1_050)) }.count == 10)
    #expect((0..<60).filter { _ in isAsked(at(100_000)) }.count == 50)
  }

  @Test("a result is reported from the cache for 60 s, and then asked for again")
  func cache() {
    var resolver = asking()
    resolver.received(MDNSResponses.response("192.0.2.1"), from: browser, now: at(0))
    let result = MDNSResolver.Action.resolved("ab.local", [address("192.0.2.1").ip])
    #expect(resolver.poll(now: at(20)) == [result])
    resolver.resolve("AB.local", now: at(60_019))
    #expect(resolver.deadline == at(60_019))
    #expect(resolver.poll(now: at(60_019)) == [result])
    resolver.resolve("ab.local", now: at(60_020))
    #expect(resolver.queryCount == 1)
  }

  @Test("a failure is reported from the cache for 10 s, and then asked for again")
  func failureCache() {
    var resolver = asking()
    #expect(results(of: &resolver, until: at(3_000)) == [.failed("ab.local")])
    resolver.resolve("ab.local", now: at(12_999))
    #expect(resolver.poll(now: at(12_999)) == [.failed("ab.local")])
    resolver.resolve("ab.local", now: at(13_000))
    #expect(resolver.queryCount == 1)
  }

  @Test("the cache has 256 results; one more removes the result that expires first")
  func fullCache() {
    var resolver = MDNSResolver()
    var now = start
    for index in 0..<257 {
      let name = "n\(index).local"
      resolver.resolve(name, now: now)
      resolver.received(MDNSResponses.response("192.0.2.1", name: name), from: browser, now: now)
      _ = resolver.poll(now: now + .milliseconds(20))
      now += .milliseconds(100)
    }
    now += .seconds(30)
    resolver.resolve("n1.local", now: now)
    #expect(resolver.queryCount == 0)
    resolver.resolve("n256.local", now: now)
    #expect(resolver.queryCount == 0)
    resolver.resolve("n0.local", now: now)
    #expect(resolver.queryCount == 1)
  }

  @Test("calls in any order cause no trap, deadlines always advance and the limits hold, for each of 50 seeds")
  func anyOrder() {
    for seed in 0..<50 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var resolver = MDNSResolver(port: seed % 2 == 0 ? 5_353 : 40_000, generator: SeededGenerator(seed: seed))
      var now = start
      var open: Set<String> = []
      for _ in 0..<2_000 {
        let name = "n\(Int.random(in: 0..<400, using: &generator)).local"
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
          resolver.resolve(name, now: now)
          open.insert(name)
        case 1: resolver.received(MDNSResponses.response("192.0.2.1", name: name), from: browser, now: now)
        case 2: now += .milliseconds(Int.random(in: 0...300, using: &generator))
        default:
          for action in resolver.poll(now: now) {
            switch action {
            case .send: continue
            case .resolved(let name, _), .failed(let name):
              open.remove(name)
            }
          }
          if let deadline = resolver.deadline, deadline <= now { Issue.record("seed \(seed): a deadline has passed") }
        }
        if resolver.queryCount > 32 { Issue.record("seed \(seed): \(resolver.queryCount) queries") }
      }
      while let deadline = resolver.deadline {
        for action in resolver.poll(now: max(deadline, now)) {
          switch action {
          case .send: continue
          case .resolved(let name, _), .failed(let name): open.remove(name)
          }
        }
      }
      #expect(open.isEmpty, "seed \(seed): each name has a result")
    }
  }
}

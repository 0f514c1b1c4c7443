import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Pacing of checks over all agents")
struct CheckPacerTests {
  /// Returns the time and the agent of each new transaction, while no check is answered.
  private func newChecks(ofAgents count: Int, addresses: Int, during: Duration) -> [(agent: Int, time: Duration)] {
    let pace = CheckPacer()
    let start = MonotonicInstant.now
    var agents = (0..<count).map { number in
      var one = agent(.controlling, Known.leftCredentials, hosts: [Known.left], seed: UInt64(number + 1))
      one.know(Known.rightCredentials, now: start)
      for index in 0..<addresses {
        let text = "candidate:\(index) 1 udp 2130706431 198.51.\(number % 256).\(index) 5000 typ host"
        if let candidate = try? ICECandidate(parsing: text) { one.addRemoteCandidate(candidate, now: start) }
      }
      return one
    }
    var seen: Set<STUNTransactionID> = []
    var found: [(Int, Duration)] = []
    var now = start
    while now < start + during {
      for index in agents.indices where agents[index].deadline.map({ $0 <= now }) == true {
        for action in agents[index].poll(now: now, pace: pace) {
          guard case .send(let datagram, _, _) = action, let routing = STUNRouting(datagram) else { continue }
          if seen.insert(routing.transactionID).inserted { found.append((index, now - start)) }
        }
      }
      now += .milliseconds(1)
    }
    return found
  }

  @Test("new checks of fifty agents are sent at least 5 ms apart, and all agents get equal turns")
  func fairness() {
    let checks = newChecks(ofAgents: 50, addresses: 50, during: .seconds(5))
    let pauses = zip(checks.dropFirst(), checks).map { $0.time - $1.time }
    #expect(pauses.min() ?? .zero >= .milliseconds(5))
    let counts = Dictionary(grouping: checks, by: \.agent).mapValues(\.count)
    print(
      "measured: \(checks.count) new checks in 5 s, \(counts.values.min() ?? 0) to \(counts.values.max() ?? 0) an agent"
    )
    #expect(checks.count >= 950)
    #expect(counts.count == 50)
    #expect((counts.values.max() ?? 0) - (counts.values.min() ?? 0) <= 1)
  }

  @Test("a single agent sends a check every 20 ms")
  func soleAgent() {
    let times = newChecks(ofAgents: 1, addresses: 20, during: .milliseconds(500)).map(\.time)
    #expect(times == (0..<20).map { .milliseconds(20) * $0 })
  }

  @Test("an agent with one candidate is not delayed by another with fifty")
  func noStarvation() {
    let pace = CheckPacer()
    let now = MonotonicInstant.now
    var greedy = agent(.controlling, Known.leftCredentials, hosts: [Known.left])
    greedy.know(Known.rightCredentials, now: now)
    for index in 0..<50 {
      let text = "candidate:\(index) 1 udp 2130706431 198.51.100.\(index) 5000 typ host"
      if let candidate = try? ICECandidate(parsing: text) { greedy.addRemoteCandidate(candidate, now: now) }
    }
    for _ in 0..<10 { _ = greedy.poll(now: now, pace: pace) }
    var modest = agent(.controlling, Known.leftCredentials, hosts: [Known.left])
    modest.know(Known.rightCredentials, now: now)
    modest.know(agent(.controlled, Known.rightCredentials, hosts: [Known.right]).localCandidates, now: now)
    #expect(modest.poll(now: now, pace: pace) == [.state(.checking)])
    #expect(modest.deadline == now + .milliseconds(5))
    #expect(modest.poll(now: now + .milliseconds(5), pace: pace).count == 1)
  }
}

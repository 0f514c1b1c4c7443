import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Trickle")
struct TrickleTests {
  @Test("candidates that arrive seconds after the credentials connect immediately")
  func lateCandidates() throws {
    var line = SimulatedPath.agents()
    line.exchangeCredentials()
    line.run(.seconds(5))
    #expect(line.left.state == .checking)
    line.left.know(line.right.localCandidates, now: line.now)
    let time = try #require(line.run(.seconds(1)) { $0.isComplete })
    #expect(time < .milliseconds(100))
  }

  @Test("candidates that arrive before the credentials are kept")
  func earlyCandidates() throws {
    var line = SimulatedPath.agents()
    line.exchangeCandidates()
    line.run(.seconds(5))
    #expect(line.left.state == .new)
    #expect(line.left.statistics.checksSent == 0)
    line.exchangeCredentials()
    #expect(line.run(.milliseconds(100)) { $0.isComplete } != nil)
  }

  @Test("a side without remote candidates learns them from the remote peer's checks", arguments: [true, false])
  func noCandidatesOnOneSide(leftKnows: Bool) throws {
    var line = SimulatedPath.agents()
    line.exchangeCredentials()
    if leftKnows {
      line.left.know(line.right.localCandidates, now: line.now)
    } else {
      line.right.know(line.left.localCandidates, now: line.now)
    }
    #expect(line.run(.milliseconds(100)) { $0.isComplete } != nil)
    let learnt = leftKnows ? line.right.selectedPair : line.left.selectedPair
    #expect(learnt?.remoteType == .peerReflexive)
  }

  @Test("checks that arrive before the credentials are answered at once, and triggered checks follow the credentials")
  func checksBeforeCredentials() throws {
    var line = SimulatedPath.agents()
    line.right.know(line.left.localCredentials, now: line.now)
    line.right.know(line.left.localCandidates, now: line.now)
    line.run(.seconds(3))
    #expect(line.right.selectedPair != nil)
    #expect(line.left.state == .new)
    #expect(line.left.statistics.checksSent == 0)
    #expect(line.left.isValidated(local: Known.left, remote: Known.right))
    line.left.know(line.right.localCredentials, now: line.now)
    #expect(line.run(.milliseconds(100)) { $0.isComplete } != nil)
  }

  @Test("a nomination that arrived before the credentials is kept")
  func nominationBeforeCredentials() throws {
    var line = SimulatedPath.agents()
    line.left.know(line.right.localCredentials, now: line.now)
    line.left.know(line.right.localCandidates, now: line.now)
    line.run(.seconds(3))
    #expect(line.left.state == .completed)
    line.right.know(line.left.localCredentials, now: line.now)
    #expect(line.run(.milliseconds(100)) { $0.right.state == .completed } != nil)
  }

  @Test("without candidates on either side nothing is sent, and the agent fails after 40 s")
  func noCandidatesAtAll() {
    var line = SimulatedPath.agents()
    line.exchangeCredentials()
    line.run(.seconds(39))
    #expect(line.left.state == .checking)
    line.run(.seconds(2))
    #expect(line.left.state == .failed)
    #expect(line.left.statistics.checksSent == 0)
  }

  @Test("a failed agent connects when a candidate arrives later")
  func candidateAfterFailure() throws {
    var line = SimulatedPath.agents()
    line.exchangeCredentials()
    line.run(.seconds(60))
    #expect(line.left.state == .failed)
    line.right.know(line.left.localCandidates, now: line.now)
    #expect(line.run(.milliseconds(100)) { $0.isComplete } != nil)
  }

  @Test("names, TCP, other components and unreachable addresses are counted and ignored")
  func uselessCandidates() throws {
    var agent = agent(.controlling, Known.leftCredentials, hosts: [Known.left, Known.leftV6])
    let now = MonotonicInstant.now
    agent.know(Known.rightCredentials, now: now)
    for text in [
      "candidate:4211254378 1 udp 2113937151 76edc3c7-46bf-4f06-a614-2c26338ff10a.local 59019 typ host",
      "candidate:2 1 TCP 2105458943 10.99.0.1 9 typ host tcptype active",
      "candidate:0 2 UDP 2122187006 10.99.0.1 37386 typ host",
      "candidate:0 1 UDP 2122187006 0.0.0.0 37386 typ host",
      "candidate:0 1 UDP 2122187006 224.0.0.1 37386 typ host",
      "candidate:0 1 UDP 2122187006 fe80::1 37386 typ host",
      "candidate:0 1 UDP 2122187006 10.0.0.1 0 typ host",
    ] { agent.addRemoteCandidate(try ICECandidate(parsing: text), now: now) }
    #expect(agent.statistics.unresolvableCandidates == 1)
    #expect(agent.statistics.ignoredCandidates == 6)
    #expect(agent.statistics.remoteCandidates == 0)
    _ = agent.poll(now: now)
    #expect(agent.statistics.checksSent == 0)
  }

  @Test("candidates with another username fragment wait for its session")
  func otherFragment() throws {
    let now = MonotonicInstant.now
    var agent = agent(.controlling, Known.leftCredentials, hosts: [Known.left])
    agent.know(Known.rightCredentials, now: now)
    agent.addRemoteCandidate(
      try ICECandidate(parsing: "candidate:1 1 udp 1 192.0.2.9 5000 typ host generation 1 ufrag nextnext"), now: now)
    #expect(agent.statistics.remoteCandidates == 0)
    agent.setRemote(usernameFragment: "nextnext", password: "next-password-24-characters", isLite: false, now: now)
    #expect(agent.statistics.remoteCandidates == 1)
  }

  @Test("a local address that is added later is paired with the known candidates")
  func lateLocalHost() throws {
    var line = SimulatedPath.agents(left: [])
    line.exchangeAll()
    line.run(.seconds(1))
    line.left.addLocalHost(Known.left)
    #expect(line.run(.milliseconds(200)) { $0.isComplete } != nil)
  }

  @Test("a flood of candidates is limited to 50 candidates and 100 pairs")
  func flood() throws {
    let now = MonotonicInstant.now
    let hosts = (1...16).map { address("10.0.0.\($0)") }
    var agent = agent(.controlling, Known.leftCredentials, hosts: hosts)
    #expect(agent.addLocalHost(address("10.0.0.99")) == nil)
    for number in 0..<5_000 {
      let candidate = ICECandidate(
        foundation: "1", priority: UInt32(number), host: .address(.v4(0x0B00_0000 + UInt32(number))), port: 9,
        type: .host)
      agent.addRemoteCandidate(candidate, now: now)
    }
    agent.know(Known.rightCredentials, now: now)
    #expect(agent.statistics.remoteCandidates == 50)
    var line = SimulatedPath(
      left: agent,
      right: ScriptedPeer(hosts: [], credentials: Known.rightCredentials, remote: Known.leftCredentials), now: now)
    line.run(.seconds(60))
    #expect(Set(line.events.compactMap(destination)).count <= 100)
    #expect(line.left.statistics.checksSent < 3_000)
  }

  private func destination(_ event: SimulatedPath<ScriptedPeer>.Event) -> [TransportAddress]? {
    if case .send(_, let from, let to) = event.action { [from, to] } else { nil }
  }
}

import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Nomination")
struct NominationTests {
  private let rights = [address("192.0.2.2"), address("192.0.2.3"), address("192.0.2.4")]

  /// Returns a controlled agent and a peer that sends planned checks and answers all checks.
  private func controlledLine(now: MonotonicInstant) -> SimulatedPath<ScriptedPeer> {
    var line = SimulatedPath(
      left: agent(.controlled, Known.leftCredentials, hosts: [Known.left]),
      right: ScriptedPeer(hosts: rights, credentials: Known.rightCredentials, remote: Known.leftCredentials), now: now)
    line.right.role = .controlling
    line.left.know(Known.rightCredentials, now: now)
    // In descending priority.
    for (index, right) in rights.enumerated() {
      line.left.addRemoteCandidate(
        ICECandidate(
          foundation: "\(index)", priority: ICECandidateType.host.priority(localPreference: UInt16(9_000 - index)),
          host: .address(right.ip), port: right.port, type: .host), now: now)
    }
    return line
  }

  @Test("with aggressive nomination the pair of highest priority is used")
  func aggressive() throws {
    let now = MonotonicInstant.now
    var line = controlledLine(now: now)
    // The worst pair is checked first, the best last, and every check nominates.
    line.right.plan = [2, 1, 0].enumerated().map { step, index in
      .init(
        time: now + .milliseconds(200 * step + 50), from: rights[index], to: Known.left, nominates: true)
    }
    line.run(.milliseconds(150))
    #expect(line.left.state == .completed)
    #expect(line.left.selectedPair?.remote == rights[2])
    line.run(.seconds(1))
    #expect(line.left.selectedPair?.remote == rights[0])
    #expect(line.left.state == .completed)
  }

  @Test("a nomination long after another replaces it, even at a lower priority")
  func renomination() throws {
    let now = MonotonicInstant.now
    var line = controlledLine(now: now)
    line.right.plan = [
      .init(time: now + .milliseconds(50), from: rights[0], to: Known.left, nominates: true),
      .init(time: now + .seconds(12), from: rights[1], to: Known.left, nominates: true),
    ]
    line.run(.seconds(11))
    #expect(line.left.selectedPair?.remote == rights[0])
    line.run(.seconds(2))
    #expect(line.left.selectedPair?.remote == rights[1])
    #expect(line.left.state == .completed)
  }

  @Test("the controlled side uses the best working pair until one is nominated")
  func beforeNomination() throws {
    let now = MonotonicInstant.now
    var line = controlledLine(now: now)
    line.run(.seconds(1))
    #expect(line.left.state == .connected)
    #expect(line.left.selectedPair?.remote == rights[0])
    line.right.plan = [.init(time: now + .seconds(2), from: rights[1], to: Known.left, nominates: true)]
    line.run(.seconds(2))
    #expect(line.left.state == .completed)
    #expect(line.left.selectedPair?.remote == rights[1])
  }

  @Test("USE-CANDIDATE from the controlled side is ignored")
  func notTheirsToNominate() throws {
    var line = SimulatedPath(
      left: agent(.controlling, Known.leftCredentials, hosts: [Known.left]),
      right: ScriptedPeer(hosts: rights, credentials: Known.rightCredentials, remote: Known.leftCredentials))
    line.left.know(Known.rightCredentials, now: line.now)
    line.right.answers = false
    line.right.plan = [.init(time: line.now, from: rights[0], to: Known.left, nominates: true)]
    line.run(.seconds(1))
    #expect(line.left.state == .checking)
    #expect(line.left.selectedPair == nil)
  }

  @Test(
    "the controlling side nominates one pair only, three round trips after the first valid pair, bounded to 20 to 100 ms",
    arguments: [(1, 20), (10, 60), (30, 100)])
  func regular(delay: Int64, wait: Int64) throws {
    var line = SimulatedPath(
      left: agent(.controlling, Known.leftCredentials, hosts: [Known.left]),
      right: ScriptedPeer(hosts: rights, credentials: Known.rightCredentials, remote: Known.leftCredentials))
    line.left.know(Known.rightCredentials, now: line.now)
    line.delay = delay...delay
    // The best address does not answer, so the agent has to wait for it.
    let best = rights[0]
    line.isBlocked = { _, to in to == best }
    for (index, right) in rights.enumerated() {
      line.left.addRemoteCandidate(
        ICECandidate(
          foundation: "\(index)", priority: UInt32(9_000_000 - index), host: .address(right.ip), port: right.port,
          type: .host), now: line.now)
    }
    line.run(.seconds(3))
    #expect(line.left.state == .completed)
    let nominations = line.right.requests.filter(\.usesCandidate)
    #expect(nominations.count == 1)
    let connected = try #require(line.time(of: .connected, at: .left))
    let completed = try #require(line.time(of: .completed, at: .left))
    let waited = completed - connected - .milliseconds(2 * delay)
    // The check also waits for its pacing slot, 20 ms at most.
    #expect(waited >= .milliseconds(wait) && waited <= .milliseconds(wait + 20))
    #expect(line.left.selectedPair?.remote == rights[1])
  }

  @Test("every path with an answered check is validated, nominated or not")
  func allValidPathsAreOpen() throws {
    let now = MonotonicInstant.now
    var line = controlledLine(now: now)
    line.right.plan = [.init(time: now + .milliseconds(300), from: rights[1], to: Known.left, nominates: true)]
    line.run(.seconds(1))
    for right in rights { #expect(line.left.isValidated(local: Known.left, remote: right)) }
    #expect(!line.left.isValidated(local: Known.left, remote: address("192.0.2.5")))
    #expect(!line.left.isValidated(local: Known.left, remote: address("192.0.2.2", 5_001)))
    #expect(!line.left.isValidated(local: address("192.0.2.77"), remote: rights[0]))
  }
}

import ICE
import NIOCore
import TestSupport
import Testing

@Suite("Roles")
struct RoleTests {
  @Test(
    "when both sides have the same role, the side with the higher tie-breaker becomes controlling",
    arguments: [ICEAgent.Role.controlling, .controlled], [true, false])
  func conflict(role: ICEAgent.Role, leftIsHigher: Bool) throws {
    var line = SimulatedPath.agents(roles: (role, role), tieBreakers: leftIsHigher ? (9, 3) : (3, 9))
    line.exchangeAll()
    let time = try #require(line.run(.seconds(1)) { $0.isComplete })
    #expect(time < .milliseconds(200))
    #expect(line.left.role == (leftIsHigher ? .controlling : .controlled))
    #expect(line.right.role == (leftIsHigher ? .controlled : .controlling))
  }

  @Test("equal tie-breakers are replaced until they differ", arguments: [ICEAgent.Role.controlling, .controlled])
  func equalTieBreakers(role: ICEAgent.Role) throws {
    var line = SimulatedPath.agents(roles: (role, role), tieBreakers: (5, 5))
    line.exchangeAll()
    #expect(line.run(.seconds(2)) { $0.isComplete } != nil)
    #expect(line.left.role != line.right.role)
  }

  @Test("a role conflict is resolved under 30 % loss, for each of 100 seeds")
  func conflictUnderLoss() throws {
    for seed in 0..<100 as Range<UInt64> {
      var line = SimulatedPath.agents(
        left: [Known.left, Known.leftV6], right: [Known.right, Known.rightV6],
        roles: seed % 2 == 0 ? (.controlling, .controlling) : (.controlled, .controlled), seed: seed)
      line.delay = 5...60
      line.loss = 0.3
      line.exchangeAll()
      try #require(line.run(.seconds(20)) { $0.isComplete } != nil, "seed \(seed)")
      #expect(line.left.role != line.right.role, "seed \(seed)")
    }
  }

  @Test("the side that must switch its role receives an authenticated 487")
  func rejection() throws {
    var line = SimulatedPath.agents(roles: (.controlling, .controlling), tieBreakers: (9, 3))
    line.exchangeAll()
    line.run(.seconds(1))
    let rejections = line.sent[.left, default: []].compactMap { try? STUNMessage(parsing: $0) }
      .filter { $0.kind == .errorResponse }
    let rejection = try #require(rejections.first)
    #expect(rejection.errorCode == .roleConflict)
    #expect(rejection.isAuthentic(key: Array(Known.leftCredentials.password.utf8)))
    #expect(rejection.hasValidFingerprint == true)
  }

  @Test("a peer whose responses name no address is connected to all the same, as with libwebrtc")
  func responseWithoutAddress() throws {
    var peer = ScriptedPeer(hosts: [Known.right], credentials: Known.rightCredentials, remote: Known.leftCredentials)
    peer.namesAddress = false
    var line = SimulatedPath(left: agent(.controlling, Known.leftCredentials, hosts: [Known.left]), right: peer)
    line.left.know(Known.rightCredentials, isLite: false, now: line.now)
    line.left.know(agent(.controlled, Known.rightCredentials, hosts: [Known.right]).localCandidates, now: line.now)
    #expect(line.run(.seconds(1)) { $0.left.state == .completed } != nil)
  }

  @Test(
    "the agent becomes controlling and nominates towards a lite peer, whatever its role was",
    arguments: [ICEAgent.Role.controlling, .controlled])
  func liteRemote(role: ICEAgent.Role) throws {
    var line = SimulatedPath(
      left: agent(role, Known.leftCredentials, hosts: [Known.left]),
      right: ScriptedPeer(hosts: [Known.right], credentials: Known.rightCredentials, remote: Known.leftCredentials))
    line.left.know(Known.rightCredentials, isLite: true, now: line.now)
    let host = agent(.controlled, Known.rightCredentials, hosts: [Known.right]).localCandidates
    line.left.know(host, now: line.now)
    let time = try #require(line.run(.seconds(1)) { $0.left.state == .completed })
    #expect(time < .milliseconds(100))
    #expect(line.left.role == .controlling)
    #expect(line.right.requests.contains { $0.usesCandidate })
    #expect(line.right.requests.allSatisfy { $0.iceControlling != nil && $0.iceControlled == nil })
    line.run(.seconds(60))
    #expect(line.left.state == .completed)
  }
}

import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Address translation")
struct TranslationTests {
  private let inside = address("10.0.0.5")
  private let outside = IPAddress.v4(0xCB00_7107)  // 203.0.113.7

  @Test("a remote peer behind a NAT is reached at the source address of its checks", arguments: [true, false])
  func remoteBehindNAT(isSymmetric: Bool) throws {
    var line = SimulatedPath.agents(right: [inside])
    line.rightNAT = AddressTranslator(outside: outside, isSymmetric: isSymmetric)
    line.exchangeAll()
    let time = try #require(line.run(.seconds(2)) { $0.isComplete })
    #expect(time < .milliseconds(300))
    #expect(line.left.selectedPair?.remote.ip == outside)
    #expect(line.left.selectedPair?.remoteType == .peerReflexive)
    #expect(line.right.selectedPair?.local == inside)
    #expect(line.right.selectedPair?.localType == .peerReflexive)
    #expect(line.right.selectedPair?.remoteType == .host)
  }

  @Test("an agent behind a NAT reaches a public peer that does not know its candidates")
  func weBehindNAT() throws {
    var line = SimulatedPath.agents(left: [inside])
    line.leftNAT = AddressTranslator(outside: outside)
    line.exchangeCredentials()
    line.left.know(line.right.localCandidates, now: line.now)
    #expect(line.run(.milliseconds(100)) { $0.isComplete } != nil)
    #expect(line.left.selectedPair?.localType == .peerReflexive)
  }

  @Test("two sides behind filtering NATs connect through their server-reflexive candidates")
  func bothBehindNAT() throws {
    let leftInside = address("10.0.0.5")
    let rightInside = address("172.16.0.9")
    var line = SimulatedPath.agents(left: [leftInside], right: [rightInside])
    var leftNAT = AddressTranslator(outside: address("203.0.113.7").ip)
    var rightNAT = AddressTranslator(outside: address("198.51.100.3").ip)
    // The addresses that a STUN server would report.
    let server = address("198.51.100.200", 3_478)
    line.left.addServerReflexive(mapped: leftNAT.leaving(leftInside, server), base: leftInside)
    line.right.addServerReflexive(mapped: rightNAT.leaving(rightInside, server), base: rightInside)
    line.leftNAT = leftNAT
    line.rightNAT = rightNAT
    line.delay = 15...25
    line.exchangeAll()
    let time = try #require(line.run(.seconds(3)) { $0.isComplete })
    #expect(time < .seconds(1))
    #expect(line.left.selectedPair?.remoteType == .serverReflexive)
    #expect(line.left.selectedPair?.localType == .serverReflexive)
  }

  @Test("a call survives a NAT that loses its mappings, after some seconds", arguments: [true, false])
  func natForgets(leftControls: Bool) throws {
    var line = SimulatedPath.agents(
      right: [inside], roles: leftControls ? (.controlling, .controlled) : (.controlled, .controlling))
    line.rightNAT = AddressTranslator(outside: outside)
    line.exchangeAll()
    try #require(line.run(.seconds(2)) { $0.isComplete } != nil)
    let before = line.left.selectedPair?.remote
    line.run(.seconds(7))
    line.rightNAT?.forget()
    let time = try #require(
      line.run(.seconds(25)) { $0.isComplete && $0.left.selectedPair?.remote != before })
    #expect(time < .seconds(20))
    #expect(line.left.selectedPair?.remote.ip == outside)
    line.run(.seconds(60))
    #expect(line.isComplete)
  }

  @Test("a candidate that is signalled after its address was discovered gets the signalled type and priority")
  func toldAfterDiscovery() throws {
    var line = SimulatedPath.agents()
    line.exchangeCredentials()
    line.right.know(line.left.localCandidates, now: line.now)
    try #require(line.run(.seconds(1)) { $0.isComplete } != nil)
    #expect(line.left.selectedPair?.remoteType == .peerReflexive)
    line.left.know(line.right.localCandidates, now: line.now)
    #expect(line.left.selectedPair?.remoteType == .host)
    #expect(line.left.statistics.remoteCandidates == 1)
  }

  @Test("a relayed candidate of the remote peer is an address like any other")
  func relayedRemote() throws {
    let now = MonotonicInstant.now
    var line = SimulatedPath(
      left: agent(.controlling, Known.leftCredentials, hosts: [Known.left]),
      right: ScriptedPeer(
        hosts: [address("198.51.100.9", 50_000)], credentials: Known.rightCredentials, remote: Known.leftCredentials),
      now: now)
    line.left.know(Known.rightCredentials, now: now)
    let relayed = "candidate:3 1 udp 41885439 198.51.100.9 50000 typ relay raddr 203.0.113.7 rport 40001"
    line.left.addRemoteCandidate(try ICECandidate(parsing: relayed), now: now)
    #expect(line.run(.milliseconds(100)) { $0.left.state == .completed } != nil)
    #expect(line.left.selectedPair?.remoteType == .relayed)
  }

  @Test("a mapped address equal to the base, or of an unknown base, creates no candidate")
  func uselessMappings() {
    var agent = agent(.controlling, Known.leftCredentials, hosts: [Known.left])
    #expect(agent.addServerReflexive(mapped: Known.left, base: Known.left) == nil)
    #expect(agent.addServerReflexive(mapped: address("203.0.113.7"), base: Known.right) == nil)
    #expect(agent.addServerReflexive(mapped: Known.leftV6, base: Known.left) == nil)
    let candidate = agent.addServerReflexive(mapped: address("203.0.113.7", 40_001), base: Known.left)
    #expect(candidate?.type == .serverReflexive)
    #expect(candidate?.related == .init(address: "192.0.2.1", port: 5_000))
    #expect(agent.localCandidates.count == 2)
  }
}

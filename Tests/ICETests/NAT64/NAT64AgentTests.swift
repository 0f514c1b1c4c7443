import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("IPv4 participants of an IPv6-only network")
struct NAT64AgentTests {
  private let inside = address("2001:db8:1::5")
  private let outside = IPAddress.v4(0xC633_6407)  // 198.51.100.7
  private let prefix: NAT64Prefix

  init() throws {
    prefix = try #require(NAT64Prefix(address("2001:db8:64::").ip, length: 96))
  }

  /// An agent with IPv4 on the left, one behind a NAT64 on the right.
  private func line(
    left: [TransportAddress] = [Known.left], roles: (ICEAgent.Role, ICEAgent.Role) = (.controlling, .controlled)
  ) -> SimulatedPath<ICEAgent> {
    var line = SimulatedPath.agents(left: left, right: [inside], roles: roles)
    line.rightNAT = AddressTranslator(outside: outside, nat64: prefix)
    return line
  }

  @Test("an IPv4 participant is reached through the NAT64, and keeps its type", arguments: [true, false])
  func connects(controls: Bool) throws {
    var line = line(roles: controls ? (.controlled, .controlling) : (.controlling, .controlled))
    line.right.setNAT64(prefix, now: line.now)
    line.exchangeAll()
    try #require(line.run(.seconds(2)) { $0.isComplete } != nil)
    let pair = try #require(line.right.selectedPair)
    #expect(pair.remote == prefix.synthesized(from: Known.left))
    #expect(pair.remoteType == .host)
    #expect(pair.local == inside)
    #expect(line.left.selectedPair?.remote.ip == outside)
  }

  @Test("an IPv4 participant is reached when the prefix becomes known after the candidates")
  func lateDiscovery() throws {
    var line = line()
    line.exchangeAll()
    #expect(line.run(.seconds(2)) { $0.isComplete } == nil)
    line.right.setNAT64(prefix, now: line.now)
    #expect(line.run(.seconds(2)) { $0.isComplete } != nil)
    #expect(line.right.selectedPair?.remoteType == .host)
  }

  @Test("without a prefix there is no pair")
  func withoutPrefix() {
    var line = line()
    line.exchangeAll()
    #expect(line.run(.seconds(3)) { $0.isComplete } == nil)
    #expect(line.right.statistics.checksSent == 0)
  }

  @Test("the address that a STUN server reports over the NAT64 is a server-reflexive candidate, and is recognised")
  func reflexive() throws {
    var line = line()
    line.right.setNAT64(prefix, now: line.now)
    let server = address("198.51.100.200", 3_478)
    var translator = AddressTranslator(outside: outside, nat64: prefix)
    let mapped = translator.leaving(inside, server)
    line.rightNAT = translator
    let added = line.right.addServerReflexive(mapped: mapped, base: inside)
    let candidate = try #require(added)
    #expect(candidate.type == .serverReflexive)
    #expect(candidate.address == mapped)
    #expect(candidate.related?.address == "\(inside.ip)")
    line.exchangeAll()
    try #require(line.run(.seconds(2)) { $0.isComplete } != nil)
    #expect(line.right.selectedPair?.localType == .serverReflexive)
    #expect(line.left.selectedPair?.remoteType == .serverReflexive)
    let reverse = line.left.addServerReflexive(mapped: address("2001:db8::9"), base: Known.left)
    #expect(reverse == nil)
  }

  @Test("private addresses are not reached through the NAT64 unless they are allowed")
  func privateAddresses() throws {
    for allows in [true, false] {
      var agent = agent(.controlling, Known.rightCredentials, hosts: [inside])
      let now = MonotonicInstant.now
      agent.allowsLocalCandidates = allows
      agent.setNAT64(prefix, now: now)
      agent.know(Known.leftCredentials, now: now)
      let hidden = try #require(prefix.synthesized(from: address("192.168.1.7")))
      for (foundation, host) in [(1, "10.0.0.5"), (2, "\(hidden.ip)")] {
        agent.know(
          [try ICECandidate(parsing: "candidate:\(foundation) 1 udp 2113937151 \(host) 5000 typ host")], now: now)
      }
      var targets: Set<TransportAddress> = []
      for step in 0..<20 {
        for action in agent.poll(now: now + .milliseconds(20 * step)) {
          if case .send(_, _, let target) = action { targets.insert(target) }
        }
      }
      let expected = try #require(prefix.synthesized(from: address("10.0.0.5")))
      #expect(targets == (allows ? [expected, hidden] : []))
    }
  }

  @Test("another prefix replaces the former one, and the selected pair stays")
  func otherPrefix() throws {
    var line = line()
    line.right.setNAT64(prefix, now: line.now)
    line.exchangeAll()
    try #require(line.run(.seconds(2)) { $0.isComplete } != nil)
    let before = line.right.selectedPair
    line.right.setNAT64(.wellKnown, now: line.now)
    line.run(.seconds(2))
    #expect(line.right.selectedPair?.remote == before?.remote)
    line.right.setNAT64(nil, now: line.now)
    line.run(.seconds(2))
    #expect(line.right.selectedPair?.remote == before?.remote)
    #expect(line.right.state == .completed)
  }
}

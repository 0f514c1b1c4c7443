import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("ICE over TCP")
struct TCPCandidateTests {
  private static func listener(_ ip: String, _ port: UInt16 = 4_443) -> TransportAddress {
    var listener = address(ip, port)
    listener.transport = .tcp
    return listener
  }

  private static func active(_ ip: String) -> TransportAddress { .activeTCP(address(ip).ip) }

  /// Two agents of which one accepts connections and the other opens them.
  private static func agents(
    leftAccepts: Bool = true, left: [TransportAddress] = [], right: [TransportAddress] = [], seed: UInt64 = 1
  ) -> SimulatedPath<ICEAgent> {
    .agents(
      left: left + [leftAccepts ? listener("192.0.2.1") : active("192.0.2.1")],
      right: right + [leftAccepts ? active("192.0.2.2") : listener("192.0.2.2")], seed: seed)
  }

  @Test("candidates are written as in RFC 6544")
  func text() throws {
    var agent = agent(.controlling, Known.leftCredentials, hosts: [])
    agent.addLocalHost(Self.listener("192.0.2.1"))
    agent.addLocalHost(Self.active("192.0.2.1"))
    agent.addLocalHost(Known.left)
    try #require(agent.localCandidates.count == 3)
    let (passive, active, udp) = (agent.localCandidates[0], agent.localCandidates[1], agent.localCandidates[2])
    #expect(passive.attributeValue.hasSuffix(" 1 tcp \(passive.priority) 192.0.2.1 4443 typ host tcptype passive"))
    #expect(active.attributeValue.hasSuffix(" 1 tcp \(active.priority) 192.0.2.1 9 typ host tcptype active"))
    #expect(udp.priority > active.priority && active.priority > passive.priority)
    #expect(
      Set([udp, active, passive].map(\.foundation)).count == 2, "TCP candidates of a base share their foundation.")
    // 90 as type preference, 6 or 4 as direction preference.
    #expect(active.priority >> 24 == 90 && active.priority >> 21 & 7 == 6)
    #expect(passive.priority >> 24 == 90 && passive.priority >> 21 & 7 == 4)
  }

  @Test("the candidates of browsers and of libnice are read")
  func reading() throws {
    let chromium = try ICECandidate(
      parsing:
        "candidate:2213672593 1 tcp 1518280447 192.168.1.7 9 typ host tcptype active generation 0 ufrag Ab3d network-id 1"
    )
    #expect(chromium.tcpType == .active && chromium.address?.transport == .tcp)
    let firefox = try ICECandidate(parsing: "candidate:1 1 TCP 2105524479 192.168.1.7 9 typ host tcptype active")
    #expect(firefox.tcpType == .active)
    let libnice = try ICECandidate(parsing: "candidate:9 1 TCP 847249663 10.0.0.7 40123 typ host tcptype passive")
    #expect(libnice.tcpType == .passive && libnice.address == Self.listener("10.0.0.7", 40_123))
    #expect(try ICECandidate(parsing: "candidate:9 1 TCP 1 10.0.0.7 1 typ host").tcpType == nil)
  }

  @Test("a connection is opened by the active side, and both agree on it", arguments: [true, false])
  func connecting(leftAccepts: Bool) throws {
    var path = Self.agents(leftAccepts: leftAccepts)
    path.exchangeAll()
    #expect(path.run(.seconds(2)) { $0.isComplete } != nil)
    let (left, right) = (try #require(path.left.selectedPair), try #require(path.right.selectedPair))
    let (opener, listener) = leftAccepts ? (right, left) : (left, right)
    #expect(opener.local.isActiveTCP && opener.remote == listener.local)
    #expect(listener.remote.transport == .tcp && listener.remote.port > 50_000)
    #expect(opener.localType == .host && opener.remoteType == .host)
    #expect(listener.localType == .host && listener.remoteType == .peerReflexive)
  }

  @Test("UDP is preferred where it works")
  func preference() {
    var path = Self.agents(left: [Known.left], right: [Known.right])
    path.exchangeAll()
    #expect(path.run(.seconds(2)) { $0.isComplete } != nil)
    #expect(path.left.selectedPair?.local == Known.left && path.right.selectedPair?.local == Known.right)
  }

  @Test("TCP is used where UDP is blocked")
  func fallback() {
    var path = Self.agents(left: [Known.left], right: [Known.right])
    path.isBlocked = { from, _ in from.transport == .udp }
    path.exchangeAll()
    #expect(path.run(.seconds(5)) { $0.isComplete } != nil)
    #expect(path.left.selectedPair?.local.transport == .tcp)
    #expect(path.isAgreed == false, "The two ends of a connection have different names for the opener's port.")
  }

  @Test("checks over TCP are sent once: the protocol repeats what is lost")
  func noRetransmission() {
    var path = Self.agents(left: [])
    path.isBlocked = { _, _ in true }
    path.exchangeAll()
    path.run(.seconds(20))
    #expect(path.sent[.right]?.count == 1)
  }

  @Test("a connection that ends is opened again, and media moves to the new one")
  func reopening() throws {
    var path = Self.agents()
    path.exchangeAll()
    #expect(path.run(.seconds(2)) { $0.isComplete } != nil)
    let former = try #require(path.left.selectedPair?.remote)
    for connection in path.connections.endAll() {
      path.left.connectionEnded(local: connection.listener, remote: connection.source, now: path.now)
      path.right.connectionEnded(local: connection.opener, remote: connection.listener, now: path.now)
    }
    #expect(path.left.selectedPair == nil && path.right.selectedPair == nil)
    #expect(path.run(.seconds(2)) { $0.isComplete } != nil)
    let next = try #require(path.left.selectedPair?.remote)
    #expect(next != former)
  }

  @Test("a connection that is refused again and again is given up")
  func refusal() {
    var path = Self.agents()
    path.isBlocked = { _, _ in true }
    path.exchangeAll()
    for _ in 0..<20 {
      path.run(.seconds(1))
      for connection in path.connections.endAll() {
        path.right.connectionEnded(local: connection.opener, remote: connection.listener, now: path.now)
      }
    }
    #expect(path.sent[.right]?.count == 1)
    path.run(.seconds(60))
    #expect(path.right.state == .failed)
  }

  @Test("addresses for TCP do not count towards the limits of those for UDP and of relays")
  func limits() {
    var path = SimulatedPath.agents(left: [], right: [])
    for number in 1...20 {
      path.left.addLocalHost(Self.listener("192.0.2.\(number)"), now: path.now)
      path.left.addLocalHost(Self.active("192.0.2.\(number)"), now: path.now)
    }
    path.left.addLocalHost(Known.left, now: path.now)
    let relay = RelayedAddress(
      address: address("192.0.2.100"), mapped: Known.left, server: address("192.0.2.101"), preference: 300)
    path.left.addRelayed(relay, now: path.now)
    #expect(path.left.localCandidates.count == 16 + 2)
    #expect(path.left.localCandidates.suffix(2).map(\.isUDP) == [true, true])
  }

  @Test("an IPv4 candidate for TCP is reached through a NAT64 over TCP")
  func nat64() throws {
    var agent = agent(
      .controlling, Known.leftCredentials, hosts: [address("2001:db8::1"), Self.active("2001:db8::1")])
    let now = MonotonicInstant.now
    agent.setNAT64(.wellKnown, now: now)
    agent.know(Known.rightCredentials, now: now)
    agent.addRemoteCandidate(
      try ICECandidate(parsing: "candidate:1 1 tcp 1000 203.1.113.5 443 typ host tcptype passive"), now: now)
    let sent = agent.poll(now: now).compactMap { action -> TransportAddress? in
      if case .send(_, _, let remote) = action { remote } else { nil }
    }
    #expect(sent == [Self.listener("64:ff9b::cb01:7105", 443)])
  }

  @Test("candidates that cannot be used are counted and cause no connection")
  func ignored() {
    var path = Self.agents()
    path.exchangeCredentials()
    let hostile = [
      "candidate:1 1 tcp 1 192.0.2.9 22 typ host tcptype passive",
      "candidate:1 1 tcp 1 10.0.0.9 443 typ host tcptype passive",
      "candidate:1 1 tcp 1 192.0.2.9 4000 typ host tcptype so",
      "candidate:1 1 tcp 1 192.0.2.9 4000 typ host",
      "candidate:1 1 sctp 1 192.0.2.9 4000 typ host",
      "candidate:1 1 tcp 1 192.0.2.9 0 typ host tcptype passive",
    ]
    for text in hostile {
      guard let candidate = try? ICECandidate(parsing: text) else {
        Issue.record("\(text) is not read.")
        continue
      }
      path.right.addRemoteCandidate(candidate, now: path.now)
    }
    path.run(.seconds(5))
    #expect(path.right.statistics.ignoredCandidates == UInt64(hostile.count))
    #expect(path.sent[.right] == nil)
    // An agent that opens no connections ignores passive candidates, too.
    path.left.know(path.left.localCandidates, now: path.now)
    #expect(path.left.statistics.ignoredCandidates == 1)
  }
}

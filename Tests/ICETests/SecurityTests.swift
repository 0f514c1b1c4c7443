import ICE
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Security")
struct SecurityTests {
  private let stranger = address("192.0.2.66", 6_666)

  private func line(_ role: ICEAgent.Role = .controlling) -> SimulatedPath<ScriptedPeer> {
    var line = SimulatedPath(
      left: agent(role, Known.leftCredentials, hosts: [Known.left]),
      right: ScriptedPeer(hosts: [Known.right], credentials: Known.rightCredentials, remote: Known.leftCredentials))
    line.left.know(Known.rightCredentials, now: line.now)
    return line
  }

  @Test("a wrong password never validates a pair, on either side")
  func wrongPassword() {
    var line = SimulatedPath.agents()
    let wrong = "a-wrong-password-24-chars"
    line.left.know(.init(usernameFragment: "rightrig", password: wrong), now: line.now)
    line.right.know(.init(usernameFragment: "leftleft", password: wrong), now: line.now)
    line.exchangeCandidates()
    line.run(.seconds(60))
    #expect(line.left.state == .failed)
    #expect(line.right.state == .failed)
    #expect(line.left.statistics.checksAnswered == 0)
    #expect(line.left.statistics.requestsRejected > 0)
    #expect(!line.left.isValidated(local: Known.left, remote: Known.right))
    #expect(line.left.statistics.requestsReceived == line.left.statistics.requestsRejected)
  }

  @Test("a request without MESSAGE-INTEGRITY, with a wrong one or without FINGERPRINT is dropped and validates no path")
  func unauthenticRequests() {
    let base = line()
    var message = STUNMessage(.request, transactionID: .init(high: 1, low: 1))
    message.username = "leftleft:rightrig"
    message.priority = 1
    message.iceControlled = 1
    let key = Array(Known.leftCredentials.password.utf8)
    var withoutFingerprint = message
    withoutFingerprint.appendIntegrity(key: key)
    var bare = ByteBuffer()
    withoutFingerprint.write(into: &bare)
    var behind = STUNMessage(.request, transactionID: .init(high: 1, low: 1))
    behind.appendIntegrity(key: key)
    behind.attributes += message.attributes
    for datagram in [
      message.encoded(integrityKey: nil), message.encoded(integrityKey: Array("wrong".utf8)), bare,
      behind.encoded(integrityKey: nil),
    ] {
      var line = base
      line.inject(datagram, from: stranger, to: Known.left, side: .left)
      line.run(.seconds(1))
      #expect(line.sent[.left, default: []].isEmpty)
      #expect(!line.left.isValidated(local: Known.left, remote: stranger))
    }
    var line = base
    line.inject(message.encoded(integrityKey: key), from: stranger, to: Known.left, side: .left)
    #expect(line.left.isValidated(local: Known.left, remote: stranger))
  }

  @Test("a spoofed source address receives at most three times the bytes that arrived from it")
  func borrowedAddress() {
    var line = line()
    let request = line.right.request()
    for _ in 0..<3 {
      line.inject(request, from: stranger, to: Known.left, side: .left)
      line.run(.seconds(50))
    }
    let bytes = line.sent[.left, default: []].reduce(0) { $0 + $1.readableBytes }
    print("measured: 3 requests of \(request.readableBytes) bytes cause \(bytes) bytes to a spoofed address")
    #expect(bytes <= 3 * 3 * request.readableBytes)
    #expect(bytes > 3 * request.readableBytes, "the address is still checked")
    #expect(line.left.statistics.checksHeldBack > 0)
    #expect(!line.left.hasAnswered(local: Known.left, remote: stranger))
  }

  @Test("fifty third-party addresses in each of many offers get only a few checks each")
  func strangersAddresses() {
    var line = line()
    line.right.answers = false
    for round in 0..<20 {
      let credentials = ICECredentials(usernameFragment: "round\(round)", password: Known.rightCredentials.password)
      line.left.know(credentials, now: line.now)
      for index in 0..<50 {
        let text = "candidate:\(index) 1 udp 2130706431 198.51.100.\(index) \(5_000 + round) typ host"
        if let candidate = try? ICECandidate(parsing: text) { line.left.addRemoteCandidate(candidate, now: line.now) }
      }
      line.run(.seconds(2))
    }
    let count = line.sent[.left, default: []].count
    print("measured: 20 offers of 50 addresses in 40 s cause \(count) checks")
    #expect(count <= 400 + 400)
  }

  @Test("without local candidates, those of private networks and of this machine are not checked")
  func localCandidates() throws {
    for (host, isLocal) in [
      ("10.1.2.3", true), ("172.31.0.1", true), ("192.168.1.1", true), ("127.0.0.1", true), ("169.254.1.1", true),
      ("100.64.0.1", true), ("fd00::1", true), ("::1", true), ("172.32.0.1", false), ("100.128.0.1", false),
      ("11.0.0.1", false), ("2001:db8::1", false),
    ] {
      var line = line()
      line.left.allowsLocalCandidates = false
      line.left.addRemoteCandidate(
        try ICECandidate(parsing: "candidate:1 1 udp 2130706431 \(host) 5000 typ host"), now: line.now)
      #expect(line.left.statistics.ignoredCandidates == (isLocal ? 1 : 0), "\(host)")
    }
  }

  @Test("a valid request to an unknown local address is dropped")
  func foreignLocalAddress() {
    var line = line()
    line.inject(line.right.request(), from: Known.right, to: address("192.0.2.200"), side: .left)
    #expect(line.sent[.left, default: []].isEmpty)
    #expect(line.left.statistics.requestsRejected == 1)
  }

  @Test("a valid response from the wrong address is dropped, and the one from the right address still counts")
  func asymmetricResponse() throws {
    var line = line()
    line.right.answers = false
    let host = agent(.controlled, Known.rightCredentials, hosts: [Known.right]).localCandidates
    line.left.know(host, now: line.now)
    line.run(.milliseconds(10))
    let request = try STUNMessage(parsing: try #require(line.sent[.left]?.first))
    var response = STUNMessage(.success, transactionID: request.transactionID)
    response.xorMappedAddress = Known.left
    let key = Array(Known.rightCredentials.password.utf8)
    for (source, target) in [(stranger, Known.left), (Known.right, address("192.0.2.200"))] {
      line.inject(response.encoded(integrityKey: key), from: source, to: target, side: .left)
      #expect(line.left.selectedPair == nil)
      #expect(!line.left.isValidated(local: Known.left, remote: source))
    }
    line.inject(response.encoded(integrityKey: Array("wrong".utf8)), from: Known.right, to: Known.left, side: .left)
    line.inject(response.encoded(integrityKey: nil), from: Known.right, to: Known.left, side: .left)
    #expect(line.left.selectedPair == nil)
    #expect(line.left.statistics.responsesRejected == 4)
    line.inject(response.encoded(integrityKey: key), from: Known.right, to: Known.left, side: .left)
    #expect(line.left.selectedPair?.remote == Known.right)
  }

  @Test("a forged error response has no effect")
  func forgedRefusal() throws {
    var line = line()
    line.right.answers = false
    line.left.know(agent(.controlled, Known.rightCredentials, hosts: [Known.right]).localCandidates, now: line.now)
    line.run(.milliseconds(10))
    let request = try STUNMessage(parsing: try #require(line.sent[.left]?.first))
    var rejection = STUNMessage(.errorResponse, transactionID: request.transactionID)
    rejection.errorCode = .roleConflict
    line.inject(rejection.encoded(integrityKey: nil), from: Known.right, to: Known.left, side: .left)
    #expect(line.left.role == .controlling)
    line.right.answers = true
    line.run(.seconds(1))
    #expect(line.left.state == .completed)
  }

  @Test("unknown comprehension-required attributes are answered with 420")
  func unknownAttribute() throws {
    var line = line()
    var message = STUNMessage(.request, transactionID: .init(high: 1, low: 1))
    message.username = "leftleft:rightrig"
    message.set(STUNAttributeType(rawValue: 0x7ABC), ByteBuffer(string: "what"))
    line.inject(
      message.encoded(integrityKey: Array(Known.leftCredentials.password.utf8)), from: Known.right, to: Known.left,
      side: .left)
    let answer = try STUNMessage(parsing: try #require(line.sent[.left]?.first))
    #expect(answer.errorCode == .unknownAttribute)
    #expect(answer.unknownAttributes == [STUNAttributeType(rawValue: 0x7ABC)])
    #expect(!line.left.isValidated(local: Known.left, remote: Known.right))
  }

  @Test("a path on which a request arrived is closed again when the agent's own check is not answered")
  func replayedRequest() {
    var line = line()
    // An attacker replays a recorded, valid request from another address, where nothing answers the agent's check.
    line.inject(line.right.request(), from: stranger, to: Known.left, side: .left)
    #expect(line.left.isValidated(local: Known.left, remote: stranger))
    line.run(.seconds(41))
    #expect(!line.left.isValidated(local: Known.left, remote: stranger))
  }

  @Test("a flood of valid requests from new addresses stays within all limits")
  func floodOfPeerReflexive() {
    var line = line()
    for port in 1_000..<3_000 as Range<UInt16> {
      line.inject(line.right.request(), from: address("192.0.2.66", port), to: Known.left, side: .left)
    }
    #expect(line.left.statistics.remoteCandidates == 50)
    // A mapping that never answered is replaced, so the genuine peer can still connect.
    line.run(.seconds(41))
    line.inject(line.right.request(), from: Known.right, to: Known.left, side: .left)
    let time = line.run(.seconds(1)) { $0.left.state == .completed }
    #expect(time != nil)
    #expect(line.left.selectedPair?.remote == Known.right)
  }

  @Test("a flood of requests before the credentials is limited to 32 paths")
  func floodBeforeCredentials() {
    var line = SimulatedPath(
      left: agent(.controlling, Known.leftCredentials, hosts: [Known.left]),
      right: ScriptedPeer(hosts: [Known.right], credentials: Known.rightCredentials, remote: Known.leftCredentials))
    for port in 1_000..<2_000 as Range<UInt16> {
      line.inject(line.right.request(), from: address("192.0.2.66", port), to: Known.left, side: .left)
    }
    let open = (1_000..<2_000 as Range<UInt16>).filter {
      line.left.isValidated(local: Known.left, remote: address("192.0.2.66", $0))
    }
    #expect(open.count == 32)
  }

  @Test("the list of pending responses is bounded when the agent is not polled")
  func withoutPolling() {
    var agent = agent(.controlling, Known.leftCredentials, hosts: [Known.left])
    var peer = ScriptedPeer(hosts: [Known.right], credentials: Known.rightCredentials, remote: Known.leftCredentials)
    let now = MonotonicInstant.now
    for _ in 0..<1_000 {
      let isTaken = agent.received(peer.request(), from: Known.right, to: Known.left, now: now)
      #expect(isTaken)
    }
    let actions = agent.poll(now: now)
    #expect(actions.count <= 257)
  }

  @Test("datagrams that are not STUN, or STUN for another agent, are not accepted")
  func notOurs() {
    var agent = agent(.controlling, Known.leftCredentials, hosts: [Known.left])
    let now = MonotonicInstant.now
    var forAnother = STUNMessage(.request, transactionID: .init(high: 1, low: 1))
    forAnother.username = "somebody:rightrig"
    let datagrams = [
      ByteBuffer(), ByteBuffer(string: "hello"), ByteBuffer(repeating: 0, count: 20),
      forAnother.encoded(integrityKey: Array(Known.leftCredentials.password.utf8)),
      STUNMessage(.success, transactionID: .init(high: 1, low: 1)).encoded(integrityKey: nil),
      STUNMessage(.request, transactionID: .init(high: 1, low: 1)).encoded(integrityKey: nil),
      STUNMessage(.request, method: .init(rawValue: 3), transactionID: .init(high: 1, low: 1))
        .encoded(integrityKey: nil),
    ]
    for datagram in datagrams {
      let isTaken = agent.received(datagram, from: Known.right, to: Known.left, now: now)
      #expect(!isTaken)
    }
    #expect(agent.deadline == nil)
  }
}

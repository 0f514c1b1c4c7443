import ICE
import NIOCore
import Testing

@Suite("TURN allocations")
struct TURNAllocationTests {
  @Test("a client allocates after one challenge and reports relayed address, mapped address and lifetime")
  func allocates() throws {
    var path = TURNPath()
    path.run(.seconds(1))
    let allocation = try #require(path.allocations.first)
    #expect(allocation.relayed == [address("203.0.113.1", 50_001)])
    #expect(allocation.mapped == address("198.51.100.7", 40_000))
    #expect(allocation.lifetime == .seconds(600))
    #expect(path.client.allocation == allocation)
    #expect(path.server.requests.map(\.method) == [.allocate, .allocate])
    #expect(path.server.requests.first?.username == nil)
    #expect(path.server.requests.first?.software == "test")
    #expect(path.server.requests.last?.username == "user")
    #expect(path.server.requests.first?.transactionID != path.server.requests.last?.transactionID)
  }

  @Test("a server that offers SHA-256 with the cookie in its nonce gets MESSAGE-INTEGRITY-SHA256 only")
  func sha256() {
    var path = TURNPath()
    path.server.offersSHA256 = true
    path.run(.seconds(1))
    #expect(path.allocations.count == 1)
    let request = path.server.requests.last
    #expect(request?.passwordAlgorithms == [2, 1])
    #expect(request?.passwordAlgorithm == 2)
    #expect(request?.attributes.contains { $0.type == .messageIntegrity } == false)
    path.run(.seconds(60))
    #expect(path.losses.isEmpty)
  }

  @Test("a nonce that announces PASSWORD-ALGORITHMS without the attribute is refused: somebody removed it")
  func bidDown() {
    var path = TURNPath()
    path.isDown = true
    path.run(.milliseconds(1))
    var answer = STUNMessage(.errorResponse, method: .allocate, transactionID: path.firstRequest)
    answer.errorCode = STUNErrorCode(401, "Unauthorized")
    answer.realm = "example.org"
    answer.nonce = ByteBuffer(string: "obMatJos2AAAB1")
    path.inject(answer.encoded(integrityKey: nil))
    #expect(path.failures.count == 1)
    #expect("\(path.failures)".contains("without a usable realm and nonce"))
  }

  @Test("two families are requested in one request, and a server without IPv6 gives one", arguments: [true, false])
  func families(hasV6: Bool) {
    var path = TURNPath(families: .both)
    path.server.relaysV6 = hasV6
    path.run(.seconds(1))
    #expect(path.allocations.first?.relayed.map(\.family) == (hasV6 ? [.v4, .v6] : [.v4]))
  }

  @Test("IPv6 alone is requested, and error 440 is permanent", arguments: [true, false])
  func onlyV6(hasV6: Bool) {
    var path = TURNPath(families: .v6)
    path.server.relaysV6 = hasV6
    path.run(.seconds(60))
    #expect(path.allocations.first?.relayed.map(\.family) == (hasV6 ? [.v6] : nil))
    #expect(path.failures == (hasV6 ? [] : [.unsupportedAddressFamily]))
    #expect(path.client.hasEnded == !hasV6)
  }

  @Test("an allocation stays for 20 minutes while the nonce expires each 600 s", arguments: [true, false])
  func twentyMinutes(hasTraffic: Bool) {
    var path = TURNPath()
    let peer = address("192.0.2.7")
    path.run(.seconds(1))
    for _ in 0..<1_200 {
      if hasTraffic {
        path.send("x", to: peer)
        path.sendFromPeer("y", peer)
      }
      path.run(.seconds(1))
    }
    #expect(path.losses.isEmpty)
    #expect(path.allocations.count == 1)
    #expect(path.server.allocations.count == 1)
    // One challenge at the start, one for each expiry.
    let methods = path.server.requests.map(\.method)
    #expect(methods.filter { $0 == .refresh }.count < (hasTraffic ? 6 : 260))
    #expect(path.server.violations.isEmpty)
    if hasTraffic {
      // The first waits for the permission, so the peer can send a little later.
      #expect(path.received.count >= 1_199)
      #expect(path.server.toPeers.count == 1_200)
      #expect(methods.filter { $0 == .createPermission }.count < 10)
    }
  }

  @Test(
    "a wrong password and an unknown user are permanent failures after two requests",
    arguments: ["user", "nobody", "1893456000:bot", "bot:1893456000"])
  func wrongPassword(username: String) {
    var path = TURNPath(username: username, password: "wrong")
    path.run(.seconds(100))
    let hasTime = username.contains(":")
    #expect(path.failures == [.wrongCredentials(realm: "example.org", isTimeLimited: hasTime)])
    #expect(
      path.failures.first?.description
        == "The TURN server refused the user name or the password (error 401, realm \"example.org\"): check both"
        + (hasTime ? ", and whether the time in the user name has passed." : "."))
    #expect(path.client.hasEnded)
    #expect(path.client.deadline == nil)
    #expect(path.server.requests.count == 2)
  }

  @Test(
    "error codes become failures, and the permanent ones are not repeated",
    arguments: [
      (403, TURNFailure.forbidden(reason: "why"), true), (442, .unsupportedTransport, true),
      (440, .unsupportedAddressFamily, true), (486, .quotaReached, false), (508, .insufficientCapacity, false),
      (500, .refused(code: 500, reason: "why"), false), (400, .refused(code: 400, reason: "why"), true),
      (420, .refused(code: 420, reason: "why"), true), (437, .allocationMismatch, false),
    ] as [(Int, TURNFailure, Bool)], [true, false])
  func errorCodes(row: (code: Int, failure: TURNFailure, isPermanent: Bool), signsErrors: Bool) {
    var path = TURNPath()
    path.server.errors[.allocate] = STUNErrorCode(row.code, "why\0")
    path.server.signsErrors = signsErrors
    path.run(.seconds(10))
    #expect(path.failures == [row.failure])
    #expect(path.client.hasEnded == row.isPermanent)
    #expect(row.failure.description.hasSuffix("."))
    path.server.errors = [:]
    path.run(.seconds(40))
    #expect(path.allocations.count == (row.isPermanent ? 0 : 1))
  }

  @Test("a full quota is reported once, retried with pauses up to 30 s, and ends when there is room")
  func quota() {
    var path = TURNPath()
    path.server.quota = 0
    path.run(.seconds(600))
    #expect(path.failures == [.quotaReached])
    #expect(path.failures.first?.description.contains("the server's quota") == false)
    #expect(path.failures.first?.description.contains("The server's quota for this user is reached") == true)
    let count = path.server.requests.count
    #expect((20...40).contains(count))
    path.server.quota = 1
    path.run(.seconds(31))
    #expect(path.allocations.count == 1)
  }

  @Test("a silent server is reported after 8 s over UDP with seven transmissions, after 10 s on a stream with one")
  func silence() {
    for (transport, seconds, transmissions) in [(TURNClient.Transport.udp, 8, 7), (.stream, 10, 1)] {
      var path = TURNPath(transport: transport)
      path.isDown = true
      #expect(path.run(.seconds(20)) { !$0.failures.isEmpty })
      #expect(path.elapsed == .seconds(seconds))
      #expect(path.sent == transmissions)
      #expect(path.failures == [.noAnswer(after: .seconds(seconds))])
      path.isDown = false
      path.run(.seconds(30))
      #expect(path.allocations.count == 1)
    }
  }

  @Test("leaving ends the allocation on the server, in every state")
  func leaving() {
    for milliseconds in [0, 5, 15, 25, 35, 45, 1_000] as [Int64] {
      var path = TURNPath()
      path.run(.milliseconds(milliseconds))
      path.leave()
      path.run(.seconds(5))
      #expect(path.events.last == .ended, "after \(milliseconds) ms")
      #expect(path.client.hasEnded)
      #expect(path.client.deadline == nil)
      #expect(path.server.allocations.isEmpty, "after \(milliseconds) ms")
    }
  }

  @Test("leaving a silent server ends after 2 s, and a stale nonce does not prevent the end")
  func leavingBadly() {
    var path = TURNPath()
    path.run(.seconds(1))
    path.isDown = true
    path.leave()
    path.run(.seconds(2))
    #expect(path.events.last == .ended)

    var stale = TURNPath()
    stale.server.nonceLifetime = .seconds(2)
    stale.run(.seconds(4))
    stale.leave()
    stale.run(.seconds(1))
    #expect(stale.events.last == .ended)
    #expect(stale.server.allocations.isEmpty)
  }

  @Test("a changed realm leads to a new key")
  func realmChange() {
    var path = TURNPath()
    path.run(.seconds(1))
    path.server.realm = "example.net"
    path.run(.seconds(30))
    #expect(path.losses.isEmpty)
    #expect(path.server.requests.last?.realm == "example.net")
  }

  @Test("an alternate server is used by a new connection, with a new challenge")
  func alternate() {
    var path = TURNPath()
    path.server.alternate = address("192.0.2.101", 3_479)
    path.run(.seconds(60)) { !$0.connections.isEmpty }
    #expect(path.connections == [address("192.0.2.101", 3_479)])
    #expect(path.client.server == address("192.0.2.101", 3_479))
    path.server.alternate = nil
    path.run(.seconds(1))
    #expect(path.allocations.count == 1)
    // After a loss the client starts at the first server.
    path.server.restart()
    path.run(.seconds(10))
    #expect(path.client.server == TURNPath.serverAddress)
    #expect(path.allocations.count == 2)
  }

  @Test(
    "a server that refers to itself, to unusable addresses or into our own network fails",
    arguments: ["192.0.2.100", "0.0.0.0", "2001:db8::1", "127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254"])
  func badAlternate(ip: String) {
    var path = TURNPath()
    path.server.alternate = address(ip, 3_478)
    path.run(.seconds(5))
    #expect(path.connections.isEmpty)
    guard case .badAlternateServer? = path.failures.first else {
      Issue.record("\(path.failures)")
      return
    }
  }

  @Test("at most three alternate servers are asked")
  func endlessAlternates() {
    var path = TURNPath()
    for number in 0..<20 as Range<UInt16> {
      path.server.alternate = address("192.0.2.101", 4_000 + number)
      path.run(.milliseconds(100)) { $0.connections.count == Int(number) + 1 || !$0.failures.isEmpty }
      if !path.failures.isEmpty { break }
    }
    #expect(path.connections.count == 3)
    #expect(path.failures.count == 1)
  }

  @Test("a server that asks for no credentials is used without")
  func openServer() {
    var path = TURNPath()
    path.isDown = true
    path.run(.milliseconds(1))
    var answer = STUNMessage(.success, method: .allocate, transactionID: path.firstRequest)
    answer.appendXorRelayedAddress(address("203.0.113.5", 5_000))
    answer.xorMappedAddress = address("198.51.100.7", 4)
    answer.lifetime = 600
    path.inject(answer.encoded(integrityKey: nil))
    #expect(path.allocations.count == 1)
  }

  @Test("a user name that is too long fails without a request")
  func longUsername() {
    var path = TURNPath(username: String(repeating: "u", count: 509))
    path.run(.seconds(5))
    #expect(path.failures == [.usernameTooLong(bytes: 509)])
    #expect(path.sent == 0)
  }
}

extension TURNPath {
  /// The transaction id of the request that is in progress at the start.
  var firstRequest: STUNTransactionID { lastSent?.transactionID ?? STUNTransactionID(high: 0, low: 0) }
}

import ICE
import Media
import NIOCore
import Testing

@Suite("TURN with hostile servers")
struct TURNHostileTests {
  private let peer = address("192.0.2.7")

  private func answer(
    _ path: TURNPath, _ change: (inout STUNMessage) -> Void, kind: STUNMessage.Kind = .success, key: [UInt8]? = nil
  ) -> ByteBuffer {
    var message = STUNMessage(
      kind, method: path.lastSent?.method ?? .allocate, transactionID: path.firstRequest)
    change(&message)
    return message.encoded(integrityKey: key)
  }

  private var key: [UInt8] {
    TURNCredentials(username: "user", password: "password").key(realm: "example.org", algorithm: .md5)
  }

  private func grant(_ message: inout STUNMessage) {
    message.appendXorRelayedAddress(address("203.0.113.5", 5_000))
    message.xorMappedAddress = address("198.51.100.7", 4)
    message.lifetime = 600
  }

  @Test("a success response without MESSAGE-INTEGRITY, or with that of another key, is dropped")
  func unverified() {
    var path = TURNPath.asking()
    path.inject(answer(path, grant))
    path.inject(answer(path, grant, key: [1, 2, 3]))
    #expect(path.allocations.isEmpty)
    #expect(path.client.statistics.messagesRejected == 2)
    path.inject(answer(path, grant, key: key))
    #expect(path.allocations.count == 1)
  }

  @Test("a client that uses MESSAGE-INTEGRITY-SHA256 accepts no answer with MESSAGE-INTEGRITY or another key")
  func weakerIntegrity() {
    var path = TURNPath()
    path.server.offersSHA256 = true
    path.run(.milliseconds(20))
    path.isDown = true
    path.run(.milliseconds(1))
    let key = TURNCredentials(username: "user", password: "password").key(realm: "example.org", algorithm: .sha256)
    path.inject(answer(path, grant, key: key))
    path.inject(
      answer(
        path,
        {
          grant(&$0)
          $0.appendIntegritySHA256(key: self.key)
        }))
    #expect(path.allocations.isEmpty)
    path.inject(
      answer(
        path,
        {
          grant(&$0)
          $0.appendIntegritySHA256(key: key)
        }))
    #expect(path.allocations.count == 1)
  }

  @Test("an error response with a wrong MESSAGE-INTEGRITY is dropped")
  func unverifiedError() {
    var path = TURNPath.asking()
    path.inject(answer(path, { $0.errorCode = STUNErrorCode(403, "no") }, kind: .errorResponse, key: [1]))
    #expect(path.failures.isEmpty)
    path.inject(answer(path, { $0.errorCode = STUNErrorCode(403, "no\u{1B}[31m") }, kind: .errorResponse))
    #expect(path.failures == [.forbidden(reason: "no?[31m")])
  }

  @Test("verified answers without valid contents are failures with a pause")
  func malformed() {
    let changes: [(inout STUNMessage) -> Void] = [
      { _ in },
      { $0.lifetime = 0 },
      { $0.set(.lifetime, bytes("0000")) },
      { $0.set(.xorRelayedAddress, bytes("0001")) },
      { $0.set(.xorRelayedAddress, nil) },
      { $0.set(.xorMappedAddress, nil) },
      { $0.xorMappedAddress = address("0.0.0.0", 0) },
    ]
    for (index, change) in changes.enumerated() {
      var path = TURNPath.asking()
      path.inject(
        answer(
          path,
          {
            if index > 0 { grant(&$0) }
            change(&$0)
          }, key: key))
      #expect(path.allocations.isEmpty, "\(index)")
      guard case .malformedAnswer? = path.failures.first else {
        Issue.record("\(index): \(path.failures)")
        continue
      }
      #expect(path.client.deadline.map { $0 - path.now >= .milliseconds(375) } == true)
    }
  }

  @Test("a relayed address of another family and one that cannot be reached are no allocation")
  func wrongFamily() {
    for relayed in [address("2001:db8::5"), address("224.0.0.1"), address("203.0.113.5", 0)] {
      var path = TURNPath.asking()
      path.inject(
        answer(
          path,
          {
            grant(&$0)
            $0.set(.xorRelayedAddress, nil)
            $0.appendXorRelayedAddress(relayed)
          }, key: key))
      #expect(path.allocations.isEmpty)
    }
  }

  @Test("extreme lifetimes cost no more than a request each 5 s", arguments: [1, 2, 3_601, UInt32.max])
  func lifetimes(seconds: UInt32) {
    var path = TURNPath()
    path.server.grantedLifetime = seconds
    path.run(.seconds(1))
    #expect(path.allocations.first.map { $0.lifetime <= .seconds(3_600) } == true)
    path.run(.seconds(600))
    #expect(path.sent < 700)
    #expect(path.allocations.count < 170)
  }

  @Test("a server that calls each nonce stale costs a few requests and then pauses")
  func endlessStaleNonces() {
    var path = TURNPath()
    path.server.callsEachNonceStale = true
    path.run(.seconds(600))
    #expect(path.failures == [.staleNonce(times: 4)])
    #expect(path.sent < 250)
    path.server.callsEachNonceStale = false
    path.run(.seconds(31))
    #expect(path.allocations.count == 1)
    // The same for an allocation that exists.
    path.server.callsEachNonceStale = true
    path.run(.seconds(60))
    #expect(path.losses == [.refused(code: 438, reason: "Stale Nonce")])
  }

  @Test("a challenge with an endless realm or nonce is a failure", arguments: [STUNAttributeType.realm, .nonce])
  func longChallenge(type: STUNAttributeType) {
    for value in [ByteBuffer(repeating: 0x61, count: 764), ByteBuffer()] {
      var path = TURNPath()
      path.isDown = true
      path.run(.milliseconds(1))
      path.inject(
        answer(
          path,
          {
            $0.errorCode = STUNErrorCode(401, "Unauthorized")
            $0.realm = "r"
            $0.nonce = ByteBuffer(string: "n")
            $0.set(type, value)
          }, kind: .errorResponse))
      #expect(path.failures.count == 1)
    }
  }

  @Test("a response with an unknown attribute that must be understood is dropped")
  func unknownAttribute() {
    var path = TURNPath.asking()
    path.inject(
      answer(
        path,
        {
          grant(&$0)
          $0.set(STUNAttributeType(rawValue: 0x7777), ByteBuffer())
        }, key: key))
    #expect(path.allocations.isEmpty)
  }

  @Test("data from strangers, unbound channels, and empty or malformed data is dropped and counted")
  func strangers() {
    var path = TURNPath()
    path.run(.seconds(1))
    path.client.bindChannel(to: peer, now: path.now)
    path.run(.seconds(1))
    path.clearEvents()
    func indication(_ change: (inout STUNMessage) -> Void) -> ByteBuffer {
      var message = STUNMessage(.indication, method: .data, transactionID: STUNTransactionID(high: 1, low: 1))
      change(&message)
      return written(message)
    }
    let hello = ByteBuffer(string: "hello")
    let wrong = [
      indication { _ in },
      indication { $0.data = hello },
      indication { $0.appendXorPeerAddress(peer) },
      indication {
        $0.appendXorPeerAddress(peer)
        $0.data = ByteBuffer()
      },
      indication {
        $0.appendXorPeerAddress(address("192.0.2.8"))
        $0.data = hello
      },
      TURNChannelData.frame(hello, channel: 0x4001, isPadded: false),
      TURNChannelData.frame(ByteBuffer(), channel: 0x4000, isPadded: false), bytes("4000 0006 6162636465"),
    ]
    for datagram in wrong { path.inject(datagram) }
    #expect(path.events.isEmpty)
    #expect(path.client.statistics.dataDropped == UInt64(wrong.count))
    // The allowed peer may use another port than the bound one.
    path.inject(
      indication {
        $0.appendXorPeerAddress(address("192.0.2.7", 9))
        $0.data = hello
      })
    path.inject(bytes("4000 0005 6162636465"))
    #expect(path.received.map(\.peer) == [address("192.0.2.7", 9), peer])
  }

  @Test("a caller that does not poll keeps a bounded number of actions")
  func unpolled() {
    var path = TURNPath()
    path.run(.seconds(1))
    path.client.bindChannel(to: peer, now: path.now)
    path.run(.seconds(1))
    let frame = TURNChannelData.frame(ByteBuffer(string: "x"), channel: 0x4000, isPadded: false)
    for _ in 0..<20_000 { path.client.received(frame, now: path.now) }
    #expect(path.client.statistics.actionsDropped == 20_000 - 8_192)
  }
}

extension TURNPath {
  /// A client whose authenticated Allocate request is in progress.
  static func asking() -> TURNPath {
    var path = TURNPath()
    path.run(.milliseconds(20))
    path.isDown = true
    path.run(.milliseconds(1))
    return path
  }
}

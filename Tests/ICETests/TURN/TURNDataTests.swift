import ICE
import NIOCore
import Testing

@Suite("TURN permissions, channels and data")
struct TURNDataTests {
  private let peer = address("192.0.2.7")

  private func allocated(_ change: (inout TURNPath) -> Void = { _ in }) -> TURNPath {
    var path = TURNPath()
    change(&path)
    path.run(.seconds(1))
    path.clearEvents()
    path.server.clearRecords()
    return path
  }

  @Test(
    "the first four datagrams wait for the permission, the oldest of more are dropped, and then Send indications go out"
  )
  func queue() {
    var path = allocated()
    for number in 0..<7 { path.send("\(number)", to: peer) }
    #expect(path.client.statistics.sendsDropped == 3)
    path.run(.seconds(1))
    #expect(path.server.toPeers.map { String(buffer: $0.payload) } == ["3", "4", "5", "6"])
    path.send("7", to: peer)
    path.run(.seconds(1))
    #expect(path.server.toPeers.count == 5)
    #expect(path.server.requests.map(\.method) == [.createPermission])
    #expect(path.client.statistics.sentInIndications == 5)
    #expect(path.client.hasPermission(for: peer.ip, now: path.now))
  }

  @Test("several addresses of one poll share a CreatePermission request")
  func batches() {
    var path = allocated()
    for number in 1...40 { path.client.addPermission(for: address("192.0.2.\(number)").ip, now: path.now) }
    path.run(.seconds(1))
    let counts = path.server.requests(.createPermission).map { $0.xorPeerAddresses.count }
    #expect(counts.sorted() == [8, 16, 16])
    for number in 1...40 {
      #expect(path.client.hasPermission(for: address("192.0.2.\(number)").ip, now: path.now))
    }
  }

  @Test("addresses that were added before the allocation are requested with it")
  func early() {
    var path = TURNPath()
    path.client.addPermission(for: peer.ip, now: path.now)
    path.run(.seconds(1))
    #expect(path.client.hasPermission(for: peer.ip, now: path.now))
  }

  @Test("a refused peer is reported once and does not harm the others")
  func refusedPeer() {
    let bad = address("192.0.2.66")
    var path = allocated { $0.server.forbiddenPeers = [address("192.0.2.66").ip] }
    for number in 60...70 { path.client.addPermission(for: address("192.0.2.\(number)").ip, now: path.now) }
    path.send("x", to: bad)
    path.run(.seconds(1))
    #expect(path.events == [.peerRefused(bad.ip, code: 403)])
    for number in 60...70 {
      #expect(path.client.hasPermission(for: address("192.0.2.\(number)").ip, now: path.now) == (number != 66))
    }
    let requests = path.server.requests.count
    for _ in 0..<50 {
      path.send("x", to: bad)
      path.run(.seconds(1))
    }
    #expect(path.server.requests.count < requests + 12)
    #expect(path.server.violations.isEmpty)
    #expect(path.losses.isEmpty)
    // The refusal is forgotten after a minute.
    path.server.forbiddenPeers = []
    path.run(.seconds(20))
    path.send("late", to: bad)
    path.run(.seconds(1))
    #expect(path.server.toPeers.contains { $0.peer == bad })
  }

  @Test("a permission is refreshed each 4 minutes while it is used, and not after 5 minutes without use")
  func permissionLifetime() {
    var path = allocated()
    for _ in 0..<90 {
      path.send("x", to: peer)
      path.run(.seconds(10))
    }
    #expect(path.server.requests(.createPermission).count == 4)
    #expect(path.server.toPeers.count == 90)
    path.server.clearRecords()
    path.run(.seconds(900))
    #expect(path.server.requests(.createPermission).count <= 1)
    #expect(!path.client.hasPermission(for: peer.ip, now: path.now))
    // Use brings it back.
    path.send("again", to: peer)
    path.run(.seconds(1))
    #expect(path.server.toPeers.count == 1)
    #expect(path.server.violations.isEmpty)
  }

  @Test("eight datagrams within a second bind a channel, which data then uses in both directions")
  func channel() {
    var path = allocated()
    for number in 0..<20 {
      path.send("\(number)", to: peer)
      path.run(.milliseconds(50))
    }
    #expect(path.server.requests.map(\.method) == [.createPermission, .channelBind])
    #expect(path.client.channel(of: peer, now: path.now) == 0x4000)
    #expect(path.client.statistics.sentOnChannels > 5)
    path.sendFromPeer("back", peer)
    path.run(.seconds(1))
    #expect(path.received.map(\.peer) == [peer])
    #expect(path.client.statistics.receivedOnChannels == 1)
    #expect(path.server.toPeers.count == 20)
  }

  @Test("a peer that gets a datagram each 200 ms, as ICE checks do, is bound to no channel")
  func checksBindNothing() {
    var path = allocated()
    for _ in 0..<100 {
      path.send("check", to: peer)
      path.run(.milliseconds(200))
    }
    #expect(path.server.requests(.channelBind).isEmpty)
    #expect(path.client.channel(of: peer, now: path.now) == nil)
  }

  @Test("a channel stays bound for an hour of media, whatever its kind of refresh")
  func channelLifetime() {
    var path = allocated()
    path.client.bindChannel(to: peer, now: path.now)
    path.run(.seconds(1))
    for _ in 0..<3_600 {
      path.send("x", to: peer)
      path.run(.seconds(1))
    }
    #expect(path.server.toPeers.count == 3_600)
    #expect(path.client.statistics.sentOnChannels == 3_600)
    #expect((7...10).contains(path.server.requests(.channelBind).count))
    #expect(path.server.violations.isEmpty)
    #expect(path.losses.isEmpty)
  }

  @Test(
    "a channel that was idle is bound again to the same number, after 6, 12 and 30 minutes", arguments: [6, 12, 30])
  func idleChannel(minutes: Int) {
    var path = allocated()
    path.client.bindChannel(to: peer, now: path.now)
    path.run(.seconds(60 * Int64(minutes)))
    for _ in 0..<20 {
      path.send("x", to: peer)
      path.run(.milliseconds(50))
    }
    path.run(.seconds(1))
    #expect(path.client.channel(of: peer, now: path.now) != nil)
    #expect(path.server.toPeers.count == 20)
    #expect(path.server.violations.isEmpty)
  }

  @Test("at most 256 peers get channels and permissions, and idle ones make room")
  func limits() {
    var path = allocated()
    for number in 0..<400 {
      path.client.bindChannel(to: address("198.51.\(number / 200).\(number % 200 + 1)"), now: path.now)
      path.run(.milliseconds(20))
    }
    path.run(.seconds(30))
    #expect(Set(path.server.requests(.channelBind).compactMap(\.channelNumber)).count == 256)
    path.send("x", to: address("203.0.113.200"))
    #expect(path.client.statistics.sendsDropped == 1)
    path.run(.seconds(1_300))
    path.send("x", to: address("203.0.113.200"))
    path.run(.seconds(1))
    #expect(path.server.toPeers.count == 1)
    #expect(path.server.violations.isEmpty)
  }

  @Test("peers of a family that is not relayed, unreachable peers and payloads that are too long are dropped")
  func unsendable() {
    var path = allocated()
    path.send("x", to: address("2001:db8::7"))
    path.send("x", to: address("192.0.2.7", 0))
    path.send("x", to: address("255.255.255.255", 5))
    path.client.send(ByteBuffer(repeating: 0, count: 65_401), to: peer, now: path.now)
    path.run(.seconds(1))
    #expect(path.client.statistics.sendsDropped == 4)
    #expect(path.server.requests(.createPermission).isEmpty)
  }

  @Test("data before the allocation and after its end is dropped")
  func noAllocation() {
    var path = TURNPath()
    path.send("x", to: peer)
    path.run(.seconds(1))
    path.leave()
    path.send("x", to: peer)
    #expect(path.client.statistics.sendsDropped == 2)
  }

  @Test("both families are reached if both are relayed")
  func dualStack() {
    var path = TURNPath(families: .both)
    path.server.relaysV6 = true
    path.run(.seconds(1))
    for peer in [peer, address("2001:db8::7")] {
      path.send("x", to: peer)
      path.run(.seconds(1))
      path.sendFromPeer("y", peer)
      path.run(.seconds(1))
    }
    #expect(path.server.toPeers.map(\.peer) == [peer, address("2001:db8::7")])
    #expect(path.received.map(\.peer) == [peer, address("2001:db8::7")])
  }

  @Test("a payload with room for the header is not copied on a channel, in either direction")
  func copiesNothing() throws {
    var path = allocated()
    path.client.bindChannel(to: peer, now: path.now)
    path.run(.seconds(1))
    func place(_ buffer: ByteBuffer) -> UInt? {
      buffer.withUnsafeReadableBytes { $0.baseAddress.map { UInt(bitPattern: $0) } }
    }
    var payload = ByteBuffer(repeating: 0x61, count: 1_004)
    payload.moveReaderIndex(forwardBy: 4)
    let before = try #require(place(payload))
    path.client.send(consume payload, to: peer, now: path.now)
    guard case .send(let frame)? = path.client.poll(now: path.now).first else {
      Issue.record("Nothing was sent.")
      return
    }
    #expect(place(frame) == before - 4)
    path.client.received(frame, now: path.now)
    guard case .received(let data, _)? = path.client.poll(now: path.now).first else {
      Issue.record("Nothing was received.")
      return
    }
    #expect(place(data) == before)
    #expect(data == ByteBuffer(repeating: 0x61, count: 1_000))
  }
}

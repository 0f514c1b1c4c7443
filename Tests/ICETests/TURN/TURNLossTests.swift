import ICE
import Media
import NIOCore
import Testing

@Suite("TURN losses")
struct TURNLossTests {
  private let peer = address("192.0.2.7")

  @Test("while media flows in both directions, the client is back within 4 s of a restart")
  func restartDuringMedia() {
    for phase in stride(from: 0, to: 3_000, by: 130) as StrideTo<Int64> {
      var path = TURNPath()
      path.run(.seconds(1))
      path.client.bindChannel(to: peer, now: path.now)
      func exchange(until end: MonotonicInstant) {
        while path.now < end {
          path.send("x", to: peer)
          path.sendFromPeer("y", peer)
          path.run(.milliseconds(20))
        }
      }
      exchange(until: path.now + .seconds(10) + .milliseconds(phase))
      path.server.restart()
      exchange(until: path.now + .seconds(4))
      #expect(path.allocations.count == 2, "phase \(phase)")
      #expect(path.losses == [.unknownToServer])
    }
  }

  @Test(
    "after a restart the client is back within 8 s, with and without traffic, with permission and channel",
    arguments: [true, false], [TURNClient.Transport.udp, .stream])
  func restart(hasTraffic: Bool, transport: TURNClient.Transport) {
    for phase in stride(from: 0, to: 10_000, by: 700) as StrideTo<Int64> {
      var path = TURNPath(transport: transport)
      path.run(.seconds(1))
      path.client.bindChannel(to: peer, now: path.now)
      path.run(.seconds(60) + .milliseconds(phase))
      path.server.restart()
      let restarted = path.now
      if transport == .stream { path.closeConnection() }
      while path.now - restarted < .seconds(8) {
        if hasTraffic { path.send("x", to: peer) }
        path.run(.milliseconds(20))
      }
      #expect(path.allocations.count == 2, "phase \(phase)")
      #expect(path.losses == [transport == .stream ? .connectionClosed : .unknownToServer])
      #expect(path.client.hasPermission(for: peer.ip, now: path.now))
      if hasTraffic { #expect(path.client.channel(of: peer, now: path.now) != nil) }
    }
  }

  @Test("a server that was down for 3 s to 4 minutes is used again within 8 s", arguments: [3, 10, 31, 100, 240])
  func downtime(seconds: Int) {
    for phase in stride(from: 0, to: 8_000, by: 900) as StrideTo<Int64> {
      var path = TURNPath()
      path.run(.seconds(20) + .milliseconds(phase))
      path.isDown = true
      path.run(.seconds(Int64(seconds)))
      path.server.restart()
      path.isDown = false
      let isBack = path.run(.seconds(8)) { $0.allocations.count == 2 }
      #expect(isBack, "phase \(phase)")
      #expect(path.failures.count <= 1)
    }
  }

  @Test("a silent server is noticed within 10 s over UDP, and a new client pauses at most 30 s between its attempts")
  func silence() {
    var path = TURNPath()
    path.run(.seconds(31))
    path.isDown = true
    let since = path.now
    path.run(.seconds(30)) { !$0.losses.isEmpty }
    #expect(path.losses == [.noAnswer(after: .seconds(5))])
    #expect(path.now - since <= .seconds(10))
    path.run(.seconds(3_600))
    // Of 38 s each at the end.
    #expect((600...1_600).contains(path.sent))
  }

  @Test("data from the server counts as life, so that a server that is busy with media is not asked")
  func dataIsLife() {
    var path = TURNPath()
    path.run(.seconds(1))
    path.send("x", to: peer)
    path.run(.seconds(1))
    let requests = path.server.requests.count
    for _ in 0..<200 {
      path.sendFromPeer("y", peer)
      path.run(.seconds(1))
    }
    #expect(path.server.requests.count == requests)
  }

  @Test("an allocation that the server still has after an outage is ended first, over the same socket")
  func outage() {
    var path = TURNPath()
    path.run(.seconds(10))
    path.isDown = true
    path.run(.seconds(20))
    path.isDown = false
    path.run(.seconds(8))
    #expect(path.losses == [.noAnswer(after: .seconds(5))])
    #expect(path.allocations.count == 2)
    #expect(path.connections.isEmpty)
    #expect(path.server.allocations.count == 1)
  }

  @Test("an allocation mismatch that stays leads to one new socket, then to a failure")
  func mismatch() {
    var path = TURNPath()
    path.server.errors[.allocate] = STUNErrorCode(437, "Allocation Mismatch")
    path.run(.milliseconds(400))
    #expect(path.connections == [TURNPath.serverAddress])
    #expect(path.failures == [.allocationMismatch])
  }

  @Test("437 to any request loses the allocation", arguments: [0, 1, 2])
  func unknownAllocation(request: Int) {
    var path = TURNPath()
    path.run(.seconds(1))
    path.server.forgetAllocations()
    switch request {
    case 0: path.send("x", to: peer)
    case 1: path.client.bindChannel(to: peer, now: path.now)
    default: break
    }
    path.run(.seconds(6))
    #expect(path.losses == [.unknownToServer])
    #expect(path.allocations.count == 2)
  }

  @Test("other errors to a Refresh request lose the allocation too, and a refused return is final")
  func refusedRefresh() {
    var path = TURNPath()
    path.run(.seconds(1))
    path.server.users = [:]
    path.run(.seconds(6))
    #expect(path.losses == [.refused(code: 401, reason: "Unauthorized")])
    #expect(path.failures == [.wrongCredentials(realm: "example.org")])
    #expect(path.client.hasEnded)
  }

  @Test("with 20 % loss in each direction clients allocate, keep the allocation for 5 minutes and relay, for 20 seeds")
  func lossy() {
    var lost = 0
    for seed in 1...20 as ClosedRange<UInt64> {
      var path = TURNPath(seed: seed)
      path.loss = 0.2
      path.run(.seconds(30)) { !$0.allocations.isEmpty }
      #expect(!path.allocations.isEmpty, "seed \(seed)")
      for _ in 0..<300 {
        path.send("x", to: peer)
        path.sendFromPeer("y", peer)
        path.run(.seconds(1))
      }
      lost += path.losses.count
      #expect(path.server.toPeers.count > 180, "seed \(seed)")
      #expect(path.received.count > 180, "seed \(seed)")
      #expect(path.client.allocation != nil, "seed \(seed)")
    }
    #expect(lost <= 1)
  }

  @Test("an idle allocation survives 20 minutes with 20 % loss, or returns at once")
  func lossyIdle() {
    for seed in 1...10 as ClosedRange<UInt64> {
      var path = TURNPath(seed: seed)
      path.loss = 0.2
      path.run(.seconds(1_200))
      #expect(path.losses.count <= 1, "seed \(seed)")
      #expect(path.client.allocation != nil, "seed \(seed)")
    }
  }
}

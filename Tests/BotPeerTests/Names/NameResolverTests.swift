import Glibc
import ICE
import Logging
import Media
import NIOCore
import Testing

@testable import BotPeer

/// Port 5353 of the loopback interface is shared with every program that has joined the group there.
@Suite("names over sockets", .serialized)
struct NameResolverTests {
  private static let loopback = IPAddress.v4(0x7F00_0001)
  private static let name = "76edc3c7-46bf-4f06-a614-2c26338ff10a.local"

  /// Reads until a datagram contains some bytes.
  private func find(_ wanted: ByteBuffer, at socket: MDNSSocket) -> TransportAddress? {
    var found: TransportAddress?
    for _ in 0..<400 where found == nil {
      _ = socket.receive { datagram, sender in if datagram == wanted { found = sender } }
      if found == nil { usleep(5_000) }
    }
    return found
  }

  @Test("a message reaches every socket that has joined the group, from port 5353")
  func group() throws {
    let sender = try MDNSSocket()
    let receivers = [try MDNSSocket(), try MDNSSocket()]
    for socket in [sender] + receivers {
      socket.join([Self.loopback, Self.loopback])
      #expect(socket.interfaces == [Self.loopback])
    }
    let message = ByteBuffer(string: "no DNS message, so that nobody else understands it")
    sender.send(message)
    for receiver in receivers {
      #expect(find(message, at: receiver) == TransportAddress(ip: Self.loopback, port: 5_353))
    }
  }

  @Test("a socket that was closed neither sends nor receives")
  func closed() throws {
    let socket = try MDNSSocket()
    socket.join([Self.loopback])
    socket.close()
    socket.send(ByteBuffer(string: "nothing"))
    #expect(!socket.receive { _, _ in Issue.record("received") })
  }

  @Test("an interface that does not exist is left out")
  func noInterface() throws {
    let socket = try MDNSSocket()
    socket.join([.v4(0xCB00_7107), Self.loopback, .v6(high: 0, low: 1)])
    #expect(socket.interfaces == [Self.loopback])
  }

  @Test("a socket for IPv6 joins an interface once, whatever the number of its addresses, and shares the port")
  func ipv6() throws {
    let loopback = IPAddress.v6(high: 0, low: 1)
    guard (try? DatagramSocket(ip: loopback, port: 0)) != nil else { return }
    for socket in [try MDNSSocket(.v6), try MDNSSocket(.v6)] {
      socket.join([loopback, Self.loopback, .v6(high: 0x2001_0DB8_0000_0000, low: 0x99), loopback])
      #expect(socket.interfaces == [loopback])
    }
  }

  @Test("a name that nobody answers fails after 3 s of simulated time, and names that are not allowed at once")
  func failure() {
    var events: [Int32] = []
    let resolver = NameResolver(
      log: Logger(label: "test"), opened: { events.append($0.descriptor) }, closing: { events.append(-$0.descriptor) })
    let start = MonotonicInstant.now
    #expect(resolver.deadline == nil)
    resolver.join([Self.loopback])
    resolver.resolve(Self.name, now: start)
    resolver.resolve("_services._dns-sd._udp.local", now: start)
    #expect(events.count == 1)
    #expect(resolver.poll(now: start).map(\.name) == ["_services._dns-sd._udp.local"])
    #expect(resolver.receive(at: -1) == nil)
    var results: [NameResolver.ResolvedName] = []
    while let deadline = resolver.deadline, deadline < start + .seconds(10) {
      results += resolver.poll(now: deadline)
    }
    #expect(results.map(\.name) == [Self.name])
    #expect(results.first?.addresses == [])
    resolver.close()
    #expect(events.count == 2)
    #expect(events.last == events.first.map { -$0 })
  }
}

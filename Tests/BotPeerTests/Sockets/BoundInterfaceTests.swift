import ICE
import NIOPosix
import Testing

@testable import BotPeer

@Suite("interfaces that a peer is bound to")
struct BoundInterfaceTests {
  private func configuration(_ interfaces: String...) -> Peer.Configuration {
    var configuration = Peer.Configuration()
    configuration.bindInterfaces = interfaces
    return configuration
  }

  @Test("only the addresses of the named interfaces are bound")
  func addresses() async throws {
    let peer = try await Peer.start(configuration("lo"), on: MultiThreadedEventLoopGroup.singleton.next())
    #expect(!peer.localAddresses.isEmpty)
    #expect(peer.localAddresses.allSatisfy { $0.hasPrefix("127.") || $0.hasPrefix("[::1]:") })
    await peer.close(reason: "the test is over")
  }

  @Test("an interface that does not exist is an error")
  func missing() async throws {
    await #expect(throws: Peer.StartError.noInterface("nope7")) {
      _ = try await Peer.start(configuration("lo", "nope7"), on: MultiThreadedEventLoopGroup.singleton.next())
    }
    #expect(Peer.StartError.noInterface("nope7").description == "This machine has no interface 'nope7'.")
    #expect(
      Peer.StartError.noAddress(interfaces: ["a", "b"]).description
        == "The interfaces a, b have no address, or are down.")
  }

  @Test("each address has its interface, and a server of a family without address has no source")
  func sources() throws {
    let bound = configuration("lo")
    #expect(bound.interface(of: .v4(0x7F00_0001)) == "lo")
    #expect(bound.interface(of: .v4(0x0A00_0001)) == nil)
    #expect(bound.source(of: .v4)?.ip == .v4(0x7F00_0001))
    #expect(bound.source(of: .v4)?.interface == "lo")
    #expect(configuration("nope7").source(of: .v4) == nil)
    let free = configuration()
    #expect(free.interface(of: .v4(0x7F00_0001)) == nil)
    #expect(free.source(of: .v6) != nil && free.source(of: .v6)?.ip == nil)
  }

  @Test("a name has 15 bytes and a zero")
  func names() {
    #expect(InterfaceName("eth0").text == "eth0")
    #expect(InterfaceName("a-name-of-20-bytes..").text == "a-name-of-20-by")
    #expect(MemoryLayout<InterfaceName>.size == 16)
  }
}

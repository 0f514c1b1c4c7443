import ICE
import TestSupport
import Testing

@Suite("Relayed candidates")
struct RelayedCandidateTests {
  private static let server = address("192.0.2.10")

  private static func relay(_ port: UInt16) -> RelayedAddress {
    RelayedAddress(
      address: TransportAddress(ip: server.ip, port: port), mapped: Known.left, server: server, preference: 300)
  }

  @Test("after a server lost the allocations of both sides, new ones connect at once, although the old are still known")
  func newAllocations() throws {
    var line = SimulatedPath.agents(left: [], right: [])
    line.left.addRelayed(Self.relay(50_001), now: line.now)
    line.right.addRelayed(Self.relay(50_002), now: line.now)
    line.exchangeAll()
    #expect(line.run(.milliseconds(200)) { $0.isComplete } != nil)
    #expect(line.left.selectedPair?.localType == .relayed && line.left.selectedPair?.remoteType == .relayed)

    line.left.removeLocal(Self.relay(50_001).address, now: line.now)
    line.right.removeLocal(Self.relay(50_002).address, now: line.now)
    line.run(.milliseconds(500))
    #expect(line.left.selectedPair == nil)
    line.left.addRelayed(Self.relay(50_003), now: line.now)
    line.right.addRelayed(Self.relay(50_004), now: line.now)
    // Until the signalling has carried them, each side checks the other's former address.
    line.run(.milliseconds(100))
    line.exchangeCandidates()
    #expect(line.run(.milliseconds(300)) { $0.isComplete } != nil)
    #expect(line.left.selectedPair?.remote == Self.relay(50_004).address)
  }
}

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

  @Test(
    "a retired address keeps its pair but is signalled no more, and a restart moves to the address that replaces it")
  func retired() throws {
    var line = SimulatedPath.agents(left: [], right: [])
    line.left.addRelayed(Self.relay(50_001), now: line.now)
    line.right.addRelayed(Self.relay(50_002), now: line.now)
    line.exchangeAll()
    try #require(line.run(.milliseconds(200)) { $0.isComplete } != nil)

    line.left.addRelayed(Self.relay(50_003), now: line.now)
    let removed = line.left.retireLocal(Self.relay(50_001).address)
    #expect(removed.map(\.index) == [0] && removed.first?.candidate.port == 50_001)
    #expect(line.left.localCandidates.map(\.port) == [50_003])
    line.run(.seconds(20))
    #expect(line.left.selectedPair?.local == Self.relay(50_001).address)
    #expect(line.left.selectedPair?.localType == .relayed, "it is still an address of a relay")
    #expect(line.left.uses(Self.relay(50_001).address) && !line.left.uses(Self.relay(50_003).address))

    line.left.restart(
      with: ICECredentials(usernameFragment: "newleft1", password: "new-left-password-24-char"), now: line.now)
    line.right.restart(
      with: ICECredentials(usernameFragment: "newright", password: "new-rightpassword-24-char"), now: line.now)
    #expect(line.left.uses(Self.relay(50_001).address), "media goes on there")
    line.exchangeAll()
    #expect(line.run(.milliseconds(500)) { $0.isComplete } != nil)
    #expect(line.left.selectedPair?.local == Self.relay(50_003).address)
    line.run(.seconds(30))
    #expect(!line.left.uses(Self.relay(50_001).address))
    line.left.removeLocal(Self.relay(50_001).address, now: line.now)
    #expect(line.left.selectedPair?.local == Self.relay(50_003).address)
  }
}

import ICE
import Media
import PeerEngine
import TestSupport
import Testing

@Suite("The types of the candidates in use")
struct CandidateTypesTests {
  @Test("are reported once, before the connection counts as connected, and are in the statistics")
  func reported() throws {
    var pair = try EnginePair(seed: 5)
    try pair.connect()
    pair.run(for: .seconds(2))
    for side in [pair.alice, pair.bob] {
      let types = CandidateTypes(local: .host, remote: .host, transport: .udp)
      #expect(side.engine.statistics.candidateTypes == types)
      #expect(!types.isRelayed)
      let events = side.events.filter { $0 == .stateChanged(.connected) || $0 == .pathSelected(types) }
      #expect(events == [.pathSelected(types), .stateChanged(.connected)])
    }
  }

  @Test("a pair is relayed if one of its addresses belongs to a TURN server")
  func relayed() {
    #expect(CandidateTypes(local: .relayed, remote: .host, transport: .udp).isRelayed)
    #expect(CandidateTypes(local: .peerReflexive, remote: .relayed, transport: .udp).isRelayed)
    #expect(!CandidateTypes(local: .serverReflexive, remote: .peerReflexive, transport: .udp).isRelayed)
  }
}

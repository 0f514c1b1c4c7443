import ICE
import Media
import PeerEngine
import PeerEngineTestSupport
import Signalling
import Testing

@Suite("names of participants")
struct NamedCandidateCallTests {
  private static let name = "76edc3c7-46bf-4f06-a614-2c26338ff10a.local"
  private static let trickled = TrickledCandidate(
    candidate: "candidate:1 1 udp 2113937151 \(name) 5000 typ host", mid: "0", mLineIndex: 0)

  @Test("one answer serves all participants who sent the name, and nobody else")
  func shared() throws {
    let call = DemultiplexerCall { $0.policy.ice.resolvesNames = true }
    for (host, name) in ["alice", "bob", "carol"].enumerated() {
      try call.enter(name, host: UInt8(host + 1))
      try call.connect(name)
    }
    #expect(call.demultiplexer.takeNamesToResolve() == [])
    for name in ["alice", "bob"] { call.signal(.candidate(Self.trickled), from: name) }
    call.work()
    #expect(call.demultiplexer.takeNamesToResolve() == [Self.name, Self.name])
    #expect(call.demultiplexer.takeNamesToResolve() == [])
    call.demultiplexer.resolved(Self.name, to: [.v4(0x0A00_0009)], now: call.now)
    call.work()
    #expect(
      ["alice", "bob", "carol"].map { call.engine(of: $0)?.iceStatistics.resolvedCandidates } == [
        1, 1, 0,
      ])
  }

  @Test("without a resolver no name is asked for, and it counts as unresolvable")
  func off() throws {
    let call = DemultiplexerCall()
    try call.enter("alice", host: 1)
    call.guests["alice"]?.speaks = false
    call.signal(.candidate(Self.trickled), from: "alice")
    call.work()
    #expect(call.demultiplexer.takeNamesToResolve() == [])
    #expect(call.engine(of: "alice")?.iceStatistics.unresolvableCandidates == 1)
  }

  @Test("an answer after the end of the connection changes nothing")
  func ended() throws {
    let call = DemultiplexerCall { $0.policy.ice.resolvesNames = true }
    try call.enter("alice", host: 1)
    try call.connect("alice")
    call.signal(.candidate(Self.trickled), from: "alice")
    call.work()
    call.demultiplexer.disconnect("alice", because: CloseReason(.closedByUs, "test"), now: call.now)
    call.demultiplexer.resolved(Self.name, to: [.v4(0x0A00_0009)], now: call.now)
    call.work()
    #expect(call.engine(of: "alice") == nil)
    call.demultiplexer.resolved(Self.name, to: [], now: call.now)
  }
}

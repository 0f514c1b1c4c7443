import ICE
import Media
import NetworkEmulation
import PeerEngine
import PeerEngineTestSupport
import Signalling
import TestSupport
import Testing

@Suite("ICE restarts of ours whose answer is late or lost")
struct UnansweredRestartTests {
  private static func offers(_ events: [PeerEvent]) -> [String] {
    events.compactMap { if case .signal(.offer(let sdp)) = $0 { sdp } else { nil } }
  }

  /// The longest time without a frame after a moment.
  private static func longestGap(_ side: EnginePair.Side, after moment: MonotonicInstant) -> Duration {
    let times = [moment] + side.frameTimes.filter { $0 > moment }
    return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .seconds(1_000)
  }

  @Test("when the answer to the offer of a restart is lost, media goes on in both directions")
  func lostAnswer() throws {
    var pair = try EnginePair(seed: 32, line: .init(delay: .milliseconds(10)))
    try pair.connect()
    pair.play()
    pair.run(for: .seconds(3))
    pair.relay = { message, toBob in
      if !toBob, case .answer = message { [] } else { [message] }
    }
    pair.alice.engine.requestICERestart()
    let moment = pair.now
    pair.run(for: .seconds(60))
    #expect(Self.offers(pair.alice.events).count == 2)
    #expect(Self.offers(pair.bob.events).isEmpty, "Bob's checks are answered")
    #expect(pair.areConnected)
    #expect(pair.alice.ending == nil && pair.bob.ending == nil)
    #expect(Self.longestGap(pair.alice, after: moment) < .seconds(1))
    #expect(Self.longestGap(pair.bob, after: moment) < .seconds(1))
  }

  @Test("a check with the user fragment of an offer reaches its engine before the answer does")
  func checkBeforeTheAnswer() throws {
    let call = DemultiplexerCall(seed: 33)
    try call.enter("guest", host: 1)
    try call.connect("guest")
    call.demultiplexer.restartICE(of: ParticipantID("guest"))
    call.run(for: .zero)
    let offer = try #require(Self.offers(call.events(of: "guest")).last)
    func line(_ name: String) throws -> String {
      let line = try #require(offer.split(separator: "\r\n").first { $0.hasPrefix("a=\(name):") })
      return String(line.dropFirst(name.count + 3))
    }
    var request = STUNMessage(.request, transactionID: .init(high: 1, low: 1))
    request.username = "\(try line("ice-ufrag")):new"
    request.priority = 1
    request.iceControlling = 1
    request.usesCandidate = true
    let address = TransportAddress(ip: .v4(0x0A00_0042), port: 4242)
    let engine = try #require(call.engine(of: "guest"))
    #expect(!engine.isValidated(local: DemultiplexerCall.botAddress, remote: address))
    call.datagram(request.encoded(integrityKey: Array(try line("ice-pwd").utf8)), from: address)
    #expect(engine.isValidated(local: DemultiplexerCall.botAddress, remote: address))
    call.run(for: .seconds(1))
    #expect(engine.state == .connected)
  }
}

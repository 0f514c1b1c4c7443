import FaultInjection
import Media
import NIOCore
import PeerEngineTestSupport
import Signalling
import TestSupport
import Testing

@testable import PeerEngine

@Suite("A peer with a deliberate signalling fault")
struct SignallingFaultTests {
  private func pair(_ fault: Fault) -> DemultiplexerPair {
    DemultiplexerPair { $0.policy.interceptors = [.injecting(fault)] }
  }

  /// Expects that media is delivered in both directions, complete and in order, for another two seconds.
  private func expectMedia(_ pair: DemultiplexerPair, sourceLocation: SourceLocation = #_sourceLocation) {
    let before = (pair.alice.frames.count, pair.bob.frames.count)
    pair.play()
    pair.run(for: .seconds(2))
    for (heard, count, source) in [(pair.alice, before.0, pair.bob), (pair.bob, before.1, pair.alice)] {
      let sent = source.source?.sent ?? []
      for codec in [Codec.opus, .vp8] {
        let came = heard.frames.dropFirst(count).map(\.frame).payloads(codec)
        let all = sent.payloads(codec)
        #expect(came.count >= all.count - 3, sourceLocation: sourceLocation)
        expectSame(came, Array(all.prefix(came.count)), sourceLocation: sourceLocation)
      }
    }
  }

  private func isCandidate(_ message: SignallingMessage) -> Bool {
    if case .candidate = message { true } else { false }
  }

  @Test(
    "candidate before offer: the candidates are sent first, the description a second later, and the call connects",
    arguments: [true, false])
  func candidateFirst(aliceOffers: Bool) throws {
    let pair = pair(.candidateBeforeOffer)
    try pair.connect(aliceOffers: aliceOffers)
    let said = pair.alice.said
    let position = try #require(said.firstIndex { !isCandidate($0.message) })
    let first = try #require(said.first)
    #expect(position > 0)
    #expect(said[position].time - first.time >= .seconds(1))
    #expect(said.count { !isCandidate($0.message) } == 1)
    #expect(pair.alice.statistics?.faultsInjected == 1)
    expectMedia(pair)
  }

  @Test(
    "second offer: the peer offers again 3 s after the connection is established, and nothing is interrupted",
    arguments: [true, false])
  func secondOffer(aliceOffers: Bool) throws {
    let pair = pair(.secondOffer)
    try pair.connect(aliceOffers: aliceOffers)
    let connected = pair.now
    pair.play()
    pair.run(for: .milliseconds(2_900))
    let offers = { pair.alice.said.filter { if case .offer = $0.message { true } else { false } } }
    #expect(offers().count == (aliceOffers ? 1 : 0))
    #expect(pair.alice.statistics?.faultsInjected == 0)
    pair.run(for: .milliseconds(200))
    let last = try #require(offers().last)
    #expect(offers().count == (aliceOffers ? 2 : 1))
    #expect(abs((last.time - connected) / .milliseconds(1) - 3_000) < 20)
    pair.run(for: .seconds(7))
    #expect(offers().count == (aliceOffers ? 2 : 1))
    #expect(pair.alice.statistics?.faultsInjected == 1)
    // The offer was answered on the same connection, and no frame is missing.
    let answers = pair.bob.said.count { if case .answer = $0.message { true } else { false } }
    #expect(answers == (aliceOffers ? 2 : 1))
    for (heard, source) in [(pair.alice, pair.bob), (pair.bob, pair.alice)] {
      #expect(heard.events.count { $0.event == .stateChanged(.connected) } == 1)
      #expect(heard.ending == nil)
      for codec in [Codec.opus, .vp8] {
        let came = heard.frames.map(\.frame).payloads(codec)
        expectSame(came, Array((source.source?.sent ?? []).payloads(codec).prefix(came.count)))
        #expect(came.count > (codec == .opus ? 490 : 290))
      }
    }
  }

  @Test("slow answer: for 8 s the peer signals and sends nothing, and then the call connects")
  func slowAnswer() throws {
    let pair = pair(.slowAnswer)
    pair.call(aliceOffers: false)
    pair.run(for: .milliseconds(7_990))
    #expect(pair.alice.said.isEmpty)
    #expect(pair.alice.sent.isEmpty)
    #expect(pair.bob.ending == nil)
    pair.run(for: .seconds(2))
    let answer = try #require(pair.alice.said.first)
    #expect(abs((answer.time - pair.start) / .milliseconds(1) - 8_001) < 5)
    #expect(pair.bob.engine?.state == .connected)
    #expect(pair.bob.said.count { if case .offer = $0.message { true } else { false } } == 1)
    expectMedia(pair)
  }

  @Test(
    "slow answer: a peer that makes the offer has nothing to answer, and the statistics show that no fault occurred")
  func slowAnswerOfOfferer() throws {
    let pair = pair(.slowAnswer)
    try pair.connect()
    #expect(pair.now - pair.start < .seconds(2))
    #expect(pair.alice.statistics?.faultsInjected == 0)
  }

  @Test(
    "wrong fingerprint: the other side refuses the certificate, accepts no media and reports the reason",
    arguments: [true, false])
  func wrongFingerprint(aliceOffers: Bool) throws {
    let pair = pair(.wrongFingerprint)
    pair.play()
    pair.call(aliceOffers: aliceOffers)
    pair.run(for: .seconds(5))
    let ending = try #require(pair.bob.ending).ending
    print("measured: a wrong fingerprint ends with: \(ending.sentence)")
    #expect(ending.cause == .failed)
    #expect(ending.sentence.contains("fingerprint"))
    #expect(pair.bob.frames.isEmpty)
    #expect(!pair.bob.events.contains { $0.event == .stateChanged(.connected) })
    #expect(pair.alice.frames.isEmpty)
  }
}

import CallCheck
import Media
import Testing

@testable import BotPeer
@testable import NetworkEmulation
@testable import PeerEngine

@Suite("repeated calls with the same seed")
struct ReplayTests {
  /// A path with every kind of impairment in both directions, from when the connection is established.
  private static let badPath =
    "20ms: loss=5%,burst=2,delay=40ms,jitter=20ms,reorder=2%; 1200ms: loss=2%,rate=600kbit; 2s: receive: loss=8%,delay=60ms"

  private func json(seed: UInt64, change: (inout ReplayCall.Plan) -> Void = { _ in }) throws -> String {
    var plan = ReplayCall.Plan(seed: seed, impairment: Self.badPath)
    plan.patternLength = .milliseconds(2_500)
    plan.duration = .seconds(3)
    change(&plan)
    return try ReplayCall(plan).report().json
  }

  /// The first text line in which two texts differ.
  private func difference(_ one: String, _ other: String) -> String {
    let pairs = zip(one.split(separator: "\n"), other.split(separator: "\n"))
    return pairs.first { $0 != $1 }.map { "'\($0)' against '\($1)'" } ?? "one is longer"
  }

  @Test("the same seed gives the same report, byte for byte, whichever side offers and whatever is returned")
  func sameSeed() throws {
    for comesBack in [false, true] {
      let change = { (plan: inout ReplayCall.Plan) in
        plan.checkersPattern = EncodedPattern.ordered
        plan.appsPattern = comesBack ? nil : EncodedPattern.disordered
        plan.checkerOffers = comesBack
      }
      let first = try json(seed: 11, change: change)
      let second = try json(seed: 11, change: change)
      let isSame = first == second
      #expect(isSame, "\(difference(first, second))")
      let digest = first.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
      print("measured: a report of \(first.utf8.count) bytes is identical twice, digest \(digest)")
    }
  }

  @Test("a machine so slow during the handshake that DTLS retransmits gives the same report")
  func slowMachine() throws {
    var plan = ReplayCall.Plan(seed: 11, impairment: Self.badPath)
    plan.appsPattern = EncodedPattern.disordered
    plan.patternLength = .seconds(1)
    plan.duration = .seconds(2)
    let quick = try ReplayCall(plan)
    let one = try quick.report().json
    plan.handshakePause = .milliseconds(60)
    let slow = try ReplayCall(plan)
    let other = try slow.report().json
    let handshakes = [quick, slow].map { call in
      call.checker.datagrams.statistics.first?.network?.received.byKind[.dtls]?.datagrams ?? 0
    }
    print("measured: handshake datagrams on a quick and on a slow machine: \(handshakes)")
    #expect(handshakes[0] < handshakes[1])
    let isSame = one == other
    #expect(isSame, "\(difference(one, other))")
  }

  @Test("no step precedes one that it requires, whichever side offers", arguments: [1, 2, 3, 4, 5, 6])
  func order(seed: UInt64) throws {
    var plan = ReplayCall.Plan(seed: seed, impairment: Self.badPath, checkerOffers: seed.isMultiple(of: 2))
    plan.patternStart = .milliseconds(100)
    plan.patternLength = .milliseconds(1_500)
    plan.duration = .seconds(2)
    let steps = try #require(try ReplayCall(plan).report().peers.first?.steps)
    let offer = try #require(steps.offerSent ?? steps.offerReceived)
    let answer = try #require(steps.answerSent ?? steps.answerReceived)
    let packet = try #require(steps.firstPacket)
    let line = try [
      #require(steps.seen), offer, answer, #require(steps.firstCheckAnswered), #require(steps.iceConnected),
      #require(steps.dtlsConnected), packet,
    ]
    let isInOrder = zip(line, line.dropFirst()).allSatisfy { $0 <= $1 }
    #expect(isInOrder, "\(line)")
    let (frame, audio) = (try #require(steps.firstFrame), try #require(steps.firstSound))
    #expect(packet <= frame && packet <= audio)
  }

  @Test("another seed gives another report")
  func otherSeed() throws {
    let first = try json(seed: 11)
    let second = try json(seed: 12)
    let isSame = first == second
    #expect(!isSame)
  }
}

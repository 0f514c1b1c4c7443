import ICE
import Media
import NetworkEmulation
import PeerEngine
import Signalling
import TestSupport
import Testing

@Suite("ICE restarts of ours")
struct ICERestartTests {
  private static let second = TransportAddress(ip: .v4(0x0A00_0063), port: 6000)

  private func call(bobRestartsICE: Bool = true) throws -> EnginePair {
    var pair = try EnginePair(seed: 31, line: .init(delay: .milliseconds(10)), bobRestartsICE: bobRestartsICE)
    try pair.connect()
    pair.play()
    pair.run(for: .seconds(3))
    return pair
  }

  /// The user fragments of the offers that a side has sent.
  private func offers(of side: EnginePair.Side) -> [String] {
    side.events.compactMap { event in
      guard case .signal(.offer(let sdp)) = event else { return nil }
      return sdp.split(separator: "\r\n").first { $0.hasPrefix("a=ice-ufrag:") }.map(String.init)
    }
  }

  /// The longest time without a frame after a moment.
  private func longestGap(_ side: EnginePair.Side, after moment: MonotonicInstant) -> Duration {
    let times = [moment] + side.frameTimes.filter { $0 > moment }
    return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .seconds(1_000)
  }

  @Test("when the only address of a side is replaced, media continues within a second, in the same call")
  func addressReplaced() throws {
    var pair = try call()
    let moment = pair.now
    pair.alice.engine.removeLocal(EnginePair.aliceAddress, now: pair.now)
    pair.collect()
    pair.run(for: .milliseconds(200))
    #expect(pair.alice.engine.state == .disconnected)
    pair.alice.address = Self.second
    pair.alice.engine.addLocalHost(Self.second, now: pair.now)
    pair.run(for: .seconds(5))
    #expect(pair.areConnected)
    #expect(longestGap(pair.alice, after: moment) < .seconds(1))
    #expect(longestGap(pair.bob, after: moment) < .seconds(1))
    #expect(Set(offers(of: pair.alice)).count == 2, "one restart")
    #expect(pair.alice.ending == nil && pair.bob.ending == nil)
    #expect(pair.alice.engine.statistics.localAddress == Self.second.description)
    #expect(pair.alice.engine.localCandidates == [Self.second])
  }

  @Test("a second address that appears is only signalled; when the first one vanishes, media continues within a second")
  func addressAdded() throws {
    var pair = try call()
    pair.alice.engine.addLocalHost(Self.second, now: pair.now)
    pair.run(for: .seconds(1))
    #expect(offers(of: pair.alice).count == 1)
    let trickled = pair.alice.events.contains { event in
      if case .signal(.candidate(let candidate)) = event {
        candidate.candidate.contains("10.0.0.99 6000")
      } else {
        false
      }
    }
    #expect(trickled)
    let moment = pair.now
    pair.alice.address = Self.second
    pair.alice.engine.removeLocal(EnginePair.aliceAddress, now: pair.now)
    pair.run(for: .seconds(4))
    #expect(longestGap(pair.alice, after: moment) < .seconds(1))
    #expect(longestGap(pair.bob, after: moment) < .seconds(1))
    #expect(pair.areConnected)
  }

  @Test(
    "both sides restart when nothing is heard for 5 s, their offers clash, and media continues when the path is back")
  func silence() throws {
    var pair = try call()
    pair.carries = { _, _ in false }
    pair.run(for: .milliseconds(4_900))
    #expect(offers(of: pair.alice).count == 1 && offers(of: pair.bob).isEmpty)
    pair.run(for: .seconds(2))
    #expect(Set(offers(of: pair.alice)).count == 2)
    #expect(!offers(of: pair.bob).isEmpty)
    pair.carries = { _, _ in true }
    let moment = pair.now
    pair.run(for: .seconds(4))
    #expect(longestGap(pair.alice, after: moment) < .seconds(2))
    #expect(longestGap(pair.bob, after: moment) < .seconds(2))
    #expect(pair.areConnected)
    #expect(pair.alice.ending == nil && pair.bob.ending == nil)
    // The restart is over: nothing more is sent.
    let count = offers(of: pair.alice).count + offers(of: pair.bob).count
    pair.run(for: .seconds(20))
    #expect(offers(of: pair.alice).count + offers(of: pair.bob).count == count)
  }

  @Test(
    "when nothing of ours arrives, ICE is restarted although the participant is heard, and the call goes on")
  func oneWay() throws {
    var pair = try call(bobRestartsICE: false)
    pair.carries = { _, toBob in !toBob }
    let start = pair.now
    pair.run(for: .milliseconds(4_900))
    #expect(offers(of: pair.alice).count == 1)
    try pair.run(until: { $0.alice.events.contains { $0.restart != nil } }, within: .milliseconds(6_200))
    let sentence = "The participant has answered no connectivity check for 5 s; ICE is restarted."
    #expect(pair.alice.events.compactMap(\.restart?.description) == [sentence])
    #expect(longestGap(pair.alice, after: start) < .seconds(1), "what the participant sends is received meanwhile")
    pair.run(for: .seconds(2))
    #expect(Set(offers(of: pair.alice)).count == 2)
    pair.carries = { _, _ in true }
    let moment = pair.now
    pair.run(for: .seconds(5))
    #expect(pair.areConnected)
    #expect(longestGap(pair.alice, after: start) < .seconds(1))
    #expect(longestGap(pair.bob, after: moment) < .seconds(3))
    #expect(pair.alice.ending == nil && pair.bob.ending == nil)
  }

  @Test("when nothing of ours arrives for 30 s, the call ends with that reason")
  func oneWayForLong() throws {
    var pair = try call(bobRestartsICE: false)
    pair.carries = { _, toBob in !toBob }
    let start = pair.now
    try pair.run(until: { $0.alice.ending != nil }, within: .seconds(40))
    #expect(pair.now - start > .seconds(22))
    #expect(Set(offers(of: pair.alice)).count >= 3, "one restart in 10 s")
    let sentence = "The participant is heard, but has answered no connectivity check for 30 s."
    #expect(pair.alice.ending == CloseReason(.connectionLost, sentence))
  }

  @Test("ten restarts on request leave one call without a lost frame")
  func tenRestarts() throws {
    var pair = try call()
    for number in 0..<10 {
      let side = number.isMultiple(of: 2) ? pair.alice.engine : pair.bob.engine
      side.requestICERestart()
      pair.run(for: .seconds(3))
    }
    let sent = pair.stopPlaying()
    pair.run(for: .seconds(2))
    #expect(Set(offers(of: pair.alice)).count + Set(offers(of: pair.bob)).count >= 11)
    expectSame(pair.bob.frames.payloads(.vp8), sent.fromAlice.payloads(.vp8))
    expectSame(pair.alice.frames.payloads(.vp8), sent.fromBob.payloads(.vp8))
    expectSame(pair.bob.frames.payloads(.opus), sent.fromAlice.payloads(.opus))
    #expect(pair.areConnected)
  }

  @Test("a participant who does not answer the offer of a restart stays in the call, whose path works")
  func notAnswered() throws {
    var pair = try call()
    let restarts = pair.alice.events.count
    pair.relay = { message, toBob in
      if toBob, case .offer = message { [] } else { [message] }
    }
    pair.alice.engine.requestICERestart()
    let moment = pair.now
    pair.run(for: .seconds(60))
    #expect(pair.alice.events.count > restarts && Set(offers(of: pair.alice)).count == 2)
    #expect(pair.areConnected)
    #expect(pair.alice.ending == nil && pair.bob.ending == nil)
    #expect(longestGap(pair.alice, after: moment) < .seconds(1))
    #expect(longestGap(pair.bob, after: moment) < .seconds(1))
  }

  @Test("an offer that the signalling lost is repeated once it is connected again, and an answered one is not")
  func repeatedOffer() throws {
    var pair = try call()
    pair.alice.engine.repeatOffer(now: pair.now)
    pair.run(for: .seconds(1))
    #expect(offers(of: pair.alice).count == 1)
    pair.relay = { _, _ in [] }
    pair.alice.engine.requestICERestart()
    pair.run(for: .seconds(1))
    pair.relay = { message, _ in [message] }
    pair.run(for: .seconds(1))
    #expect(offers(of: pair.alice).count == 2)
    pair.alice.engine.repeatOffer(now: pair.now)
    let moment = pair.now
    pair.run(for: .seconds(1))
    // It is answered now, and not repeated again.
    pair.alice.engine.repeatOffer(now: pair.now)
    pair.collect()
    #expect(offers(of: pair.alice).count == 3 && Set(offers(of: pair.alice)).count == 2, "the same restart")
    #expect(pair.areConnected)
    #expect(longestGap(pair.alice, after: moment) < .seconds(1))
  }

  @Test("an offer of ours that is not answered for 10 s gives way to one of the participant")
  func givesWay() throws {
    var pair = try call()
    pair.relay = { message, toBob in
      if !toBob, case .offer = message { [] } else { [message] }
    }
    // Bob is impolite.
    pair.bob.engine.requestICERestart()
    pair.run(for: .seconds(1))
    let answers = { (side: EnginePair.Side) in
      side.events.count { if case .signal(.answer) = $0 { true } else { false } }
    }
    let before = answers(pair.bob)
    pair.alice.engine.requestICERestart()
    pair.run(for: .seconds(1))
    #expect(answers(pair.bob) == before)
    pair.run(for: .seconds(9))
    pair.alice.engine.requestICERestart()
    pair.run(for: .seconds(2))
    #expect(answers(pair.bob) == before + 1)
    #expect(pair.areConnected)
    #expect(pair.alice.ending == nil && pair.bob.ending == nil)
  }

  /// The impolite side's offer is overdue by then, and must not give way as the polite one does.
  @Test(
    "offers of both sides that the signalling holds for 17 s, with the media, lead to one path",
    arguments: [true, false])
  func heldOffers(isRepeated: Bool) throws {
    var pair = try call()
    let held = HeldMessages()
    pair.relay = { message, toBob in
      held.messages.append((message, toBob))
      return []
    }
    pair.carries = { _, _ in false }
    pair.run(for: .seconds(17))
    pair.relay = { message, _ in [message] }
    pair.carries = { _, _ in true }
    var isFirst = [true: true, false: true]
    for (message, toBob) in held.messages {
      if case .offer = message {
        if !isRepeated, isFirst[toBob] != true { continue }
        isFirst[toBob] = false
      }
      if toBob { pair.deliverToBob(message) } else { pair.deliverToAlice(message) }
    }
    let moment = pair.now
    pair.run(for: .seconds(9))
    let (alice, bob) = (try #require(pair.alice.engine.session), try #require(pair.bob.engine.session))
    #expect(alice.remoteUsernameFragment == bob.localCredentials.usernameFragment)
    #expect(alice.remotePassword == bob.localCredentials.password)
    #expect(bob.remoteUsernameFragment == alice.localCredentials.usernameFragment)
    #expect(bob.remotePassword == alice.localCredentials.password)
    #expect(pair.areConnected)
    #expect(longestGap(pair.alice, after: moment) < .seconds(3))
    #expect(longestGap(pair.bob, after: moment) < .seconds(3))
  }

  private final class HeldMessages: @unchecked Sendable {
    var messages: [(SignallingMessage, toBob: Bool)] = []
  }

  @Test("a participant who answers the offer of a restart without restarting ICE stays in the call")
  func answeredWithoutRestart() throws {
    var pair = try call()
    // aiortc answers with the credentials that it has, and goes on with the former ones of the other side.
    let answers = pair.bob.events.compactMap { event in
      if case .signal(.answer(let sdp)) = event { sdp } else { nil }
    }
    let answer = try #require(answers.last)
    pair.relay = { message, toBob in
      if toBob, case .offer = message { [] } else { [message] }
    }
    pair.alice.engine.requestICERestart()
    let moment = pair.now
    pair.run(for: .milliseconds(10))
    #expect(Set(offers(of: pair.alice)).count == 2)
    pair.deliverToAlice(.answer(answer))
    pair.run(for: .seconds(60))
    #expect(pair.areConnected)
    #expect(pair.alice.ending == nil && pair.bob.ending == nil)
    #expect(longestGap(pair.alice, after: moment) < .seconds(1))
    #expect(longestGap(pair.bob, after: moment) < .seconds(1))
  }

  @Test("a participant who has left the room gets no offer, and a side that is told not to restart sends none")
  func notRestarted() throws {
    var pair = try call()
    pair.carries = { _, _ in false }
    pair.alice.engine.participantLeft(now: pair.now)
    pair.run(for: .seconds(8))
    #expect(offers(of: pair.alice).count == 1)
  }
}

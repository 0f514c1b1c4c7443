import Media
import NIOCore
import PeerEngine
import PeerEngineTestSupport
import Signalling
import TestSupport
import Testing

@Suite("A participant who sends unusual signalling")
struct StrangeSignallingTests {
  private func scene() throws -> (mallory: ScriptedPeer, anna: HonestParticipant) {
    let call = DemultiplexerCall(seed: 81)
    let anna = try HonestParticipant(in: call)
    return (try ScriptedPeer(in: call), anna)
  }

  private func offer(of mallory: ScriptedPeer) throws -> String {
    let guest = try #require(mallory.call.guests[mallory.id]?.engine)
    return try guest.takeOffer(now: mallory.call.now)
  }

  private func answers(to name: String, in call: DemultiplexerCall) -> Int {
    call.events(of: name).count { if case .signal(.answer) = $0 { true } else { false } }
  }

  private func expectMedia(_ mallory: ScriptedPeer) {
    let before = mallory.videoFrames.count
    let sent = (0..<5).map { mallory.sendVideoFrame($0, isKeyframe: $0 == 0) }
    mallory.call.run(for: .seconds(1))
    expectSame(Array(mallory.videoFrames.dropFirst(before)), sent)
  }

  @Test("candidates sent before the offer are used once it arrives")
  func candidatesFirst() throws {
    let call = DemultiplexerCall(seed: 82)
    let anna = try HonestParticipant(in: call)
    for host in 1...3 {
      call.signal(
        .candidate(
          TrickledCandidate(
            candidate: "candidate:1 1 udp 2122260223 10.0.0.\(60 + host * 2) 5000 typ host", mid: "0", mLineIndex: 0)),
        from: "mallory")
    }
    call.run(for: .seconds(3))
    #expect(call.engine(of: "mallory")?.state == .new)
    let mallory = try ScriptedPeer(host: 66, in: call)
    expectMedia(mallory)
    #expect(call.endings(of: "mallory").isEmpty)
    anna.expectUnharmed()
  }

  @Test("participants who send candidates but no offer are discarded after 30 s")
  func candidatesOnly() throws {
    let call = DemultiplexerCall(seed: 83)
    for number in 0..<20 {
      call.signal(
        .candidate(TrickledCandidate(candidate: "candidate:\(number)", mid: "0", mLineIndex: 0)),
        from: "nobody \(number)")
    }
    #expect(call.demultiplexer.engines.count == 20)
    call.run(for: .seconds(31))
    #expect(call.demultiplexer.engines.isEmpty)
  }

  @Test("repeated offers, also during the answer to the first, are each answered within one call")
  func offersTwice() throws {
    let call = DemultiplexerCall(seed: 84)
    let anna = try HonestParticipant(in: call)
    try call.enter("mallory", host: 66)
    guard let guest = call.guests[ParticipantID("mallory")]?.engine else { return }
    let offer = try guest.takeOffer(now: call.now)
    call.signal(.offer(offer), from: "mallory")
    call.signal(.offer(offer), from: "mallory")
    try call.connect("mallory")
    call.signal(.offer(offer), from: "mallory")
    call.play("mallory", seed: 4)
    call.run(for: .seconds(2))
    let sent = call.stop("mallory")
    call.run(for: .milliseconds(200))
    expectSame(call.frames(of: "mallory").payloads(.vp8), sent.payloads(.vp8))
    #expect(answers(to: "mallory", in: call) == 4)
    #expect(call.endings(of: "mallory").isEmpty)
    anna.expectUnharmed()
  }

  @Test("of 10,000 offers a few are answered, including the last, and everybody's media continues")
  func offerFlood() throws {
    let (mallory, anna) = try scene()
    let offer = try offer(of: mallory)
    let before = answers(to: mallory.name, in: mallory.call)
    let began = ContinuousClock.now
    for number in 0..<10_000 {
      mallory.call.signal(.offer(offer + "a=x-number:\(number)\r\n"), from: mallory.name)
      if number % 1_000 == 0 { mallory.call.run(for: .milliseconds(10)) }
    }
    mallory.call.run(for: .seconds(3))
    let answered = answers(to: mallory.name, in: mallory.call) - before
    print("measured: 10,000 offers, \(answered) answered, within \(ContinuousClock.now - began)")
    #expect((2...20).contains(answered))
    #expect(mallory.engine?.state == .connected)
    expectMedia(mallory)
    anna.expectUnharmed()
  }

  @Test("of 10,000 offers that each begin a new connection only a few do, and other participants' media continues")
  func connectionFlood() throws {
    let (mallory, anna) = try scene()
    let template = try offer(of: mallory).split(separator: "\r\n", omittingEmptySubsequences: false).map { line in
      if line.hasPrefix("o=") { return "o=- NUMBER 1 IN IP4 127.0.0.1" }
      if line.hasPrefix("a=ice-ufrag:") { return "a=ice-ufrag:floodNUMBER" }
      return String(line)
    }.joined(separator: "\r\n")
    let parts = template.split(separator: "NUMBER", omittingEmptySubsequences: false).map(String.init)
    let before = mallory.call.demultiplexer.engines.count
    for number in 0..<10_000 {
      // Another session id and other credentials, but the same certificate: each offer needs an engine of its own.
      let text = parts.joined(separator: "\(number)")
      mallory.call.signal(.offer(text), from: mallory.name)
      if number % 1_000 == 0 { mallory.call.run(for: .milliseconds(10)) }
    }
    mallory.call.run(for: .seconds(3))
    #expect(mallory.call.demultiplexer.engines.count == before)
    #expect((2...20).contains(mallory.call.endings(of: mallory.name).count))
    anna.expectUnharmed()
  }

  @Test("of 10,000 unusable messages some are reported, and the others are counted")
  func problemFlood() throws {
    let (mallory, anna) = try scene()
    for number in 0..<10_000 {
      mallory.call.signal(
        .candidate(TrickledCandidate(candidate: "candidate \(number)", mid: nil, mLineIndex: nil)), from: mallory.name)
      mallory.call.signal(.answer("v=\(number)"), from: mallory.name)
    }
    mallory.call.run(for: .seconds(2))
    mallory.call.signal(.candidate(TrickledCandidate(candidate: "x", mid: nil, mLineIndex: nil)), from: mallory.name)
    mallory.call.run(for: .milliseconds(10))
    let problems = mallory.call.events(of: mallory.name).compactMap(\.problem)
    #expect(problems.count < 30)
    #expect(problems.contains { $0.contains("more messages of the participant could not be used") })
    expectMedia(mallory)
    anna.expectUnharmed()
  }
}

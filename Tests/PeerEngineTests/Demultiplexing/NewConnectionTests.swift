import Media
import NIOCore
import PeerEngine
import PeerEngineTestSupport
import Signalling
import TestSupport
import Testing

@Suite("A participant who begins a new connection under the same id")
struct NewConnectionTests {
  private func call(identity: DTLSIdentity? = nil) throws -> DemultiplexerCall {
    let call = DemultiplexerCall(seed: 41)
    try call.enter("anna", host: 1, identity: identity)
    try call.connect("anna")
    call.play("anna", seed: 1)
    call.run(for: .seconds(2))
    return call
  }

  /// Expects that all media sent over the new connection arrives.
  private func expectMedia(_ call: DemultiplexerCall) throws {
    try call.connect("anna", within: .seconds(10))
    let before = call.frames(of: "anna").count
    call.play("anna", seed: 2)
    call.run(for: .seconds(2))
    let sent = call.stop("anna")
    call.run(for: .seconds(4))
    let after = Array(call.frames(of: "anna").dropFirst(before))
    for codec in [Codec.opus, .vp8] {
      let came = Set(after.payloads(codec))
      expectAll(sent.payloads(codec)) { came.contains($0) }
    }
  }

  @Test(
    "a new connection continues the participant's call, so that a recording continues",
    arguments: [5000, 5001] as [UInt16])
  func anotherCertificate(port: UInt16) throws {
    let call = try call()
    let engine = call.engine(of: "anna")
    try call.enter("anna", host: 1, port: port)
    let began = call.now
    try call.run(within: .seconds(1)) { call.engine(of: "anna")?.state == .connecting }
    try expectMedia(call)
    #expect(call.engine(of: "anna") === engine)
    #expect(call.endings(of: "anna").isEmpty)
    let times = call.guests[ParticipantID("anna")]?.events.filter { $0.event == .stateChanged(.connected) }.map(\.time)
    let connected = try #require(times?.last)
    print("measured: a participant's new connection is established after \(connected - began)")
    // Far less than the 30 s after which a silent connection is lost. DTLS timers use the real clock, so a busy machine
    // may retransmit a flight.
    #expect(connected - began < .seconds(5))
  }

  @Test(
    "a participant who rejoins continues the call only if the server verifies the identity; otherwise a new call begins",
    arguments: [true, false])
  func returned(isVerified: Bool) throws {
    let call = try call()
    let engine = call.engine(of: "anna")
    call.participantLeft("anna", isRejoinVerified: isVerified)
    call.run(for: .milliseconds(400))
    // From another machine, with another certificate.
    try call.enter("anna", host: 2, port: 5001)
    try call.run(within: .seconds(1)) { call.engine(of: "anna")?.state == .connecting }
    try expectMedia(call)
    #expect((call.engine(of: "anna") === engine) == isVerified)
    let sentence =
      "A new connection arrived under this id, and the server does not verify that it is the same participant."
    #expect(call.endings(of: "anna").map(\.ending.sentence) == (isVerified ? [] : [sentence]))
    #expect(call.endings(of: "anna").allSatisfy { $0.ending.cause == .connectionLost })
  }

  @Test(
    "a new connection with the same certificate, recognised only by its session id, ends the call and begins another")
  func sameCertificate() throws {
    let identity = try DTLSIdentity()
    let call = try call(identity: identity)
    let engine = call.engine(of: "anna")
    try call.enter("anna", host: 1, port: 5001, identity: identity)
    try call.run(within: .seconds(1)) { call.engine(of: "anna") !== engine }
    try expectMedia(call)
    #expect(call.endings(of: "anna").map(\.ending.sentence) == ["The participant has begun a new connection."])
  }

  @Test("a new connection ends the call and begins another if our own offer is still unanswered")
  func duringOurOffer() throws {
    let call = try call()
    let engine = try #require(call.engine(of: "anna"))
    call.guests[ParticipantID("anna")]?.speaks = false
    call.demultiplexer.offer(to: ParticipantID("anna"), now: call.now)
    try call.enter("anna", host: 1, port: 5001)
    try call.run(within: .seconds(1)) { call.engine(of: "anna") !== engine }
    try expectMedia(call)
    #expect(call.endings(of: "anna").map(\.ending.cause) == [.closedByParticipant])
  }

  @Test("neither an ICE restart nor a description with another session id counts as a new connection")
  func notNew() throws {
    let call = try call()
    let engine = try #require(call.engine(of: "anna"))
    let guest = try #require(call.guests[ParticipantID("anna")]?.engine)
    let restart = try guest.takeOffer(restartingICE: true, now: call.now)
    #expect(!engine.needsNewEngine(forOffer: restart))
    let again = call.events(of: "anna")
    #expect(!again.contains { if case .ended = $0 { true } else { false } })
    // aiortc uses another session id in each description.
    let renamed = restart.split(separator: "\r\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("o=") ? "o=- 4711 4711 IN IP4 0.0.0.0" : String($0) }.joined(separator: "\r\n")
    let plain = guest.localUsernameFragments.first.map { fragment in
      renamed.split(separator: "\r\n", omittingEmptySubsequences: false)
        .map { $0.hasPrefix("a=ice-ufrag:") ? "a=ice-ufrag:\(fragment)" : String($0) }.joined(separator: "\r\n")
    }
    #expect(!engine.needsNewEngine(forOffer: try #require(plain)))
  }
}

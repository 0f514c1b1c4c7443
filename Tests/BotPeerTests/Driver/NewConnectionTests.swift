import Media
import NIOCore
import Testing

@testable import BotPeer
@testable import NetworkEmulation
@testable import PeerEngine

@Suite("A participant who begins a new connection under the same name")
struct NewConnectionTests {
  private func call(identity: DTLSIdentity? = nil) throws -> SwitchboardCall {
    let call = SwitchboardCall(seed: 41)
    try call.enter("anna", host: 1, identity: identity)
    try call.connect("anna")
    call.play("anna", seed: 1)
    call.run(for: .seconds(2))
    return call
  }

  /// Expects that what the new connection sends comes out whole.
  private func expectMedia(_ call: SwitchboardCall) throws {
    try call.connect("anna", within: .seconds(10))
    let before = call.frames(of: "anna").count
    call.play("anna", seed: 2)
    call.run(for: .seconds(2))
    let sent = call.stop("anna")
    call.run(for: .seconds(4))
    let after = Array(call.frames(of: "anna").dropFirst(before))
    for codec in Codec.allCases {
      let came = Set(after.payloads(codec))
      expectAll(sent.payloads(codec)) { came.contains($0) }
    }
  }

  @Test("is taken on where they were, so that a recording continues", arguments: [5000, 5001] as [UInt16])
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
    print("measured: a participant's new connection stands after \(connected - began)")
    // Far less than the 30 s after which a connection that says nothing is lost. DTLS has a clock of its own, which a busy
    // machine can make repeat a flight.
    #expect(connected - began < .seconds(5))
  }

  @Test(
    "and who had left the room is taken on only if the server verifies who comes back; else they get a call of their own",
    arguments: [true, false])
  func returned(isVerified: Bool) throws {
    let call = try call()
    let engine = call.engine(of: "anna")
    call.participantLeft("anna", returnIsVerified: isVerified)
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

  @Test("ends the call and begins another where nothing but the session's id says that it is new")
  func sameCertificate() throws {
    let identity = try DTLSIdentity()
    let call = try call(identity: identity)
    let engine = call.engine(of: "anna")
    try call.enter("anna", host: 1, port: 5001, identity: identity)
    try call.run(within: .seconds(1)) { call.engine(of: "anna") !== engine }
    try expectMedia(call)
    #expect(call.endings(of: "anna").map(\.ending.sentence) == ["The participant has begun a new connection."])
  }

  @Test("ends the call and begins another where an offer of ours waits for an answer that nobody will give")
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

  @Test("is not seen in an ICE restart, nor in a description with another session id")
  func notNew() throws {
    let call = try call()
    let engine = try #require(call.engine(of: "anna"))
    let guest = try #require(call.guests[ParticipantID("anna")]?.engine)
    guest.negotiator.restartICE()
    let restart = guest.negotiator.createOffer()
    #expect(!engine.needsNewEngine(forOffer: restart))
    let again = call.events(of: "anna")
    #expect(!again.contains { if case .ended = $0 { true } else { false } })
    // aiortc draws another session id for each description.
    let renamed = restart.split(separator: "\r\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("o=") ? "o=- 4711 4711 IN IP4 0.0.0.0" : String($0) }.joined(separator: "\r\n")
    let plain = guest.localUsernameFragments.first.map { fragment in
      renamed.split(separator: "\r\n", omittingEmptySubsequences: false)
        .map { $0.hasPrefix("a=ice-ufrag:") ? "a=ice-ufrag:\(fragment)" : String($0) }.joined(separator: "\r\n")
    }
    #expect(!engine.needsNewEngine(forOffer: try #require(plain)))
  }
}

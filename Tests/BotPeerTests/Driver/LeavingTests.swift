import Media
import NIOCore
import RTP
import Testing

@testable import BotPeer
@testable import NetworkEmulation
@testable import PeerEngine

@Suite("How a participant leaves")
struct LeavingTests {
  private func call(playing: Bool = true) throws -> SwitchboardCall {
    let call = SwitchboardCall(seed: 31)
    try call.enter("anna", host: 1)
    try call.connect("anna")
    if playing { call.play("anna", seed: 1) }
    call.run(for: .seconds(2))
    return call
  }

  @Test("one whose way to the server breaks continues being recorded for as long as media comes")
  func mediaGoesOn() throws {
    let call = try call()
    call.participantLeft("anna")
    call.run(for: .seconds(20))
    #expect(call.engine(of: "anna")?.state == .connected)
    let sent = call.stop("anna")
    call.run(for: .milliseconds(100))
    for codec in Codec.allCases { expectSame(call.frames(of: "anna").payloads(codec), sent.payloads(codec)) }
    #expect(call.endings(of: "anna").isEmpty)
  }

  @Test("of those who have left and continue sending, the ones who left first are given up when there are too many")
  func tooManyGoOn() throws {
    let call = SwitchboardCall(seed: 32) { $0.departedLimit = 2 }
    let names = ["anna", "bert", "carl", "dora"]
    for (index, name) in names.enumerated() {
      try call.enter(name, host: UInt8(index + 1))
      try call.connect(name)
      call.play(name, seed: UInt64(index + 1), shape: .slim)
    }
    call.run(for: .seconds(1))
    for name in ["bert", "anna", "carl"] {
      call.participantLeft(name)
      call.run(for: .milliseconds(100))
    }
    call.run(for: .seconds(5))
    #expect(names.map { call.engine(of: $0)?.state } == [.connected, nil, .connected, .connected])
    #expect(
      call.endings(of: "bert").map(\.ending)
        == [CloseReason(.closedByParticipant, "The participant left the room, and 2 others left after them.")])
  }

  @Test("nothing but checks goes to somebody who answers none, however often they restart ICE")
  func restartsWithoutAnswers() throws {
    let call = SwitchboardCall(seed: 33, sending: [.audio, .video])
    try call.enter("anna", host: 1)
    try call.connect("anna")
    let guest = try #require(call.guests[ParticipantID("anna")]?.engine)
    guest.negotiator.restartICE()
    let lines = guest.negotiator.createOffer().split(separator: "\r\n", omittingEmptySubsequences: false)
    call.guests[ParticipantID("anna")]?.speaks = false
    let engine = try #require(call.engine(of: "anna"))
    #expect(engine.path != nil)
    for round in 0..<9 {
      let offer = lines.map { $0.hasPrefix("a=ice-ufrag:") ? "a=ice-ufrag:round\(round)" : String($0) }
      call.signal(.offer(offer.joined(separator: "\r\n")), from: "anna")
      call.run(for: .seconds(4))
    }
    #expect(engine.path == nil)
  }

  @Test("one who closes the page without a goodbye is gone 2 s after the server said so")
  func silentLeave() throws {
    let call = try call()
    call.guests[ParticipantID("anna")]?.speaks = false
    let left = call.now
    call.run(for: .milliseconds(50))
    call.participantLeft("anna")
    call.run(for: .seconds(5))
    let ending = try #require(call.endings(of: "anna").first)
    print("measured: a recording ends \(ending.time - left) after its participant has left without a word")
    #expect(ending.ending == CloseReason(.closedByParticipant, "The participant left the room."))
    #expect(ending.time - left < .milliseconds(2_500))
    #expect(call.engine(of: "anna") == nil)
  }

  @Test("one who was silent before is gone 2 s after the server said so, though ICE continues")
  func onlyChecksGoOn() throws {
    let call = try call(playing: false)
    call.participantLeft("anna")
    let left = call.now
    call.run(for: .seconds(5))
    let ending = try #require(call.endings(of: "anna").first)
    #expect(ending.time - left < .milliseconds(2_500))
  }

  @Test("one who says goodbye is gone as soon as the server says so, or the goodbye comes", arguments: [true, false])
  func goodbye(comesFirst: Bool) throws {
    let call = try call()
    call.guests[ParticipantID("anna")]?.speaks = false
    call.run(for: .milliseconds(30))
    if !comesFirst { call.participantLeft("anna") }
    let guest = try #require(call.guests[ParticipantID("anna")])
    var packet = ByteBuffer()
    let ssrc = try #require(guest.engine.media.sending.first?.ssrc)
    RTCPPacket.write(
      [.receiverReport(ReceiverReport(ssrc: ssrc)), .goodbye(Goodbye(sources: [ssrc]))], into: &packet)
    #expect(guest.engine.secure.session?.protect(&packet, isControl: true) == true)
    call.datagram(packet, from: guest.address)
    call.run(for: .milliseconds(10))
    #expect(call.endings(of: "anna").isEmpty == comesFirst)
    call.participantLeft("anna")
    call.run(for: .milliseconds(10))
    #expect(call.endings(of: "anna").map(\.ending.cause) == [.closedByParticipant])
  }

  @Test("one who is not connected is gone as soon as the server says so")
  func notConnected() throws {
    let call = SwitchboardCall()
    try call.enter("anna", host: 1)
    call.run(for: .milliseconds(3))
    #expect(call.engine(of: "anna") != nil)
    call.participantLeft("anna")
    #expect(call.endings(of: "anna").map(\.ending.cause) == [.closedByParticipant])
    #expect(call.engine(of: "anna") == nil)
  }

  @Test("one who is heard of again by signalling has not left")
  func comesBack() throws {
    let call = try call()
    call.participantLeft("anna")
    call.run(for: .seconds(1))
    call.guests[ParticipantID("anna")]?.engine.offer(now: call.now)
    call.run(for: .milliseconds(100))
    // Silence is of no account now, until connections are lost in the ordinary way.
    call.guests[ParticipantID("anna")]?.speaks = false
    call.run(for: .seconds(6))
    #expect(call.endings(of: "anna").isEmpty)
    call.guests[ParticipantID("anna")]?.speaks = true
    call.run(for: .seconds(3))
    #expect(call.engine(of: "anna")?.state == .connected)
  }

  @Test("one who was lost for 30 s is let in again under the same name, as a new call")
  func rejoinsAfterLoss() throws {
    let call = try call()
    call.guests[ParticipantID("anna")]?.speaks = false
    call.run(for: .seconds(31))
    #expect(call.endings(of: "anna").map(\.ending.cause) == [.connectionLost])
    #expect(call.engine(of: "anna") == nil)
    let before = call.frames(of: "anna").count
    try call.enter("anna", host: 1, port: 5001)
    try call.connect("anna")
    call.play("anna", seed: 2)
    call.run(for: .seconds(2))
    let sent = call.stop("anna")
    call.run(for: .milliseconds(200))
    expectSame(Array(call.frames(of: "anna").dropFirst(before)).payloads(.vp8), sent.payloads(.vp8))
    #expect(call.events(of: "anna").filter { $0 == .stateChanged(.connected) }.count == 2)
  }
}

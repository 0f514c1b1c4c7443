import Media
import NIOCore
import PeerEngine
import PeerEngineTestSupport
import RTP
import Signalling
import TestSupport
import Testing

@Suite("Participants who leave")
struct LeavingTests {
  private func call(playing: Bool = true) throws -> DemultiplexerCall {
    let call = DemultiplexerCall(seed: 31)
    try call.enter("anna", host: 1)
    try call.connect("anna")
    if playing { call.play("anna", seed: 1) }
    call.run(for: .seconds(2))
    return call
  }

  @Test("a participant who loses the connection to the server is recorded for as long as media arrives")
  func mediaGoesOn() throws {
    let call = try call()
    call.participantLeft("anna")
    call.run(for: .seconds(20))
    #expect(call.engine(of: "anna")?.state == .connected)
    let sent = call.stop("anna")
    call.run(for: .milliseconds(100))
    for codec in [Codec.opus, .vp8] { expectSame(call.frames(of: "anna").payloads(codec), sent.payloads(codec)) }
    #expect(call.endings(of: "anna").isEmpty)
  }

  @Test("when too many participants have left but still send, the connections of those who left first are closed")
  func tooManyGoOn() throws {
    let call = DemultiplexerCall(seed: 32) { $0.departedLimit = 2 }
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

  @Test("a participant who answers no connectivity checks is sent nothing but checks, however often they restart ICE")
  func restartsWithoutAnswers() throws {
    let call = DemultiplexerCall(seed: 33, sending: [.audio, .video])
    try call.enter("anna", host: 1)
    try call.connect("anna")
    let guest = try #require(call.guests[ParticipantID("anna")]?.engine)
    let restart = try guest.takeOffer(restartingICE: true, now: call.now)
    let lines = restart.split(separator: "\r\n", omittingEmptySubsequences: false)
    call.guests[ParticipantID("anna")]?.speaks = false
    let engine = try #require(call.engine(of: "anna"))
    #expect(engine.statistics.remoteAddress != nil)
    for round in 0..<9 {
      let offer = lines.map { $0.hasPrefix("a=ice-ufrag:") ? "a=ice-ufrag:round\(round)" : String($0) }
      call.signal(.offer(offer.joined(separator: "\r\n")), from: "anna")
      call.run(for: .seconds(4))
    }
    #expect(engine.statistics.remoteAddress == nil)
  }

  @Test("the connection of a participant who closes the page without a goodbye ends 2 s after the server reports it")
  func silentLeave() throws {
    let call = try call()
    call.guests[ParticipantID("anna")]?.speaks = false
    let left = call.now
    call.run(for: .milliseconds(50))
    call.participantLeft("anna")
    call.run(for: .seconds(5))
    let ending = try #require(call.endings(of: "anna").first)
    print("measured: a recording ends \(ending.time - left) after its participant has left without a goodbye")
    #expect(ending.ending == CloseReason(.closedByParticipant, "The participant left the room."))
    #expect(ending.time - left < .milliseconds(2_500))
    #expect(call.engine(of: "anna") == nil)
  }

  @Test(
    "the connection of a participant who sent no media ends 2 s after the server reports the departure, though ICE continues"
  )
  func onlyChecksGoOn() throws {
    let call = try call(playing: false)
    call.participantLeft("anna")
    let left = call.now
    call.run(for: .seconds(5))
    let ending = try #require(call.endings(of: "anna").first)
    #expect(ending.time - left < .milliseconds(2_500))
  }

  @Test(
    "the connection ends as soon as both the goodbye and the server's report have arrived", arguments: [true, false])
  func goodbye(comesFirst: Bool) throws {
    let call = try call()
    call.guests[ParticipantID("anna")]?.speaks = false
    call.run(for: .milliseconds(30))
    if !comesFirst { call.participantLeft("anna") }
    let guest = try #require(call.guests[ParticipantID("anna")])
    var packet = ByteBuffer()
    let ssrc = try #require(guest.engine.sentTrack(.audio)).ssrc
    RTCPPacket.write(
      [.receiverReport(ReceiverReport(ssrc: ssrc)), .goodbye(Goodbye(sources: [ssrc]))], into: &packet)
    call.datagram(try #require(guest.engine.protected(packet, isControl: true)), from: guest.address)
    call.run(for: .milliseconds(10))
    #expect(call.endings(of: "anna").isEmpty == comesFirst)
    call.participantLeft("anna")
    call.run(for: .milliseconds(10))
    #expect(call.endings(of: "anna").map(\.ending.cause) == [.closedByParticipant])
  }

  @Test("the connection of a participant who is not connected ends as soon as the server reports the departure")
  func notConnected() throws {
    let call = DemultiplexerCall()
    try call.enter("anna", host: 1)
    call.run(for: .milliseconds(3))
    #expect(call.engine(of: "anna") != nil)
    call.participantLeft("anna")
    #expect(call.endings(of: "anna").map(\.ending.cause) == [.closedByParticipant])
    #expect(call.engine(of: "anna") == nil)
  }

  @Test("a participant whose signalling messages still arrive has not left")
  func comesBack() throws {
    let call = try call()
    call.participantLeft("anna")
    call.run(for: .seconds(1))
    call.guests[ParticipantID("anna")]?.engine.offer(now: call.now)
    call.run(for: .milliseconds(100))
    // Silence now ends the connection only after the usual timeout.
    call.guests[ParticipantID("anna")]?.speaks = false
    call.run(for: .seconds(6))
    #expect(call.endings(of: "anna").isEmpty)
    call.guests[ParticipantID("anna")]?.speaks = true
    call.run(for: .seconds(3))
    #expect(call.engine(of: "anna")?.state == .connected)
  }

  @Test("a participant whose connection was lost for 30 s rejoins under the same id as a new call")
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

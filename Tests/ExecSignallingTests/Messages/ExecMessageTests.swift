import Foundation
import Media
import Signalling
import TestSupport
import Testing

@testable import ExecSignalling

@Suite("Messages with a program")
struct ExecMessageTests {
  private func parsed(_ text: String) throws -> ExecMessage { try ExecMessage(parsing: Array(text.utf8)) }

  @Test("hello has a version and what the system can do; what it does not say has its default")
  func hello() throws {
    var expected = ExecCapabilities.defaults
    #expect(try parsed(#"{"type":"hello","version":1}"#) == .hello(version: 1, capabilities: expected))
    expected.tricklesCandidates = false
    expected.restartsICE = false
    expected.announcesLostParticipants = true
    expected.reportsEndedConnections = true
    expected.requiresHangUpWhenClosedByParticipant = true
    expected.namesUsers = false
    let text = """
      {"type":"hello","version":2,"later":[1],"capabilities":{"tricklesCandidates":false,"restartsICE":false,"flies":true,
      "announcesLostParticipants":true,"reportsEndedConnections":true,"requiresHangUpWhenClosedByParticipant":true,
      "namesUsers":false}}
      """
    #expect(try parsed(text) == .hello(version: 2, capabilities: expected))
    #expect(
      try parsed(#"{"type":"hello","version":1,"capabilities":{"restartsICE":"no"}}"#)
        == .hello(version: 1, capabilities: ExecCapabilities.defaults))
  }

  @Test("a participant has an id, and what a system knows of them; we offer to those who were there before")
  func participants() throws {
    let anna = SignalledParticipant("anna", offerer: .local)
    var studio = SignalledParticipant("å", name: "Studio", offerer: .remote, direction: .receiveOnly)
    studio.isExpected = true
    studio.isIdentityVerified = true
    studio.forwardsMedia = true
    let text = """
      {"type":"joined","id":"me","participants":[{"id":"anna"},{"id":"å","name":"Studio","weOffer":false,
      "direction":"receiveOnly","expected":true,"identityVerified":true}]}
      """
    #expect(try parsed(text) == .joined(id: "me", participants: [anna, studio]))
    #expect(try parsed(#"{"type":"joined","id":"me"}"#) == .joined(id: "me", participants: []))
    #expect(try parsed(#"{"type":"joined","id":"me","participants":null}"#) == .joined(id: "me", participants: []))
    #expect(
      try parsed(#"{"type":"participantJoined","id":"bob","name":"","direction":"up"}"#)
        == .participantJoined(SignalledParticipant("bob", offerer: .remote)))
    #expect(
      try parsed(#"{"type":"participantJoined","id":"sfu","weOffer":true,"direction":"sendOnly"}"#)
        == .participantJoined(SignalledParticipant("sfu", offerer: .local, direction: .sendOnly)))
    #expect(
      try parsed(#"{"type":"participantLeft","id":"bob"}"#) == .participantLeft("bob", isRejoinVerified: false))
    #expect(
      try parsed(#"{"type":"participantLeft","id":"bob","rejoinVerified":true}"#)
        == .participantLeft("bob", isRejoinVerified: true))
  }

  @Test("descriptions and candidates have a sender, ICE servers are those of browsers, and reasons are sentences")
  func others() throws {
    #expect(try parsed(#"{"type":"offer","from":"a","sdp":"v=0\r\n"}"#) == .message(.offer("v=0\r\n"), from: "a"))
    #expect(try parsed(#"{"type":"answer","from":"a","sdp":""}"#) == .message(.answer(""), from: "a"))
    let candidate = TrickledCandidate(candidate: "candidate:1", mid: "0", mLineIndex: 1)
    #expect(
      try parsed(#"{"type":"candidate","from":"a","candidate":"candidate:1","sdpMid":"0","sdpMLineIndex":1}"#)
        == .message(.candidate(candidate), from: "a"))
    #expect(
      try parsed(#"{"type":"candidate","from":"a","candidate":"","sdpMid":null,"sdpMLineIndex":-1}"#)
        == .message(.candidate(TrickledCandidate(candidate: "")), from: "a"))
    guard case .iceServers(let list) = try parsed(#"{"type":"iceServers","iceServers":[{"urls":"stun:a"},7]}"#) else {
      return #expect(Bool(false))
    }
    #expect(list.servers == ["stun:a"] && list.problem != nil)
    #expect(try parsed(#"{"type":"rejected","reason":"No such room"}"#) == .rejected(reason: "No such room."))
    #expect(try parsed(#"{"type":"ended","reason":"Over.\n"}"#) == .ended(reason: #"Over.\u{a}."#))
    #expect(try parsed(#"{"type":"ended"}"#) == .ended(reason: ""))
    #expect(try parsed(#"{"type":"statistics","of":[{"a":1}]}"#) == .other("statistics"))
  }

  @Test(
    "what is no message is one sentence",
    arguments: [
      "{", "null", "[]", "7", #""hello""#, #"{"type":5}"#, #"{"type":"é"}"#, #"{"version":1}"#, #"{"type":"hello"}"#,
      #"{"type":"joined"}"#, #"{"type":"joined","id":""}"#, #"{"type":"joined","id":"a","participants":[{"id":""}]}"#,
      #"{"type":"joined","id":"a","participants":[{"id":"b"},{"id":5}]}"#,
      #"{"type":"joined","id":"a","participants":{}}"#,
      #"{"type":"participantJoined"}"#, #"{"type":"participantLeft","id":7}"#, #"{"type":"offer","from":"a"}"#,
      #"{"type":"offer","sdp":"v=0"}"#, #"{"type":"answer","from":"a","sdp":{}}"#,
      #"{"type":"candidate","from":"a","candidate":"é"}"#, #"{"type":"iceServers"}"#, "{\"type\":\"ended\"}\u{0}",
      String(repeating: "[", count: 500),
    ])
  func mistakes(text: String) throws {
    let error = #expect(throws: ExecMessage.ParseError.self) { try parsed(text) }
    let sentence = try #require(error).description
    #expect(sentence.hasSuffix(".") && sentence.utf8.count < 200)
  }

  @Test("ids of more than 256 bytes are refused, and names are cut")
  func longTexts() throws {
    let long = String(repeating: "x", count: 257)
    #expect(throws: ExecMessage.ParseError.self) { try parsed(#"{"type":"participantLeft","id":"\#(long)"}"#) }
    guard case .participantJoined(let bob) = try parsed(#"{"type":"participantJoined","id":"b","name":"\#(long)"}"#)
    else { return #expect(Bool(false)) }
    #expect(bob.name?.utf8.count == 256)
  }

  @Test("our messages are lines of JSON, whatever texts they have")
  func requests() throws {
    var hello = ExecHello()
    hello.room = "a\n\"b\" é"
    hello.user = "bot"
    hello.token = "s3cret"
    hello.sends = false
    #expect(
      ExecRequest.hello(hello).line
        == #"{"callees":[],"maximumParticipants":256,"receives":true,"room":"a\n\"b\" é","sends":false,"token":"s3cret","#
        + #""type":"hello","user":"bot","version":1}"# + "\n")
    let candidate = TrickledCandidate(candidate: "candidate:1", mid: "0", mLineIndex: 0)
    let lines = [
      ExecRequest.join(formerID: nil), .join(formerID: "me"), .message(.offer("v=0\r\n"), to: "a"),
      .message(.answer("v=0"), to: "a"), .message(.candidate(candidate), to: "a"), .hangUp("a"), .leave,
    ].map(\.line)
    #expect(
      lines
        == [
          #"{"type":"join"}"#, #"{"formerID":"me","type":"join"}"#, #"{"sdp":"v=0\r\n","to":"a","type":"offer"}"#,
          #"{"sdp":"v=0","to":"a","type":"answer"}"#,
          #"{"candidate":"candidate:1","sdpMLineIndex":0,"sdpMid":"0","to":"a","type":"candidate"}"#,
          #"{"to":"a","type":"hangUp"}"#, #"{"type":"leave"}"#,
        ].map { $0 + "\n" })
    #expect(ExecRequest.hangUp("\u{2028}\u{85}é").line == #"{"to":"\u2028\u0085é","type":"hangUp"}"# + "\n")
    #expect(!"\(ExecRequest.hello(hello)) \(hello) \(String(reflecting: hello))".contains("s3cret"))
  }
}

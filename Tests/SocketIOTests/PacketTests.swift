import Media
import Signalling
import TestSupport
import Testing

@testable import SocketIO

@Suite struct PacketTests {
  @Test(arguments: ["0{}", "1", "2", "2probe", "3probe", "42[\"a\"]", "5", "6"])
  func `an Engine.IO packet is written as it was read`(text: String) throws {
    #expect(try EngineIOPacket(parsing: text).encoded == text)
  }

  @Test func `an empty packet and an unknown type are refused in one sentence`() {
    #expect(throws: SocketIOParseError.emptyPacket) { try EngineIOPacket(parsing: "") }
    #expect(throws: SocketIOParseError.unknownPacketType(UInt8(ascii: "b"))) { try EngineIOPacket(parsing: "b4AQID") }
    #expect(throws: SocketIOParseError.unknownPacketType(UInt8(ascii: "7"))) { try EngineIOPacket(parsing: "7") }
  }

  @Test(arguments: [
    "0", "1", "0/admin,{\"sid\":\"x\"}", "2[\"login\",\"{}\"]", "212[\"a\",1]", "312[]", "4{\"message\":\"no\"}",
    "2/admin,7[\"a\"]",
  ])
  func `a Socket.IO packet is written as it was read`(text: String) throws {
    #expect(try SocketIOPacket(parsing: text).encoded == text)
  }

  @Test func `the query of a namespace does not change its name`() throws {
    #expect(try SocketIOPacket(parsing: "0/?token=1").namespace == "/")
    #expect(try SocketIOPacket(parsing: "0/admin?token=1,").namespace == "/admin")
  }

  @Test func `binary packets, damaged JSON and huge acknowledgment ids are refused`() {
    #expect(throws: SocketIOParseError.binaryPacket) { try SocketIOPacket(parsing: "51-[\"a\"]") }
    #expect(throws: SocketIOParseError.self) { try SocketIOPacket(parsing: "2[\"a\"") }
    #expect(throws: SocketIOParseError.self) { try SocketIOPacket(parsing: "299999999999999999999999[\"a\"]") }
    #expect(throws: SocketIOParseError.noEventName) { try SocketIOPacket(parsing: "2[1]").event() }
    #expect(throws: SocketIOParseError.noEventName) { try SocketIOPacket(parsing: "2{}").event() }
  }

  @Test func `an event with deep or many values is refused before it is decoded`() {
    let deep = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
    #expect(throws: SocketIOParseError.tooMuchJSON(values: 5_000, depth: 5_000)) { try JSONValue(parsing: deep) }
    let long = "[" + String(repeating: "1,", count: 5_000) + "1]"
    #expect(throws: SocketIOParseError.tooMuchJSON(values: 5_001, depth: 1)) { try JSONValue(parsing: long) }
  }

  @Test func `text outside ASCII is escaped, so that all servers agree on its length`() throws {
    let value = JSONValue.string("Zoë 😀")
    #expect(value.text == "\"Zo\\u00eb \\ud83d\\ude00\"")
    #expect(try JSONValue(parsing: value.text) == value)
  }

  @Test func `the intervals of a handshake are limited to 1 s to 120 s`() throws {
    let usual = try EngineIOHandshake(
      parsing: #"{"sid":"a","upgrades":[],"pingInterval":25000,"pingTimeout":5000,"maxPayload":1000000}"#)
    #expect(usual.pingInterval == .seconds(25))
    #expect(usual.pingTimeout == .seconds(5))
    #expect(usual.hasMaximumPayload)
    let hostile = try EngineIOHandshake(parsing: #"{"sid":"a","pingInterval":1e300,"pingTimeout":-5}"#)
    #expect(hostile.pingInterval == .seconds(120))
    #expect(hostile.pingTimeout == .seconds(1))
    #expect(!hostile.hasMaximumPayload)
    let missing = try EngineIOHandshake(parsing: #"{"sid":"a","pingInterval":"often"}"#)
    #expect(missing.pingInterval == .seconds(25))
    #expect(missing.pingTimeout == .seconds(20))
  }

  @Test(arguments: ["", "{}", "[]", #"{"sid":""}"#, #"{"sid":"a b"}"#, #"{"sid":{}}"#])
  func `a handshake without a usable session id is refused`(text: String) {
    #expect(throws: SocketIOParseError.invalidHandshake) { try EngineIOHandshake(parsing: text) }
  }
}

@Suite struct PayloadTests {
  @Test func `bodies of revision 3 have lengths, those of revision 4 separators`() throws {
    let three = try EngineIOPayload.parse("6:0{\"a\"}2:40")
    #expect(three.packets == ["0{\"a\"}", "40"])
    #expect(three.format == .lengths)
    let four = try EngineIOPayload.parse("42[\"a\"]\u{1E}2")
    #expect(four.packets == ["42[\"a\"]", "2"])
    #expect(four.format == .separators)
  }

  @Test func `lengths may count bytes, UTF-16 code units or characters`() throws {
    let packet = "4😀ë"
    for length in [packet.utf8.count, packet.utf16.count, packet.unicodeScalars.count] {
      #expect(try EngineIOPayload.parse("\(length):\(packet)2:40").packets == [packet, "40"])
    }
  }

  @Test(arguments: ["5:40", "0:", "1:4x", "99999999:4", "2:402", "1:2:"])
  func `a body whose lengths do not fit is refused`(body: String) {
    #expect(throws: SocketIOParseError.invalidPayload(bytes: body.utf8.count)) { try EngineIOPayload.parse(body) }
  }

  @Test func `a body is read as it was written`() throws {
    for format in [EngineIOPayload.Format.lengths, .separators] {
      let packets = ["42[\"a\"]", "3probe"]
      let parsed = try EngineIOPayload.parse(EngineIOPayload.encode(packets, as: format))
      #expect(parsed.packets == packets)
      #expect(parsed.format == format)
    }
  }
}

@Suite struct CallMessageTests {
  private func parse(_ event: String, _ argument: String) throws -> IncomingCallMessage {
    try IncomingCallMessage(parsing: event, arguments: [.string(argument)])
  }

  @Test func `the messages to the server have one string argument with exactly these fields`() {
    func text(_ message: OutgoingCallMessage) -> String { message.packet.encoded }
    #expect(text(.login(userName: "111")) == #"2["login","{\"username\":\"111\"}"]"#)
    #expect(text(.callRequest(to: "222")) == #"2["call_request","{\"ids\":[\"222\"]}"]"#)
    #expect(
      text(.callResponse(to: "222", isAccepted: true))
        == #"2["call_response","{\"response\":\"true\",\"to\":\"222\"}"]"#)
    #expect(
      text(.callResponse(to: "222", isAccepted: false))
        == #"2["call_response","{\"response\":\"false\",\"to\":\"222\"}"]"#)
    #expect(
      text(.offer(to: "222", sdp: "v=0\r\n"))
        == #"2["offer","{\"sdp\":\"v=0\\r\\n\",\"to\":\"222\",\"type\":\"offer\"}"]"#)
    #expect(
      text(.answer(to: "222", sdp: "v=0")) == #"2["answer","{\"sdp\":\"v=0\",\"to\":\"222\",\"type\":\"answer\"}"]"#)
    #expect(
      text(.candidate(to: "222", TrickledCandidate(candidate: "candidate:1", mid: "audio", mLineIndex: 0)))
        == #"2["ice","{\"candidate\":\"candidate:1\",\"sdpMLineIndex\":\"0\",\"sdpMid\":\"audio\",\"to\":\"222\"}"]"#)
    #expect(text(.hangUp(to: "222")) == #"2["disconnectpeer","{\"to\":\"222\"}"]"#)
  }

  @Test(arguments: [
    (#"{"from":"2","response":1}"#, true), (#"{"from":"2","response":true}"#, true),
    (#"{"from":"2","response":"true"}"#, true), (#"{"from":2,"response":"1"}"#, true),
    (#"{"from":"2","response":0}"#, false), (#"{"from":"2","response":false}"#, false),
    (#"{"from":"2","response":"false"}"#, false), (#"{"from":"2"}"#, false),
    (#"{"from":"2","response":{}}"#, false),
  ])
  func `a response is read from numbers, booleans and strings`(text: String, isAccepted: Bool) throws {
    #expect(try parse("call_response", text) == .callResponse(from: "2", isAccepted: isAccepted))
  }

  @Test func `the reply to the login may be an object or a string`() throws {
    let object = try IncomingCallMessage(parsing: "login", arguments: [.object(["success": .bool(true)])])
    #expect(object == .login(isAccepted: true))
    #expect(try parse("login", #"{"success":1}"#) == .login(isAccepted: true))
    #expect(try parse("login", "{}") == .login(isAccepted: false))
  }

  @Test func `the index of a candidate may be a string or a number, and is ignored outside 0 to 65535`() throws {
    func index(_ text: String) throws -> Int? {
      guard case .candidate(_, let candidate) = try parse("ice", text) else { return nil }
      #expect(candidate.candidate == "candidate:1")
      #expect(candidate.mid == "audio")
      return candidate.mLineIndex
    }
    #expect(try index(#"{"from":"2","candidate":"candidate:1","sdpMid":"audio","sdpMLineIndex":"1"}"#) == 1)
    #expect(try index(#"{"from":"2","candidate":"candidate:1","sdpMid":"audio","sdpMLineIndex":1}"#) == 1)
    #expect(try index(#"{"from":"2","candidate":"candidate:1","sdpMid":"audio","sdpMLineIndex":1e99}"#) == nil)
    #expect(try index(#"{"from":"2","candidate":"candidate:1","sdpMid":"audio","sdpMLineIndex":-1}"#) == nil)
  }

  @Test func `an empty object means an error`() {
    #expect(throws: SocketIOParseError.emptyObject(event: "offer")) { try parse("offer", "{}") }
  }

  @Test(arguments: [
    ("offer", "no JSON"), ("offer", #"{"from":"2"}"#), ("offer", #"{"sdp":"v=0"}"#),
    ("offer", #"{"from":"2","sdp":5}"#),
    ("ice", #"{"from":"2"}"#), ("disconnectpeer", #"{"from":null}"#), ("call_request", "[]"), ("chat", "{}"),
  ])
  func `a message without its fields is refused`(event: String, text: String) {
    #expect(throws: SocketIOParseError.self) { try parse(event, text) }
  }

  @Test func `the name of a user has at most 256 bytes`() {
    let name = String(repeating: "a", count: 257)
    #expect(throws: SocketIOParseError.unusable(event: "call_request", field: "from")) {
      try parse("call_request", #"{"from":"\#(name)"}"#)
    }
  }
}

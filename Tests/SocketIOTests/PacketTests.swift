import JSON
import Media
import Signalling
import SocketIO
import TestSupport
import Testing

@Suite struct PacketTests {
  @Test(
    "an Engine.IO packet is written as it was read",
    arguments: ["0{}", "1", "2", "2probe", "3probe", "42[\"a\"]", "5", "6"])
  func engineioPacketWrittenAs(text: String) throws {
    #expect(try EngineIOPacket(parsing: text).encoded == text)
  }

  @Test("an empty packet and an unknown type are refused in one sentence")
  func emptyPacketUnknown() {
    #expect(throws: SocketIOParseError.emptyPacket) { try EngineIOPacket(parsing: "") }
    #expect(throws: SocketIOParseError.unknownPacketType(UInt8(ascii: "b"))) { try EngineIOPacket(parsing: "b4AQID") }
    #expect(throws: SocketIOParseError.unknownPacketType(UInt8(ascii: "7"))) { try EngineIOPacket(parsing: "7") }
  }

  @Test(
    "a Socket.IO packet is written as it was read",
    arguments: [
      "0", "1", "0/admin,{\"sid\":\"x\"}", "2[\"login\",\"{}\"]", "212[\"a\",1]", "312[]", "4{\"message\":\"no\"}",
      "2/admin,7[\"a\"]",
    ])
  func socketioPacketWrittenAs(text: String) throws {
    #expect(try SocketIOPacket(parsing: text).encoded == text)
  }

  @Test("the query of a namespace does not change its name")
  func queryNamespaceChange() throws {
    #expect(try SocketIOPacket(parsing: "0/?token=1").namespace == "/")
    #expect(try SocketIOPacket(parsing: "0/admin?token=1,").namespace == "/admin")
  }

  @Test("binary packets, damaged JSON and huge acknowledgment ids are refused")
  func binaryPacketsDamaged() {
    #expect(throws: SocketIOParseError.binaryPacket) { try SocketIOPacket(parsing: "51-[\"a\"]") }
    #expect(throws: SocketIOParseError.self) { try SocketIOPacket(parsing: "2[\"a\"") }
    #expect(throws: SocketIOParseError.self) { try SocketIOPacket(parsing: "299999999999999999999999[\"a\"]") }
    #expect(throws: SocketIOParseError.noEventName) { try SocketIOPacket(parsing: "2[1]").event() }
    #expect(throws: SocketIOParseError.noEventName) { try SocketIOPacket(parsing: "2{}").event() }
  }

  @Test("an event with deep or many values is refused before it is decoded")
  func eventDeepMany() {
    let deep = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
    #expect(throws: SocketIOParseError.tooMuchJSON(values: 5_000, depth: 5_000)) { try JSONValue(parsing: deep) }
    let long = "[" + String(repeating: "1,", count: 5_000) + "1]"
    #expect(throws: SocketIOParseError.tooMuchJSON(values: 5_001, depth: 1)) { try JSONValue(parsing: long) }
  }

  @Test("text outside ASCII is escaped, so that all servers agree on its length")
  func textOutsideASCII() throws {
    let value = JSONValue.string("Zoë 😀")
    #expect(value.text == "\"Zo\\u00eb \\ud83d\\ude00\"")
    #expect(try JSONValue(parsing: value.text) == value)
  }

  @Test("the intervals of a handshake are limited to 1 s to 120 s")
  func intervalsHandshakeLimited() throws {
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

  @Test(
    "a handshake without a usable session id is refused",
    arguments: ["", "{}", "[]", #"{"sid":""}"#, #"{"sid":"a b"}"#, #"{"sid":{}}"#])
  func handshakeWithoutUsableSession(text: String) {
    #expect(throws: SocketIOParseError.invalidHandshake) { try EngineIOHandshake(parsing: text) }
  }
}

@Suite struct PayloadTests {
  @Test("bodies of revision 3 have lengths, those of revision 4 separators")
  func bodiesRevision3() throws {
    let three = try EngineIOPayload.parse("6:0{\"a\"}2:40")
    #expect(three.packets == ["0{\"a\"}", "40"])
    #expect(three.format == .lengths)
    let four = try EngineIOPayload.parse("42[\"a\"]\u{1E}2")
    #expect(four.packets == ["42[\"a\"]", "2"])
    #expect(four.format == .separators)
  }

  @Test("lengths may count bytes, UTF-16 code units or characters")
  func lengthsMayCount() throws {
    let packet = "4😀ë"
    for length in [packet.utf8.count, packet.utf16.count, packet.unicodeScalars.count] {
      #expect(try EngineIOPayload.parse("\(length):\(packet)2:40").packets == [packet, "40"])
    }
  }

  @Test(
    "a body whose lengths do not fit is refused",
    arguments: ["5:40", "0:", "1:4x", "99999999:4", "2:402", "1:2:"])
  func bodyWhoseLengthsDo(body: String) {
    #expect(throws: SocketIOParseError.invalidPayload(bytes: body.utf8.count)) { try EngineIOPayload.parse(body) }
  }

  @Test("a body is read as it was written")
  func bodyReadWas() throws {
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
    try IncomingCallMessage(parsing: event, arguments: [.string(UntrustedText(argument))])
  }

  @Test("the messages to the server have one string argument with exactly these fields")
  func messagesServerHave() {
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

  @Test(
    "a response is read from numbers, booleans and strings",
    arguments: [
      (#"{"from":"2","response":1}"#, true), (#"{"from":"2","response":true}"#, true),
      (#"{"from":"2","response":"true"}"#, true), (#"{"from":2,"response":"1"}"#, true),
      (#"{"from":"2","response":0}"#, false), (#"{"from":"2","response":false}"#, false),
      (#"{"from":"2","response":"false"}"#, false), (#"{"from":"2"}"#, false),
      (#"{"from":"2","response":{}}"#, false),
    ])
  func responseReadFromNumbers(text: String, isAccepted: Bool) throws {
    #expect(try parse("call_response", text) == .callResponse(from: "2", isAccepted: isAccepted))
  }

  @Test("the reply to the login may be an object or a string")
  func replyLoginMay() throws {
    let object = try IncomingCallMessage(parsing: "login", arguments: [.object(["success": .bool(true)])])
    #expect(object == .login(isAccepted: true))
    #expect(try parse("login", #"{"success":1}"#) == .login(isAccepted: true))
    #expect(try parse("login", "{}") == .login(isAccepted: false))
    let servers = #"[{"urls":["stun:a","turn:b"],"username":"u","credential":"p"}]"#
    #expect(
      try parse("login", #"{"success":true,"iceServers":\#(servers)}"#)
        == .login(
          isAccepted: true,
          iceServers: SignalledICEServers([
            ICEServer(url: "stun:a", username: "u", credential: "p"),
            ICEServer(url: "turn:b", username: "u", credential: "p"),
          ])))
    #expect(try parse("login", #"{"success":true,"iceServers":7}"#) == .login(isAccepted: true))
  }

  @Test("the index of a candidate may be a string or a number, and is ignored outside 0 to 65535")
  func indexCandidateMay() throws {
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

  @Test("an empty object means an error")
  func emptyObjectMeans() {
    #expect(throws: SocketIOParseError.emptyObject(event: "offer")) { try parse("offer", "{}") }
  }

  @Test(
    "a message without its fields is refused",
    arguments: [
      ("offer", "no JSON"), ("offer", #"{"from":"2"}"#), ("offer", #"{"sdp":"v=0"}"#),
      ("offer", #"{"from":"2","sdp":5}"#),
      ("ice", #"{"from":"2"}"#), ("disconnectpeer", #"{"from":null}"#), ("call_request", "[]"), ("chat", "{}"),
    ])
  func messageWithoutItsFields(event: String, text: String) {
    #expect(throws: SocketIOParseError.self) { try parse(event, text) }
  }

  @Test("the name of a user has at most 256 bytes")
  func nameUserHas() {
    let name = String(repeating: "a", count: 257)
    #expect(throws: SocketIOParseError.unusable(event: "call_request", field: "from")) {
      try parse("call_request", #"{"from":"\#(name)"}"#)
    }
  }

  @Test("events with names and users of combining marks cost no more than those of ASCII")
  func hostileTexts() {
    let marks = "a" + String(repeating: "\u{0301}\u{0316}", count: 50_000)
    let plain = String(repeating: "a", count: marks.utf8.count)
    let frames = [
      #"2["%",{}]"#, #"2["offer",{"from":"%","sdp":"x"}]"#, #"2["ice",{"from":"a","candidate":"%","sdpMid":"%"}]"#,
      #"2["login",{"success":"%"}]"#, #"2["login",{"%":1}]"#, "2/%,[]",
    ]
    for frame in frames {
      let parts = frame.split(separator: "%", omittingEmptySubsequences: false).map(String.init)
      let ratio = ProcessorTime.ratio(of: marks, to: plain) { text in
        let packet = try? SocketIOPacket(parsing: parts.dropFirst().reduce(parts[0]) { $0 + text + $1 })
        if let event = try? packet?.event() {
          _ = try? IncomingCallMessage(parsing: event.name, arguments: event.arguments)
        }
      }
      #expect(ratio < 10, "Marks in \(frame) cost \(ratio) times as much as ASCII.")
    }
  }
}

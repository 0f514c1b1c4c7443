import Foundation
import Signalling
import SkyRTC
import TestSupport
import Testing

@Suite("Messages to the server")
struct ClientMessageTests {
  @Test(
    "a join names its room as a string, as a number or not at all",
    arguments: [
      (#"{"eventName":"__join","data":{"room":"100"}}"#, "100"),
      (#"{"eventName":"__join","data":{"room":100}}"#, "100"),
      (#"{"eventName":"__join","data":{"room":0}}"#, "0"),
      (#"{"eventName":"__join","data":{"room":1.5}}"#, "1.5"),
      (#"{"eventName":"__join","data":{"room":-7}}"#, "-7"),
      (#"{"eventName":"__join","data":{"room":""}}"#, "__default"),
      (#"{"eventName":"__join","data":{"room":null}}"#, "__default"),
      (#"{"eventName":"__join","data":{}}"#, "__default"),
      (#"{"eventName":"__join","data":null}"#, "__default"),
      (#"{"eventName":"__join"}"#, "__default"),
      (#"{"eventName":"__join","data":"text"}"#, "__default"),
      (#"{"eventName":"__join","data":{"room":"__proto__"}}"#, "__proto__"),
      (#"{"eventName":"__join","data":{"room":"räum/💬"}}"#, "räum/💬"),
      (#"{"data":{"room":"later"},"more":[1,{}],"eventName":"__join"}"#, "later"),
      ("{\n  \"eventName\" : \"__join\",\n  \"data\" : {\n    \"room\" : \"pretty\"\n  }\n}", "pretty"),
    ])
  func room(text: String, room: String) throws {
    #expect(try ClientMessage(parsing: text) == .join(room: room, former: nil))
  }

  @Test(
    "a text that is not a message of the protocol is rejected",
    arguments: [
      "", " ", "null", "true", "17", "\"__join\"", "[]", "[{}]", "{}", "{", "}", "{\"eventName\":}", "\u{0}",
      #"{"eventName":null}"#, #"{"eventName":7,"data":{}}"#, #"{"eventName":["__join"]}"#,
      #"{"eventName":"__leave","data":{}}"#, #"{"eventName":"_offer","data":{"sdp":"v=0","socketId":"a"}}"#,
      #"{"eventName":"__proto__","data":{}}"#, #"{"eventName":"__join","data":{"room":{}}}"#,
      #"{"eventName":"__join","data":{"room":[1]}}"#, #"{"eventName":"__join","data":{"room":true}}"#,
      #"{"eventName":"__offer"}"#, #"{"eventName":"__offer","data":{"socketId":"a"}}"#,
      #"{"eventName":"__offer","data":{"sdp":{"type":"offer"},"socketId":"a"}}"#,
      #"{"eventName":"__offer","data":{"sdp":{"sdp":"v=0","type":"offer"},"socketId":7}}"#,
      #"{"eventName":"__answer","data":{"sdp":"v=0"}}"#,
      #"{"eventName":"__ice_candidate","data":{"socketId":"a"}}"#,
      #"{"eventName":"__ice_candidate","data":{"socketId":"a","candidate":null}}"#,
      String(repeating: "[", count: 100_000), String(repeating: "{\"data\":", count: 20_000),
    ])
  func refused(text: String) {
    #expect(throws: SignallingError.self) { try ClientMessage(parsing: text) }
  }

  @Test("a description may be an object or a string with the SDP")
  func bareDescription() throws {
    let object = #"{"eventName":"__answer","data":{"sdp":{"sdp":"v=0\r\n","type":"answer"},"socketId":"a"}}"#
    let bare = #"{"eventName":"__answer","data":{"sdp":"v=0\r\n","socketId":"a"}}"#
    let expected = ClientMessage.signal(.answer(.init(type: "answer", sdp: "v=0\r\n")), to: "a")
    #expect(try ClientMessage(parsing: object) == expected)
    #expect(try ClientMessage(parsing: bare) == expected)
  }

  @Test(
    "a candidate's media section is read from id, label or their newer names, or is missing",
    arguments: [
      (#""id":"0","label":1"#, "0", 1), (#""label":2"#, nil, 2), (#""id":"audio""#, "audio", nil),
      (#""sdpMid":"v","sdpMLineIndex":1"#, "v", 1), (#""label":"1","id":0"#, "0", 1),
      (#""label":-1"#, nil, nil), (#""label":1e300"#, nil, nil), (#""label":{},"id":[]"#, nil, nil),
      (#""more":0"#, nil, nil),
    ] as [(String, String?, Int?)])
  func candidate(fields: String, mid: String?, index: Int?) throws {
    let text = #"{"eventName":"__ice_candidate","data":{"socketId":"a","candidate":"",\#(fields)}}"#
    let expected = TrickledCandidate(candidate: "", mid: mid, mLineIndex: index)
    #expect(try ClientMessage(parsing: text) == .signal(.candidate(expected), to: "a"))
  }

  /// Combining marks in the wrong order, which take a minute to compare or hash.
  private static let marks = String(repeating: "\u{301}", count: 60_000) + String(repeating: "\u{316}", count: 60_000)

  @Test(
    "names and ids that take long to compare are rejected without comparing them",
    arguments: [
      #"{"eventName":"MARKS"}"#, #"{"eventName":"__join","MARKS":1}"#, #"{"eventName":"__join","data":{"MARKS":1}}"#,
      #"{"eventName":"__join","data":{"you":"MARKS"}}"#, #"{"eventName":"__join","data":{"secret":"MARKS"}}"#,
      #"{"eventName":"__offer","data":{"socketId":"MARKS","sdp":"v=0"}}"#,
      #"{"eventName":"__answer","data":{"socketId":"a","sdp":{"type":"MARKS","sdp":""}}}"#,
      "{\"eventName\":\"__join\",\"data\":{\u{0}}}",
    ])
  func longComparisons(text: String) {
    let parts = text.components(separatedBy: "MARKS")
    let message = parts.joined(separator: Self.marks)
    let took = ProcessorTime.least(within: .milliseconds(250)) {
      #expect(throws: SignallingError.self) { try ClientMessage(parsing: message) }
    }
    // Decoding takes most of this time.
    #expect(took < .milliseconds(250))
  }

  @Test("a written message is parsed as the same message")
  func roundTrip() throws {
    let requests: [ClientMessage] = [
      .join(room: "a/b \"c\" 💬", former: nil), .join(room: "100", former: .init(id: "x", secret: nil)),
      .join(room: "100", former: .init(id: "x", secret: "00ff")),
      .join(room: "100", former: nil, profile: ParticipantProfile(name: "Ann 💬", records: true)),
      .profile(ParticipantProfile(name: "Bob")), .profile(ParticipantProfile()),
      .signal(.offer(.init(type: "offer", sdp: "v=0\r\n")), to: "x"),
      .signal(.answer(.init(type: "answer", sdp: "")), to: "x"),
      .signal(.candidate(.init(candidate: "candidate:1", mid: "0", mLineIndex: 0)), to: "x"),
      .signal(.candidate(.init(candidate: "", mid: nil, mLineIndex: nil)), to: ""),
    ]
    for request in requests { #expect(try ClientMessage(parsing: request.text) == request) }
  }

  @Test(
    "a join says a name and whether it records, and values of another type say nothing",
    arguments: [
      (#""name":"Ann","records":true"#, "Ann", true), (#""name":"Ann","records":false"#, "Ann", false),
      (#""name":"  Ann \t of \n  Essex ""#, "Ann of Essex", false), (#""name":"a\u202eb\u0000c""#, "abc", false),
      (#""name":" ""#, nil, false), (#""name":7,"records":1"#, nil, false),
      (#""name":{},"records":"true""#, nil, false),
      (#""name":null,"records":null"#, nil, false),
    ] as [(String, String?, Bool)])
  func profile(fields: String, name: String?, records: Bool) throws {
    let expected = ClientMessage.join(room: "1", former: nil, profile: ParticipantProfile(name: name, records: records))
    #expect(try ClientMessage(parsing: #"{"eventName":"__join","data":{"room":"1",\#(fields)}}"#) == expected)
  }

  @Test("a join without a name is that of an old client, byte for byte")
  func oldJoin() {
    #expect(ClientMessage.join(room: "1", former: nil).text == #"{"data":{"room":"1"},"eventName":"__join"}"#)
  }

  @Test("a candidate is sent with id and label, without their newer names")
  func candidateText() {
    let request = ClientMessage.signal(.candidate(.init(candidate: "candidate:1", mid: "0", mLineIndex: 1)), to: "x")
    #expect(
      request.text
        == #"{"data":{"candidate":"candidate:1","id":"0","label":1,"socketId":"x"},"eventName":"__ice_candidate"}"#)
  }
}

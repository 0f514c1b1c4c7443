import Foundation
import Signalling
import SkyRTC
import TestSupport
import Testing

@Suite("Messages from the server")
struct ServerMessageTests {
  @Test("a written message is parsed as the same message")
  func roundTrip() throws {
    let messages: [ServerMessage] = [
      .peers(you: "a", others: []), .peers(you: "a", others: [], secret: "00ff"), .peers(you: "a", others: ["b", "c"]),
      .peers(
        you: "a", others: [],
        iceServers: SignalledICEServers(["stun:a", ICEServer(url: "turn:b", username: "u", credential: "p")])),
      .peers(
        you: "a", others: ["b", "c"],
        profiles: ["b": ParticipantProfile(name: "Ann"), "c": ParticipantProfile(records: true)]),
      .joined("b"), .left("b"), .joined("b", profile: ParticipantProfile(name: "Bob", records: true)),
      .profile("b", ParticipantProfile(name: "Bob")), .profile("b", ParticipantProfile()),
      .signal(.offer(.init(type: "offer", sdp: "v=0\r\n")), from: "b"),
      .signal(.answer(.init(type: "offer", sdp: "v=0\r\n")), from: "b"),
      .signal(.candidate(.init(candidate: "", mid: nil, mLineIndex: 0)), from: "b"),
    ]
    for message in messages { #expect(try ServerMessage(parsing: message.text) == message) }
  }

  @Test("a relayed candidate has sdpMid and sdpMLineIndex next to id and label")
  func candidateForOldPages() {
    let message = ServerMessage.signal(.candidate(.init(candidate: "candidate:1", mid: "0", mLineIndex: 1)), from: "b")
    #expect(
      message.text
        == #"{"data":{"candidate":"candidate:1","id":"0","label":1,"sdpMLineIndex":1,"sdpMid":"0","socketId":"b"},"#
        + #""eventName":"_ice_candidate"}"#)
  }

  @Test("names are beside what old clients read, and without any nothing is added")
  func names() {
    let ann = ParticipantProfile(name: "Ann", records: true)
    #expect(
      ServerMessage.peers(you: "a", others: ["b", "c"], profiles: ["c": ann, "z": ann]).text
        == #"{"data":{"connections":["b","c"],"participants":[{"name":"Ann","records":true,"socketId":"c"}],"you":"a"},"#
        + #""eventName":"_peers"}"#)
    #expect(
      ServerMessage.joined("c", profile: ann).text
        == #"{"data":{"name":"Ann","records":true,"socketId":"c"},"eventName":"_new_peer"}"#)
    #expect(ServerMessage.joined("c").text == #"{"data":{"socketId":"c"},"eventName":"_new_peer"}"#)
  }

  @Test(
    "a list of participants with values of another kind says what can be read of it",
    arguments: [
      ("7", [:]), ("{}", [:]), ("[7,null,[],{}]", [:]), (#"[{"socketId":"z","name":"Zoe"}]"#, [:]),
      (#"[{"socketId":"b","name":7}]"#, [:]),
      (#"[{"socketId":7,"name":"Ann"},{"socketId":"b","name":"Bob"}]"#, ["b": "Bob"]),
      (#"[{"socketId":"b","name":"Ann"},{"socketId":"b","name":"Bob"}]"#, ["b": "Ann"]),
    ] as [(String, [String: String])])
  func strangeParticipants(list: String, names: [String: String]) throws {
    let text = #"{"eventName":"_peers","data":{"connections":["b"],"you":"a","participants":\#(list)}}"#
    let profiles = names.mapValues { ParticipantProfile(name: $0) }
    #expect(try ServerMessage(parsing: text) == .peers(you: "a", others: ["b"], profiles: profiles))
  }

  @Test("ICE servers of an unexpected kind count as missing", arguments: ["7", "{}", "\"turn:b\"", "null"])
  func strangeICEServers(value: String) throws {
    let text = #"{"eventName":"_peers","data":{"connections":[],"you":"a","iceServers":\#(value)}}"#
    #expect(try ServerMessage(parsing: text) == .peers(you: "a", others: []))
  }

  @Test(
    "a text that is not a message of a server is rejected",
    arguments: [
      "", "null", "[]", "{}", #"{"eventName":"_peers"}"#, #"{"eventName":"_peers","data":{"you":"a"}}"#,
      #"{"eventName":"_peers","data":{"connections":["b"]}}"#,
      #"{"eventName":"_peers","data":{"connections":"b","you":"a"}}"#,
      #"{"eventName":"_peers","data":{"connections":[1],"you":"a"}}"#,
      #"{"eventName":"_new_peer","data":{}}"#, #"{"eventName":"_remove_peer","data":{"socketId":null}}"#,
      #"{"eventName":"__join","data":{"room":"1"}}"#,
    ])
  func refused(text: String) {
    #expect(throws: SignallingError.self) { try ServerMessage(parsing: text) }
  }

  @Test(
    "every message of a recorded call is parsed, and is the same when written again",
    arguments: ["chromium156-two-peers.json", "firefox153-two-peers.json", "candidates.json"])
  func recorded(name: String) throws {
    let recording = try Recording(named: name)
    #expect(recording.messages.count >= 9)
    for (text, isIncoming) in recording.messages {
      let again = isIncoming ? try ServerMessage(parsing: text).text : try ClientMessage(parsing: text).text
      // Our server adds the newer names of a candidate's media section; otherwise nothing is added or lost.
      let added = isIncoming ? ["sdpMid", "sdpMLineIndex"] : []
      #expect(try data(of: again, without: added) == data(of: text, without: []))
    }
  }

  private func data(of text: String, without names: [String]) throws -> NSDictionary {
    let message = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let data = try #require(message?["data"] as? [String: Any])
    return data.filter { !names.contains($0.key) } as NSDictionary
  }
}

/// The messages of a recorded call, each as JSON.
private struct Recording {
  var messages: [(text: String, isIncoming: Bool)] = []

  init(named name: String) throws {
    let text = try Fixture.text(name, in: .module)
    let list = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
    for entry in list {
      guard let message = entry["m"] ?? entry["message"] else { continue }
      let data = try JSONSerialization.data(withJSONObject: message)
      messages.append((String(decoding: data, as: UTF8.self), entry["dir"] as? String == "in"))
    }
  }
}

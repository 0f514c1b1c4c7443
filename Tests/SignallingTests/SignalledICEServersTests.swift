import Foundation
import Signalling
import Testing

@Suite("ICE servers in a message")
struct SignalledICEServersTests {
  private func parse(_ text: String) throws -> SignalledICEServers {
    try JSONDecoder().decode(SignalledICEServers.self, from: Data(text.utf8))
  }

  @Test("urls may be a text or a list, and each URL is a server with the credentials of its entry")
  func lists() throws {
    let parsed = try parse(
      #"[{"urls":"stun:a","username":"","credential":""},{"urls":["turn:b","turns:b"],"username":"u","credential":"p"}]"#
    )
    #expect(
      parsed.servers == [
        "stun:a", ICEServer(url: "turn:b", username: "u", credential: "p"),
        ICEServer(url: "turns:b", username: "u", credential: "p"),
      ])
    #expect(parsed.problem == nil)
  }

  @Test("written servers are parsed as the same servers")
  func roundTrip() throws {
    let servers = SignalledICEServers(["stun:a", ICEServer(url: "turn:b", username: "u", credential: "p")])
    let text = String(decoding: try JSONEncoder().encode(servers), as: UTF8.self)
    #expect(try parse(text) == servers)
  }

  @Test(
    "an entry that cannot be used is left out and counted",
    arguments: [
      "null", "7", "\"turn:b\"", "[]", "{}", #"{"urls":7}"#, #"{"urls":[]}"#, #"{"urls":[1]}"#, #"{"urls":""}"#,
      #"{"urls":"turn:b","username":7}"#, #"{"urls":"turn:b","credential":{"accessToken":"x"}}"#,
      #"{"urls":"\#(String(repeating: "a", count: 513))"}"#,
      #"{"urls":"turn:b","username":"\#(String(repeating: "a", count: 513))"}"#,
    ])
  func unusable(entry: String) throws {
    let parsed = try parse(#"[\#(entry),{"urls":"stun:a"}]"#)
    #expect(parsed.servers == ["stun:a"])
    #expect(parsed.ignoredCount == 1)
    #expect(parsed.problem?.contains("2 ICE servers, but 1 cannot be used") == true)
  }

  @Test("at most 16 URLs are used")
  func limit() throws {
    let urls = (0..<20).map { "\"stun:\($0)\"" }.joined(separator: ",")
    let parsed = try parse(#"[{"urls":[\#(urls)]},{"urls":"stun:last"}]"#)
    #expect(parsed.servers.count == 16 && parsed.servers.last == "stun:15")
    #expect(parsed.ignoredCount == 5)
  }
}

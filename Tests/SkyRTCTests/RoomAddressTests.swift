import SkyRTC
import Testing

@Suite("the address of a room as people have it")
struct RoomAddressTests {
  @Test(
    "the address of the page, of the WebSocket and of the host are the same",
    arguments: [
      ("http://localhost:3000/#100", "ws://localhost:3000", "100"),
      ("http://localhost:3000", "ws://localhost:3000", nil), ("HTTP://localhost:3000/", "ws://localhost:3000", nil),
      ("https://calls.example/#my%20room", "wss://calls.example", "my room"),
      ("https://calls.example/calls/#100", "wss://calls.example/calls", "100"),
      ("ws://localhost:3000#100", "ws://localhost:3000", "100"), ("wss://a.example/x?y", "wss://a.example/x?y", nil),
      ("ws://localhost:3000/#", "ws://localhost:3000/", nil), ("localhost:3000", "ws://localhost:3000", nil),
      ("localhost:3000/#100", "ws://localhost:3000", "100"), ("example.org", "ws://example.org", nil),
      ("example.org:8443", "ws://example.org:8443", nil), ("server:3000", "ws://server:3000", nil),
      ("192.0.2.1", "ws://192.0.2.1", nil), ("[::1]:3000", "ws://[::1]:3000", nil),
      ("localhost", "ws://localhost", nil),
    ] as [(String, String, String?)])
  func same(text: String, webSocket: String, room: String?) {
    let address = RoomAddress(text)
    #expect(address?.webSocket == webSocket && address?.room == room)
  }

  @Test(
    "other texts are no such address",
    arguments: [
      "", "room", "whip+http://localhost/whip/1", "janus+ws://localhost", "exec:python3 a.py", "ftp://example.org",
      "a b:3",
      "user@example.org", "out/", "#100", "http://a.example/#%ff", "example_org.com", ":3000",
    ])
  func others(text: String) {
    #expect(RoomAddress(text) == nil)
  }
}

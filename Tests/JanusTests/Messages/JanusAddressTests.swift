import HTTPTransport
import Janus
import Testing

@Suite("Janus address")
struct JanusAddressTests {
  @Test("the layers of video come from the query, and the rest of the address stays")
  func layers() throws {
    let plain = try JanusAddress("ws://janus.example:8188/janus")
    #expect(plain.url == (try WebSocketURL("ws://janus.example:8188/janus")))
    #expect((plain.substream, plain.temporal) == (2, 2))
    let chosen = try JanusAddress("ws://janus.example:8188/janus?substream=0&temporal=1")
    #expect(chosen.url == plain.url)
    #expect((chosen.substream, chosen.temporal) == (0, 1))
    let mixed = try JanusAddress("wss://janus.example?a=b&temporal=0&c")
    #expect(mixed.url.target == "/?a=b&c")
    #expect((mixed.substream, mixed.temporal) == (2, 0))
  }

  @Test(
    "a layer that does not exist, or is named twice, is reported as one sentence",
    arguments: ["substream=3", "substream=-1", "temporal=", "temporal", "substream=two", "temporal=1&temporal=1"])
  func invalid(query: String) {
    let error = #expect(throws: JanusAddress.ParseError.self) { try JanusAddress("ws://janus.example?\(query)") }
    #expect(error?.description.hasSuffix(".") == true)
    #expect(error?.description.contains(query.prefix { $0 != "=" }) == true)
  }

  @Test("what is not the address of a WebSocket is reported as such", arguments: ["http://janus.example", "ws://", ""])
  func notAnAddress(text: String) {
    #expect(throws: JanusAddress.ParseError.self) { try JanusAddress(text) }
  }
}

import SDP
import Testing

@Suite("What is no session description")
struct ParseErrorTests {
  @Test(
    "says in a sentence what is wrong",
    arguments: [
      ("", "The SDP is empty."),
      ("hello", "This is no SDP: its first line is not \"v=0\"."),
      ("{\"type\":\"offer\"}", "This is no SDP: its first line is not \"v=0\"."),
      ("o=- 1 1 IN IP4 127.0.0.1\r\n", "This is no SDP: its first line is not \"v=0\"."),
      ("v=1\r\n", "The SDP has version \"1\", but only version 0 exists."),
      ("v=0\r\ns=-\r\nnonsense\r\n", "Line 3 of the SDP is not of the form \"x=value\"."),
      ("v=0\r\né=1\r\n", "Line 2 of the SDP is not of the form \"x=value\"."),
      (
        "v=0\r\nm=audio x RTP/SAVPF 0\r\n",
        "Line 2 of the SDP begins a media section, but lacks a kind, a port, a protocol or a format."
      ),
      (
        "v=0\r\nm=audio 9 RTP/SAVPF\r\n",
        "Line 2 of the SDP begins a media section, but lacks a kind, a port, a protocol or a format."
      ),
      (
        "v=0\r\nm=audio 65536 RTP/SAVPF 0\r\n",
        "Line 2 of the SDP begins a media section, but lacks a kind, a port, a protocol or a format."
      ),
    ])
  func sentence(text: String, sentence: String) {
    let error = #expect(throws: SessionDescription.ParseError.self) { try SessionDescription(parsing: text) }
    #expect(error?.description == sentence)
  }

  @Test("262144 bytes are read, one more is refused")
  func length() throws {
    let head = "v=0\r\ns="
    let fitting = head + String(repeating: "x", count: 262_144 - head.utf8.count)
    #expect(try SessionDescription(parsing: fitting).lines.count == 2)
    #expect(throws: SessionDescription.ParseError.tooLong(bytes: 262_145)) {
      try SessionDescription(parsing: fitting + "x")
    }
    #expect(
      SessionDescription.ParseError.tooLong(bytes: 262_145).description
        == "The SDP has 262145 bytes, but at most 262144 are read.")
  }

  @Test("128 sections are read, one more is refused")
  func sections() throws {
    let section = "m=audio 0 RTP/SAVPF 0\r\n"
    let fitting = "v=0\r\n" + String(repeating: section, count: 128)
    #expect(try SessionDescription(parsing: fitting).sections.count == 128)
    #expect(throws: SessionDescription.ParseError.tooManySections) {
      try SessionDescription(parsing: fitting + section)
    }
  }
}

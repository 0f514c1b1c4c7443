import SDP
import Testing

@Suite("Invalid session descriptions")
struct ParseErrorTests {
  @Test(
    "an invalid description is rejected with a sentence that states the error",
    arguments: [
      ("", "The SDP is empty."),
      ("hello", "This is not an SDP: its first line is not \"v=0\"."),
      ("{\"type\":\"offer\"}", "This is not an SDP: its first line is not \"v=0\"."),
      ("o=- 1 1 IN IP4 127.0.0.1\r\n", "This is not an SDP: its first line is not \"v=0\"."),
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

  @Test("262144 bytes are accepted, one more is rejected")
  func length() throws {
    let line = "a=\(String(repeating: "x", count: 8_188))\r\n"
    let fitting =
      "v=0\r\n" + String(repeating: line, count: 31)
      + "a=\(String(repeating: "x", count: 262_144 - 5 - 31 * 8_192 - 2))"
    #expect(try SessionDescription(parsing: fitting).lines.count == 33)
    #expect(throws: SessionDescription.ParseError.tooLong(bytes: 262_145)) {
      try SessionDescription(parsing: fitting + "x")
    }
    #expect(
      SessionDescription.ParseError.tooLong(bytes: 262_145).description
        == "The SDP has 262145 bytes, but at most 262144 are read.")
  }

  @Test("a line of 8192 bytes is accepted, and one byte, line, candidate, rid or format too many is rejected")
  func limits() throws {
    let head = "v=0\r\nm=video 9 RTP/SAVPF 96\r\n"
    let fitting = head + "a=\(String(repeating: "x", count: 8_188))\r\n"
    #expect(try SessionDescription(parsing: fitting).sections[0].lines.count == 1)
    #expect(throws: SessionDescription.ParseError.lineTooLong(number: 3, bytes: 8_193)) {
      try SessionDescription(parsing: head + "a=\(String(repeating: "x", count: 8_189))\r\n")
    }
    for (line, limit, what) in [
      ("a=candidate:1\r\n", 200, "candidates in a section"), ("a=rid:h send\r\n", 64, "rid lines in a section"),
      ("a=x\r\n", 10_000 - 2, "lines"),
    ] {
      let fitting = head + String(repeating: line, count: limit)
      #expect(try SessionDescription(parsing: fitting).sections[0].lines.count == limit)
      let error = #expect(throws: SessionDescription.ParseError.self) {
        try SessionDescription(parsing: fitting + line)
      }
      #expect(error?.description.hasPrefix("The SDP has more than \(what == "lines" ? 10_000 : limit) \(what)") == true)
    }
    let formats = "v=0\r\nm=video 9 RTP/SAVPF\(String(repeating: " 96", count: 128))"
    #expect(try SessionDescription(parsing: formats).sections[0].mediaLine.formats.count == 128)
    #expect(throws: SessionDescription.ParseError.self) { try SessionDescription(parsing: formats + " 97") }
  }

  @Test("64 sections are accepted, one more is rejected")
  func sections() throws {
    let section = "m=audio 0 RTP/SAVPF 0\r\n"
    let fitting = "v=0\r\n" + String(repeating: section, count: 64)
    #expect(try SessionDescription(parsing: fitting).sections.count == 64)
    #expect(throws: SessionDescription.ParseError.tooManySections) {
      try SessionDescription(parsing: fitting + section)
    }
  }
}

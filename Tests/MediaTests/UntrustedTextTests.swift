import Media
import TestSupport
import Testing

@Suite("Text from outside")
struct UntrustedTextTests {
  static let marks = "a" + String(repeating: "\u{0301}\u{0316}", count: 60_000)
  static let plain = String(repeating: "a", count: marks.utf8.count)

  @Test("texts are equal, and in order, by their bytes")
  func bytes() {
    #expect(UntrustedText("\u{E5}") != UntrustedText("a\u{30A}"))
    #expect(UntrustedText("ab") == "ab" && UntrustedText("") == "" && UntrustedText("ab") != "abc")
    #expect(Set(["\u{E5}", "a\u{30A}", "\u{E5}"].map { UntrustedText($0) }).count == 2)
    #expect(UntrustedText("a\u{30A}") < UntrustedText("\u{E5}") && UntrustedText("") < "a")
    #expect(UntrustedText("abc").hasPrefix("ab") && !UntrustedText("a\u{301}").hasPrefix("á"))
    #expect(UntrustedText("abc").ascii == "abc" && UntrustedText("é").ascii == nil)
    #expect(UntrustedText(validating: [0xC3]) == nil && UntrustedText(decoding: [0x61]) == "a")
  }

  @Test("comparing, hashing and showing a text of combining marks costs no more than one of ASCII")
  func costs() {
    let other = ["a", "a\u{0316}\u{0301}", "a\u{0301}"].map { UntrustedText($0) }
    let ratio = ProcessorTime.ratio(of: Self.marks, to: Self.plain) { text in
      let text = UntrustedText(text)
      var table = [text: 1]
      for other in other {
        table[other] = 2
        _ = (text == other, text < other, text.hasPrefix(other))
      }
      switch text {
      case "one", "two": break
      default: table[text] = nil
      }
      _ = (text.description, text.ascii, text.string.prefix(utf8Bytes: 16_384), ParticipantID(text.string) < "a")
    }
    #expect(ratio < 10, "Marks cost \(ratio) times as much as ASCII.")
  }

  @Test("a text that is one long character is shown cut, not as nothing")
  func cut() {
    let shown = UntrustedText(Self.marks).description
    #expect(shown.unicodeScalars.first == "a" && shown.utf8.count > 190 && shown.utf8.count <= 200)
    #expect("äöü".prefix(utf8Bytes: 5) == "äö" && "".prefix(utf8Bytes: 0) == "" && "a".prefix(utf8Bytes: -1) == "")
    // A family is not divided while enough is left without it.
    #expect("abcdefghijkl👨‍👩‍👧".prefix(utf8Bytes: 20) == "abcdefghijkl")
  }

  @Test("invisible characters are escaped in a text of JSON, which means the same")
  func escapes() {
    #expect(
      "{\n \"a\": \"é\u{9B}\u{202E}\u{7F}\"\n}".escapingInvisibleInJSON == "{\n \"a\": \"é\\u009b\\u202e\\u007f\"\n}")
    #expect("\"plain\"".escapingInvisibleInJSON == "\"plain\"")
  }
}

import Media
import Testing

@Suite("Names for people")
struct DisplayNameTests {
  @Test(
    "a name is trimmed, on one line, and has no invisible characters",
    arguments: [
      ("Ann", "Ann"), ("  Ann \t of\r\n Essex ", "Ann of Essex"), ("a\u{202E}b\u{0}c\u{7F}\u{9B}", "abc"),
      ("Zo\u{200B}e\u{FEFF}", "Zoe"), ("Ann\u{2028}Bob", "Ann Bob"), ("张伟", "张伟"), ("👩\u{200D}🚀", "👩🚀"),
      ("e\u{301}", "e\u{301}"),
      ("\u{2066}x\u{2069}", "x"),
    ])
  func cleaned(text: String, name: String) {
    #expect(DisplayName(text)?.description == name)
  }

  @Test(
    "a text in which nothing is visible is no name",
    arguments: ["", " ", "\n\t", "\u{202E}\u{0}", "\u{301}\u{301}", "\u{3164}", "\u{E0041}", "\u{E000}"])
  func nothing(text: String) {
    #expect(DisplayName(text) == nil)
  }

  @Test("a longer text is cut at 64 scalars, and a very long one is not read to its end")
  func long() {
    let all = (0..<70).map { "\($0 % 10)" }.joined()
    #expect(DisplayName(all)?.description == String(all.prefix(64)))
    let words = String(repeating: "a ", count: 100)
    let cut = DisplayName(words)?.description ?? ""
    #expect(cut.unicodeScalars.count <= 64 && cut.hasPrefix("a a") && !cut.hasSuffix(" "))
    #expect(DisplayName(String(repeating: "\u{0}", count: 100_000) + "late") == nil)
    #expect(DisplayName("a" + String(repeating: "\u{301}", count: 100_000))?.description.unicodeScalars.count == 64)
    // What was cleaned stays as it is.
    for text in [all, words, "  x  y "] {
      let once = DisplayName(text)
      #expect(once.flatMap { DisplayName($0.description) } == once)
    }
  }

  @Test("a participant is shown by the name and the beginning of the id, or by the id")
  func label() {
    #expect(DisplayName.label("Ann", id: "0f3a9c77-1") == "Ann (0f3a9c)")
    #expect(DisplayName.label(nil, id: "0f3a9c77-1") == "0f3a9c77-1")
    #expect(DisplayName.label(" \u{0}", id: "a\nb") == "a\\u{a}b")
  }
}

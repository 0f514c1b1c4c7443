import Media
import Testing

@Suite("Printable text")
struct PrintableTests {
  @Test(
    "control characters and line ends are escaped",
    arguments: [
      ("room 100", "room 100"), ("räum 💬", "räum 💬"), ("a\nb", "a\\u{a}b"), ("\u{1B}[2J", "\\u{1b}[2J"),
      ("\u{202E}abc", "\\u{202e}abc"), ("\u{2028}", "\\u{2028}"),
    ])
  func escapes(text: String, shown: String) {
    #expect(text.printable() == shown)
  }

  @Test("long text is truncated between characters")
  func cut() {
    #expect("äöü".prefix(utf8Bytes: 5) == "äö")
    #expect("äöü".prefix(utf8Bytes: 6) == "äöü")
    #expect("äöü".printable(utf8Bytes: 1) == "")
  }
}

import Media
import Testing

@Suite("text for people")
struct DisplayTextTests {
  @Test(
    "bitrates are short",
    arguments: [
      (0, "0 b/s"), (850, "850 b/s"), (999.6, "1 kb/s"), (64_400, "64 kb/s"), (999_499, "999 kb/s"),
      (999_500, "1.0 Mb/s"), (12_345_678, "12.3 Mb/s"), (-1, "0 b/s"), (.nan, "0 b/s"), (.infinity, "0.0 Mb/s"),
    ] as [(Double, String)])
  func bitrates(_ bits: Double, _ text: String) {
    #expect(DisplayText.bitrate(bits) == text)
  }

  @Test("names have no characters that control a terminal, and something is always left")
  func names() {
    #expect(DisplayText.plain("a\u{1b}[2Jb\nc\r\u{202e}", longest: 40) == "a[2Jbc")
    #expect(DisplayText.plain("\u{0}\u{7}\u{9b}", longest: 40) == "?")
    #expect(DisplayText.plain("anna", longest: 2) == "an")
  }

  @Test("a text is cut at the width of a terminal, on which some characters take two columns")
  func widths() {
    #expect(DisplayText.width("ab房") == 4)
    #expect(DisplayText.cut("ab房c", to: 3) == "ab")
    #expect(DisplayText.cut("↓1", to: 2) == "↓1")
  }
}

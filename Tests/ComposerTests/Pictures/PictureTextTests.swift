import Composer
import Testing

@Suite("Texts in pictures")
struct PictureTextTests {
  @Test(
    "Initials are the first letters of the first and the last word",
    arguments: [
      ("Alice", "A"), ("alice bob", "AB"), ("Anna Maria von Berg", "AB"), ("  x ", "X"), ("jean-luc", "JL"),
      ("王小明", "王"), ("محمد علي", "مع"), ("😀 party", "😀"), ("(((", "("), ("", "?"), ("user_17", "U1"), ("1 two", "1"),
      ("ß", "SS"),
    ])
  func initials(_ label: String, _ expected: String) {
    // A character between them keeps letters of Arabic apart.
    #expect(Initials.text(of: label).unicodeScalars.filter { $0 != "\u{200C}" }.map(String.init).joined() == expected)
  }

  @Test("Initials of a letter with very many marks are short")
  func marks() {
    let text = Initials.text(of: "Z" + String(repeating: "\u{0301}", count: 100_000))
    #expect(text.unicodeScalars.count <= 8)
  }

  @Test(
    "The clock is in UTC",
    arguments: [
      (0.0, "1970-01-01 00:00:00 UTC"), (951_782_399.9, "2000-02-28 23:59:59 UTC"),
      (951_782_400, "2000-02-29 00:00:00 UTC"),
      (1_795_878_245, "2026-11-28 15:04:05 UTC"), (4_107_542_399, "2100-02-28 23:59:59 UTC"),
      (4_107_542_400, "2100-03-01 00:00:00 UTC"), (-5, "1970-01-01 00:00:00 UTC"), (.nan, "1970-01-01 00:00:00 UTC"),
      (1e300, "9999-12-31 23:59:59 UTC"),
    ])
  func clock(_ seconds: Double, _ expected: String) { #expect(ClockText.text(secondsSince1970: seconds) == expected) }
}

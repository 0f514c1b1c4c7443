import ObjectStore
import Testing

@Suite("The keys of objects")
struct KeyTests {
  @Test(
    "A text becomes letters, digits, -, _, inner dots and =XX",
    arguments: [
      ("alice.webm", "alice.webm"), ("a b", "a=20b"), ("é", "=C3=A9"), ("../../etc", "=2E.=2F..=2Fetc"),
      (".", "=2E"), ("..", "=2E."), ("", "="), ("a=b", "a=3Db"), ("a\u{0}b", "a=00b"), ("<b>", "=3Cb=3E"),
      ("a\r\nb", "a=0D=0Ab"), ("😀", "=F0=9F=98=80"), ("\u{202E}x", "=E2=80=AEx"),
    ])
  func part(text: String, part: String) {
    #expect(KeyText.part(text) == part)
    #expect(ObjectKey("p/\(KeyText.part(text))") != nil)
  }

  @Test("A long text keeps its ending, and two texts never have the same part")
  func long() throws {
    let emoji = String(repeating: "😀", count: 64)
    let parts = ["\(emoji)a.0001.webm", "\(emoji)b.0001.webm", "\(emoji)a.0001.ogg", emoji].map(KeyText.part)
    #expect(Set(parts).count == 4)
    for part in parts {
      #expect(part.utf8.count <= 200)
      #expect(ObjectKey(part) != nil)
    }
    #expect(parts[0].hasSuffix(".webm"))
    #expect(parts[2].hasSuffix(".ogg"))
    // No half of an escaped byte is left before the hash.
    let stem = try #require(parts[3].split(separator: "-").first)
    #expect(stem.utf8.count % 3 == 0)
  }

  @Test(
    "A key has no part that leads out of the store, or hides",
    arguments: ["", "/a", "a/", "a//b", "../a", "a/../b", "a/.b", ".", "a b", "a\u{0}", "é", "a\\b", "a%2Fb"])
  func refused(text: String) {
    #expect(ObjectKey(text) == nil)
  }

  @Test("A key has at most 1,024 bytes, and 255 in a part")
  func limits() {
    let part = String(repeating: "a", count: 255)
    #expect(ObjectKey("\(part)/\(part)/\(part)/\(part)") != nil)
    #expect(ObjectKey("\(part)/\(part)/\(part)/\(part)/b") == nil)
    #expect(ObjectKey("\(part)a") == nil)
  }
}

@Suite("The template of paths")
struct ObjectPathTemplateTests {
  private func values(room: String = "100", project: String = "default") -> ObjectPathTemplate.Values {
    ObjectPathTemplate.Values(
      createdAt: 1_772_357_400_125, job: "j0b", kind: "record", project: project, room: room)
  }

  @Test("Fields are replaced by the values of the job")
  func fields() throws {
    #expect(ObjectPathTemplate.standard.path(values())?.text == "2026-03-01/j0b")
    let template = try ObjectPathTemplate("a/{project}/{kind}-{room}.{job}")
    #expect(template.path(values())?.text == "a/default/record-100.j0b")
  }

  @Test("A hostile room stays within its part")
  func hostile() throws {
    let template = try ObjectPathTemplate("{room}/{job}")
    #expect(template.path(values(room: "../../x"))?.text == "=2E.=2F..=2Fx/j0b")
    let long = template.path(values(room: String(repeating: "😀", count: 64)))
    #expect((long?.text.utf8.count ?? 999) <= 210)
  }

  @Test(
    "A template without the job, or with what is no path, is refused",
    arguments: [
      "{date}", "", "{job", "{job}}", "{user}/{job}", "/{job}", "{job}/", "a//{job}", "../{job}", ".{job}", "a b/{job}",
      "é/{job}", "{job}/\u{0}",
    ])
  func refused(text: String) {
    #expect(throws: ObjectPathTemplate.Problem.self) { try ObjectPathTemplate(text) }
  }
}

@Suite("Moments in UTC")
struct UTCTimeTests {
  @Test(
    "A moment is written and read",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (1_772_357_400_125, "2026-03-01T09:30:00.125Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ] as [(Int64, String)])
  func text(milliseconds: Int64, text: String) {
    #expect(UTCTime(milliseconds: milliseconds).text == text)
    #expect(UTCTime(text)?.milliseconds == milliseconds)
  }

  @Test("Fractions may have any number of digits")
  func fractions() {
    #expect(UTCTime("2026-03-01T09:30:00Z")?.milliseconds == 1_772_357_400_000)
    #expect(UTCTime("2026-03-01T09:30:00.1Z")?.milliseconds == 1_772_357_400_100)
    #expect(UTCTime("2026-03-01T09:30:00.1239999999999999999Z")?.milliseconds == 1_772_357_400_123)
  }

  @Test(
    "What is no moment is refused",
    arguments: [
      "", "2026-03-01", "2026-03-01 09:30:00Z", "2026-13-01T09:30:00Z", "2026-03-01T24:30:00Z",
      "2026-03-01T09:30:00+01:00", "2026-03-01T09:30:00.Z", "2026-03-01T09:30:00,5Z", "99999-03-01T09:30:00Z",
      "-026-03-01T09:30:00Z", "2026-03-01T09:30:00.12345678901234567890123Z",
    ])
  func refused(text: String) {
    #expect(UTCTime(text) == nil)
  }

  @Test("Moments outside of the calendar are clamped")
  func clamped() {
    #expect(UTCTime(milliseconds: .min).text == "1970-01-01T00:00:00.000Z")
    #expect(UTCTime(milliseconds: .max).text == "9999-12-31T23:59:59.999Z")
  }
}

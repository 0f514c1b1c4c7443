import OptionValues
import Testing

@Suite("the length of a segment on the command line")
struct SegmentLengthTests {
  @Test(
    "a length is a time or a size with its unit",
    arguments: [
      ("90", .time(TimeSpan(milliseconds: 90_000))), ("10m", .time(TimeSpan(milliseconds: 600_000))),
      ("1h", .time(TimeSpan(milliseconds: 3_600_000))), ("500MB", .size(500_000_000)), ("2GiB", .size(2 << 30)),
      ("100kB", .size(100_000)), ("640KiB", .size(640 << 10)), ("1gb", .size(1_000_000_000)),
    ] as [(String, SegmentLength)])
  func reads(_ text: String, _ length: SegmentLength) throws {
    #expect(try SegmentLength(text) == length)
  }

  @Test("it parses what it printed", arguments: ["90s", "10m", "500MB", "2GiB", "640KiB", "1500ms", "1001kB"])
  func prints(_ text: String) throws {
    let length = try SegmentLength(text)
    #expect(length.description == text)
    #expect(try SegmentLength(length.description) == length)
  }

  @Test(
    "any other text is rejected with an example of a length",
    arguments: ["", "MB", "5 MB", "-5MB", "1.5GB", "5TB", "10M", "٣MB"])
  func neither(_ text: String) {
    #expect(throws: SegmentLength.ParseError.neither(text)) { try SegmentLength(text) }
  }

  @Test("a length that needs a file for each keyframe is rejected, and so is one that exceeds any disk")
  func limits() {
    #expect(throws: SegmentLength.ParseError.tooShort(TimeSpan(milliseconds: 999))) { try SegmentLength("999ms") }
    #expect(throws: SegmentLength.ParseError.tooShort(TimeSpan(milliseconds: 0))) { try SegmentLength("0") }
    #expect(throws: SegmentLength.ParseError.tooSmall(99_000)) { try SegmentLength("99kB") }
    #expect(throws: SegmentLength.ParseError.tooLarge("9223372036854775807GB")) {
      try SegmentLength("9223372036854775807GB")
    }
    #expect(
      SegmentLength.ParseError.tooSmall(99_000).description
        == "Segments of 99000 bytes are too small; the minimum is 100kB.")
  }
}

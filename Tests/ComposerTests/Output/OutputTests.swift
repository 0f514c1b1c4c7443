import Composer
import Composition
import MediaMessages
import Testing

@Suite("Chapters and chat of an output")
struct OutputTests {
  /// Units of a millisecond.
  private static let unit: Int64 = 720

  private func message(_ start: Int64, _ end: Int64, _ text: String) -> PlannedMessage {
    PlannedMessage(start: start * Self.unit, end: end * Self.unit, sender: "ann", text: text)
  }

  @Test("messages that are shown at the same time are one subtitle, and none overlaps another")
  func chat() {
    let subtitles = ChatSubtitle.all(of: [
      message(1_000, 5_000, "a"), message(3_000, 8_000, "b"), message(9_000, 9_500, "c"),
    ])
    #expect(subtitles.map(\.start) == [1_000, 3_000, 5_000, 9_000])
    #expect(subtitles.map(\.end) == [3_000, 5_000, 8_000, 9_500])
    #expect(subtitles.map(\.text) == ["ann: a", "ann: a\nann: b", "ann: b", "ann: c"])
  }

  @Test("the last messages are shown where there are many, and one of no length is none")
  func manyMessages() {
    let subtitles = ChatSubtitle.all(of: (0..<6).map { message(0, 1_000, "\($0)") } + [message(2_000, 2_000, "x")])
    #expect(subtitles.map(\.text) == ["ann: 2\nann: 3\nann: 4\nann: 5"])
    #expect(ChatSubtitle.all(of: []).isEmpty)
  }

  @Test("a chapter ends where the next one begins, and those of one millisecond are one")
  func chapters() {
    let planned = [(0, "a"), (2_000, "b"), (2_000, "c"), (6_000, "d")].map {
      PlannedChapter(start: $0.0 * Self.unit, title: $0.1)
    }
    let chapters = OutputChapters.all(of: planned, duration: 7_000 * Self.unit)
    #expect(chapters.map(\.start) == [0, 2_000, 6_000])
    #expect(chapters.map(\.end) == [2_000, 6_000, 7_000])
    #expect(chapters.map(\.title) == ["a", "b, c", "d"])
    // One that begins at the end has no length.
    #expect(OutputChapters.all(of: planned, duration: 6_000 * Self.unit).map(\.title) == ["a", "b, c"])
  }
}

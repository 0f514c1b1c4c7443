import Composer
import Composition
import MediaMessages
import Testing

@Suite("Chapters and chat of an output")
struct OutputTests {
  /// Units of a millisecond.
  private static let unit: Int64 = 720

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

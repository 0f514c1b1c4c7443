import CallCheck
import Testing

@Suite("the wait of a check for media")
struct MediaWaitTests {
  private let begin = ContinuousClock.now

  /// Returns after how many seconds a wait is over, asked each second.
  private func end(limit: Int, refused: ClosedRange<Int>) -> Int? {
    var wait = MediaWait(from: begin, limit: .seconds(limit))
    return (0...100).first { second in
      wait.isOver(waitsOnlyForRefusedMedia: refused.contains(second), at: begin + .seconds(second))
    }
  }

  @Test("ends 5 s after everything has arrived except what we refused")
  func refused() {
    #expect(end(limit: 45, refused: 3...100) == 8)
  }

  @Test("continues if something else is missing again")
  func interrupted() {
    #expect(end(limit: 45, refused: 3...7) == 45)
  }

  @Test("is never longer than its limit")
  func limit() {
    #expect(end(limit: 4, refused: 3...100) == 4)
    #expect(end(limit: 45, refused: 200...300) == 45)
  }
}

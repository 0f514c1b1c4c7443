import Testing

@testable import Console

@Suite("the progress of work on a terminal")
struct ProgressDisplayTests {
  @Test("it is shown at most once in each interval, a new stage at once, and nothing after the end")
  func intervals() {
    let display = ProgressDisplay<Int>(console: Console(isQuiet: true), interval: .milliseconds(250))
    let begin = ContinuousClock.now
    #expect(display.elapsed(of: 1, at: begin) == .zero)
    #expect(display.elapsed(of: 1, at: begin + .milliseconds(249)) == nil)
    #expect(display.elapsed(of: 1, at: begin + .milliseconds(250)) == .milliseconds(250))
    #expect(display.elapsed(of: 1, at: begin + .milliseconds(499)) == nil)
    // The time of a stage counts from its own beginning.
    #expect(display.elapsed(of: 2, at: begin + .milliseconds(499)) == .zero)
    #expect(display.elapsed(of: 2, at: begin + .milliseconds(800)) == .milliseconds(301))
    display.stop()
    #expect(display.elapsed(of: 3, at: begin + .seconds(9)) == nil)
  }
}

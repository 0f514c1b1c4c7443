import Media
import Processes
import Testing

@Suite("the standard error and the end of a program")
struct DiagnosticLinesTests {
  @Test("lines for the log are cut and printable, and the last one is remembered")
  func diagnostics() {
    var lines = DiagnosticLines()
    let now = MonotonicInstant.now
    let found = lines.lines(in: Array("one\r\n  \n\u{1B}[31mred\nab".utf8), now: now)
    #expect(found.map(\.text) == ["one", #"\u{1b}[31mred"#])
    #expect(lines.last == #"\u{1b}[31mred"#)
    let rest = lines.end(now: now)
    #expect(rest?.text == "ab" && lines.last == "ab")
    let none = lines.end(now: now)
    #expect(none == nil)
    let long = lines.lines(in: Array(repeating: UInt8(ascii: "x"), count: 5_000) + [UInt8(ascii: "\n")], now: now)
    #expect(long.map(\.text.utf8.count) == [DiagnosticLines.shownBytes])
    let invalid = lines.lines(in: [0xFF, 0xC3, UInt8(ascii: "\n")], now: now)
    #expect(invalid.count == 1)
  }

  @Test("a program that writes without end gives few lines, and the number of others")
  func flood() {
    var lines = DiagnosticLines()
    let now = MonotonicInstant.now
    var shown = 0
    for number in 0..<10_000 { shown += lines.lines(in: Array("line \(number)\n".utf8), now: now).count }
    #expect(shown == 50)
    #expect(lines.last == "line 9999")
    let later = lines.lines(in: Array("later\n".utf8), now: now + .seconds(1))
    #expect(later.map(\.text) == ["later"] && later.map(\.suppressedCount) == [9_950])
  }

  @Test("how a program ended is a sentence with its last line")
  func exits() {
    #expect(
      ChildExit(result: 3) == .code(3) && ChildExit(result: -9) == .signal(9) && ChildExit(result: 256) == .unknown)
    #expect(ChildExit.code(1).sentence(of: "python3", lastLine: nil) == "python3 ended with exit code 1.")
    #expect(
      ChildExit.signal(9).sentence(of: "python3", lastLine: "Oh.")
        == "python3 was ended by signal 9 (SIGKILL); the last line of its standard error was \"Oh.\".")
    #expect(ChildExit.signal(63).sentence(of: "a\n", lastLine: nil) == #"a\u{a} was ended by signal 63."#)
  }
}

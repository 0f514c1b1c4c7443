import Media
import TestSupport
import Testing

@testable import ExecSignalling

@Suite("Lines of a program")
struct LineTests {
  private func texts(_ lines: [[UInt8]]) -> [String] { lines.map { String(decoding: $0, as: UTF8.self) } }

  @Test("pieces of any size give the same lines; carriage returns and empty lines are left out", arguments: 1...9)
  func pieces(size: Int) {
    let bytes = Array("one\r\n\n\r\ntwo\nthree é\n\rfour\n".utf8) + Array("rest".utf8)
    var reader = LineReader(maximumBytes: 100)
    var found: [String] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      found += texts(reader.lines(in: Array(bytes[start..<min(start + size, bytes.count)])))
    }
    #expect(found == ["one", "two", "three é", "\rfour"])
    #expect(!reader.isOverflown)
  }

  @Test("nothing is read after a line that is too long", arguments: [1, 3, 1_000])
  func tooLong(size: Int) {
    let bytes = Array("12345\n123456\n1\n".utf8)
    var reader = LineReader(maximumBytes: 5)
    var found: [String] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      found += texts(reader.lines(in: Array(bytes[start..<min(start + size, bytes.count)])))
    }
    #expect(found == ["12345"])
    #expect(reader.isOverflown)
  }

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
    #expect(later == [.init(text: "later", suppressedCount: 9_950)])
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

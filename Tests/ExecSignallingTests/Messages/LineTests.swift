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
}

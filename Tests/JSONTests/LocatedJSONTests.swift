import JSON
import Media
import Testing

extension LocatedJSON {
  fileprivate var problem: Problem { Problem(location: location, sentence: "This is another value.") }
}

@Suite("JSON with places")
struct LocatedJSONTests {
  private func read(_ text: String, _ limits: JSONLimits = .init(bytes: 200, values: 10, depth: 3)) throws
    -> LocatedJSON
  {
    try LocatedJSON(parsing: Array(text.utf8), within: limits)
  }

  @Test("each value and each name has the line and the column where it begins")
  func locations() throws {
    let json = try read("{\n  \"é😀\": [1,\r\n\t-2.5e1, true],\r\"b\" : null}")
    guard case .object(let members) = json.value else { throw json.problem }
    #expect(json.location == TextLocation(line: 1, column: 1))
    #expect(members.map(\.name) == ["é😀", "b"])
    #expect(members.map(\.location) == [.init(line: 2, column: 3), .init(line: 4, column: 1)])
    guard case .array(let elements) = members.first?.value.value else { throw json.problem }
    #expect(elements.map(\.value) == [.number(1), .number(-25), .bool(true)])
    #expect(
      elements.map(\.location) == [.init(line: 2, column: 10), .init(line: 3, column: 2), .init(line: 3, column: 10)])
  }

  @Test("escapes are resolved, also those of two halves")
  func escapes() throws {
    #expect(try read(#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#).value == .string("a\"\\/\u{8}\u{C}\n\r\té😀"))
  }

  @Test("a byte order mark at the beginning takes no column")
  func byteOrderMark() throws {
    #expect(try read("\u{FEFF}1").location == .start)
  }

  @Test(
    "a text that is not JSON is refused where it stops to be",
    arguments: [
      ("", 1, 1), ("{", 1, 2), ("{\"a\"", 1, 5), ("{\"a\":}", 1, 6), ("{\n\"a\": 1,\n}", 3, 1), ("[1 2]", 1, 4),
      ("[1,]", 1, 4),
      ("1 2", 1, 3), ("01", 1, 2), ("-", 1, 2), ("1.", 1, 3), ("1e", 1, 3), ("1e999", 1, 1), ("nul", 1, 1),
      ("'a'", 1, 1),
      ("\"a", 1, 1), ("\"\n\"", 1, 2), ("\"\\x\"", 1, 2), ("\"\\u12g4\"", 1, 2), ("\"\\ud800\"", 1, 2),
      ("\"\\ud800\\u0041\"", 1, 2), ("\"\\udc00\"", 1, 2), ("{\"a\":1,\"a\":2}", 1, 8),
      ("{\"a\":1,\"\\u0061\":2}", 1, 8),
      ("[[[[1]]]]", 1, 4), ("[1,2,3,4,5,6,7,8,9,10]", 1, 20), ("{a:1}", 1, 2), ("[/**/]", 1, 2),
    ])
  func refused(text: String, line: Int, column: Int) throws {
    let problem = #expect(throws: LocatedJSON.Problem.self) { try read(text) }
    #expect(problem?.location == TextLocation(line: line, column: column))
  }

  @Test("bytes that are not UTF-8, and too many of them, are refused")
  func bytes() throws {
    let limits = JSONLimits(bytes: 4, values: 10, depth: 3)
    #expect(throws: LocatedJSON.Problem(location: .start, sentence: "The file is not UTF-8.")) {
      try LocatedJSON(parsing: [0x22, 0xC3, 0x22], within: limits)
    }
    #expect(throws: LocatedJSON.Problem(location: .start, sentence: "The file has more than 4 bytes.")) {
      try LocatedJSON(parsing: Array("12345".utf8), within: limits)
    }
  }
}

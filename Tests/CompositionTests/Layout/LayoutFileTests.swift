import Composition
import Foundation
import JSON
import Media
import Testing

@Suite("layout files")
struct LayoutFileTests {
  private func parse(_ text: String, size: VideoSize = Sample.size) throws -> LayoutFile {
    try LayoutFile(parsing: Array(text.utf8), size: size)
  }

  @Test("every key of a region is read")
  func keys() throws {
    let file = try parse(
      """
      { "regions": [
        { "x": 0, "y": 0, "width": 960, "height": 720, "z": -1, "users": ["*"], "exclude": ["bot-*"], "content": "screen",
          "columns": 2, "rows": 3, "reuse": "newest", "fit": "cover" },
        { "x": 960 } ] }
      """)
    var first = LayoutRegion(x: 0, y: 0, width: 960, height: 720)
    (first.z, first.exclude, first.content) = (-1, [UserPattern("bot-*")], .screen)
    (first.columns, first.rows, first.reuse, first.fit) = (2, 3, .newest, .cover)
    #expect(file == LayoutFile(regions: [first, LayoutRegion(x: 960, y: 0, width: 320, height: 720)]))
  }

  @Test(
    "a region without a size reaches to the end of the output; odd ends are rounded down, so that neighbours still meet"
  )
  func rounding() throws {
    let file = try parse(#"{"regions":[{"width":639,"height":361},{"x":639,"height":361},{"y":361}]}"#)
    #expect(
      file.regions == [
        LayoutRegion(x: 0, y: 0, width: 638, height: 360), LayoutRegion(x: 638, y: 0, width: 642, height: 360),
        LayoutRegion(x: 0, y: 360, width: 1280, height: 360),
      ])
  }

  @Test("the example of the document is a layout")
  func document() throws {
    let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
    let text = try String(contentsOf: repository.appendingPathComponent("docs/compose.md"), encoding: .utf8)
    let blocks = text.components(separatedBy: "```json\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    let layouts = blocks.filter { $0.contains("\"regions\"") }
    #expect(layouts.count == 1)
    for layout in layouts { #expect(try parse(layout).regions.count == 3) }
  }

  @Test(
    "what is wrong is said with its place",
    arguments: [
      ("{}", "line 1, column 1: The file has no \"regions\"."),
      ("[]", "line 1, column 1: Expected an object in braces."),
      ("{\"regions\":[]}", "line 1, column 12: \"regions\" has 0 entries; 1 to 25 are allowed."),
      ("{\"regions\":[1]}", "line 1, column 13: Expected an object in braces."),
      ("{\"regions\":{}}", "line 1, column 12: \"regions\" is a list in brackets."),
      (
        "{\"regions\":[{}],\n  \"size\":1}",
        "line 2, column 3: \"size\" is no key of a layout."
      ),
      (
        "{\"regions\":[{\"x\":0,\n\"colums\":2}]}",
        "line 2, column 1: \"colums\" is no key of a layout; do you mean \"columns\"?"
      ),
      ("{\"regions\":[{\"x\":\"0\"}]}", "line 1, column 18: \"x\" is a whole number from 0 to 1279."),
      ("{\"regions\":[{\"y\":1.5}]}", "line 1, column 18: \"y\" is a whole number from 0 to 719."),
      ("{\"regions\":[{\"z\":100}]}", "line 1, column 18: \"z\" is a whole number from -99 to 99."),
      (
        "{\"regions\":[{\"x\":640,\"width\":642}]}",
        "line 1, column 30: The region ends at pixel 1282, but the width of the output is 1280."
      ),
      (
        "{\"regions\":[{\"height\":17},{\"y\":16,\"height\":15}]}",
        "line 1, column 44: The height of the region is less than 16 pixels."
      ),
      ("{\"regions\":[{\"x\":1270}]}", "line 1, column 18: The width of the region is less than 16 pixels."),
      (
        "{\"regions\":[{\"width\":100,\"columns\":6}]}",
        "line 1, column 36: The cells would have less than 16 pixels: the region has 100."
      ),
      ("{\"regions\":[{\"rows\":26}]}", "line 1, column 21: \"rows\" is a whole number from 1 to 25."),
      ("{\"regions\":[{\"users\":\"Ann\"}]}", "line 1, column 22: \"users\" is a list in brackets."),
      ("{\"regions\":[{\"users\":[]}]}", "line 1, column 22: \"users\" has 0 entries; 1 to 200 are allowed."),
      (
        "{\"regions\":[{\"users\":[\"a\",\"\"]}]}",
        "line 1, column 27: A user is a name or an id in quotes, with at most 256 bytes."
      ),
      ("{\"regions\":[{\"users\":[\"a\",\"a\"]}]}", "line 1, column 27: \"a\" is there twice."),
      (
        "{\"regions\":[{\"users\":[\"a\"],\"exclude\":[\"b\",\"a\"]}]}",
        "line 1, column 38: The region excludes whom it shows."
      ),
      ("{\"regions\":[{\"exclude\":[\"*\"]}]}", "line 1, column 24: The region excludes whom it shows."),
      (
        "{\"regions\":[{\"reuse\":\"show_oldest\"}]}",
        "line 1, column 22: \"reuse\" is one of \"none\", \"oldest\", \"newest\"."
      ),
      ("{\"regions\":[{\"fit\":\"crop\"}]}", "line 1, column 20: \"fit\" is one of \"contain\", \"cover\"."),
      (
        "{\"regions\":[{\"content\":null}]}",
        "line 1, column 24: \"content\" is one of \"all\", \"camera\", \"screen\"."
      ),
      (
        "{\"regions\":[\n{\"width\":642},\n{\"x\":640}]}",
        "line 3, column 1: The region overlaps that of line 2, column 1. Give one of them a greater \"z\", or move it."
      ),
      ("{\"regions\":[{\"x\":1,\"x\":2}]}", "line 1, column 20: \"x\" is there twice."),
    ])
  func errors(text: String, sentence: String) throws {
    let problem = #expect(throws: LocatedJSON.Problem.self) { try parse(text) }
    #expect(problem?.description == sentence)
  }

  @Test("regions may overlap with another z, and touch each other with the same")
  func overlaps() throws {
    #expect(try parse(#"{"regions":[{},{"z":1,"x":900,"y":500}]}"#).regions.count == 2)
    #expect(try parse(#"{"regions":[{"width":640},{"x":640}]}"#).regions.count == 2)
  }

  @Test(
    "a star in a name stands for any text",
    arguments: [
      ("*", "", true), ("*", "Ann", true), ("Ann", "Ann", true), ("Ann", "Anna", false), ("ann", "Ann", false),
      ("An*", "Ann", true),
      ("*n", "Ann", true), ("A*n*a", "Annabella", true), ("A*n*b", "Annabella", false), ("*ab*ab", "abab", true),
      ("*ab*ab", "ab", false), ("", "", true), ("bot-*", "bot", false), ("**", "x", true), ("*é", "e\u{301}é", true),
    ])
  func patterns(pattern: String, name: String, isMatch: Bool) {
    #expect(UserPattern(UntrustedText(pattern)).matches(anyOf: [UntrustedText(name)]) == isMatch)
  }

  @Test("a pattern of many stars needs a time that grows with the product of the lengths only")
  func manyStars() {
    let pattern = UserPattern(UntrustedText(String(repeating: "*a", count: 120) + "b"))
    let name = UntrustedText(String(repeating: "a", count: 4_096))
    let clock = ContinuousClock()
    let elapsed = clock.measure { for _ in 0..<10 { #expect(!pattern.matches(anyOf: [name])) } }
    #expect(elapsed < .seconds(20))
  }
}

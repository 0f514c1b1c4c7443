import CallCheck
import Testing

@Suite("A file of rules")
struct RulesFileTests {
  @Test("a list under expect: is parsed, with comments, quotes and empty lines")
  func list() throws {
    let rules = try RulesFile.rules(
      of: """
        ---
        # our gate
        expect:   # from here on

          - video.fps >= 24
          - "audio.silence <= 1s"   # quoted
          - 'loss <= 2%'
          # nothing

          - peers == 2
        """)
    #expect(rules.given.map(\.text) == ["video.fps >= 24", "audio.silence <= 1s", "loss <= 2%", "peers == 2"])
  }

  @Test("a bare list is parsed, with Windows line ends and a byte order mark")
  func bare() throws {
    let rules = try RulesFile.rules(of: "\u{FEFF}- video.fps >= 24\r\n- loss <= 2%\r\n")
    #expect(rules.given.map(\.text) == ["video.fps >= 24", "loss <= 2%"])
  }

  @Test("a list that is not indented under its heading is parsed, as YAML allows")
  func flat() throws {
    #expect(try RulesFile.rules(of: "expect:\n- peers == 2\n").given.count == 1)
  }

  @Test(
    "anything else is refused with its line number",
    arguments: [
      ("expect: [a, b]", 1, "only a list"), ("- video.fps >= 24\nrules:\n", 2, "only a list"),
      ("expect:\n  - video.fps >= 24\n    - loss <= 2%", 3, "not indented"), ("expect:\n\t- loss <= 2%", 2, "a tab"),
      ("- video.fps >= 24\n- \"loss <= 2%", 2, "not closed"), ("- {a: b}", 1, "cannot begin with {"),
      ("- \n", 1, "no rule after"), ("- rule: loss <= 2%", 1, "without a colon"),
      ("- vidio.fps >= 24", 1, "video.fps"),
      ("# one\n- video.firstFrame <= 2", 2, "needs a unit"), ("expect:\nexpect:\n", 2, "only once"),
      ("- loss <= 2%\nexpect:\n", 2, "only once"), ("- 'it''s'", 1, "not supported"),
      ("  - loss <= 2%", 1, "not indented"),
      ("- &a loss <= 2%", 1, "cannot begin with &"), ("-loss <= 2%", 1, "only a list"),
    ])
  func refused(text: String, line: Int, reason: String) {
    let error = #expect(throws: RulesFile.ParseError.self) { try RulesFile.rules(of: text) }
    #expect(error?.line == line)
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }

  @Test("a file without a rule, or a huge one, is refused", arguments: ["", "# nothing\n", "expect:\n", "---\n"])
  func empty(text: String) {
    #expect(throws: RulesFile.ParseError.self) { try RulesFile.rules(of: text) }
    #expect(throws: RulesFile.ParseError.self) { try RulesFile.rules(of: String(repeating: "# \n", count: 40_000)) }
  }
}

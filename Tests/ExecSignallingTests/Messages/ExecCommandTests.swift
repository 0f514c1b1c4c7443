import ExecSignalling
import Testing

@Suite("The command of exec:")
struct ExecCommandTests {
  @Test(
    "words are separated by spaces and may be quoted",
    arguments: [
      ("python3 adapter.py", ["python3", "adapter.py"]), ("  a \t b\n", ["a", "b"]),
      ("'my program' \"a b\" c\\ d", ["my program", "a b", "c d"]), (#"a'b'"c"d"#, ["abcd"]),
      (#"a '' "" b"#, ["a", "", "", "b"]), (#"a '\' "\"\\\n" \'"#, ["a", "\\", "\"\\\\n", "'"]),
      ("a $HOME * ~ ; | `b` #c", ["a", "$HOME", "*", "~", ";", "|", "`b`", "#c"]),
      ("ü e\u{301} 'e'\u{301}", ["ü", "e\u{301}", "e\u{301}"]),
    ])
  func words(text: String, expected: [String]) throws {
    #expect(try ExecCommand(text).words == expected)
  }

  @Test(
    "what is no command is one sentence",
    arguments: [
      ("", .noProgram), ("  ", .noProgram), ("'' a", .noProgram), ("a 'b", .unclosedQuote("'")),
      ("a \"b'", .unclosedQuote("\"")), ("a \\", .trailingBackslash), ("a \u{0}", .zeroCharacter),
    ] as [(String, ExecCommand.ParseError)])
  func mistakes(text: String, expected: ExecCommand.ParseError) {
    #expect(throws: expected) { try ExecCommand(text) }
    #expect(expected.description.hasSuffix(".") && !expected.description.contains("\n"))
  }

  @Test("its description is the program's file name, without arguments, which may be secret")
  func description() throws {
    #expect(try "\(ExecCommand("/usr/local/bin/adapter --token 1234"))" == "adapter")
    #expect(try "\(ExecCommand("/"))" == "/")
  }
}

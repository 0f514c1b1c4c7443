import CommandSettings
import Testing

@Suite("advice for arguments that no command has")
struct UsageAdviceTests {
  private func advice(_ line: String) -> String? {
    UsageAdvice(line.split(separator: " ").map(String.init), of: program.root).sentence
  }

  @Test(
    "a word that is an option's name, or an address, is answered with the option and the value that follows",
    arguments: [
      ("record out/", "There is no command “record”; did you mean --record out/?"),
      ("play x.webm", "There is no command “play”; did you mean --play x.webm?"),
      ("record --room 100", "There is no command “record”; did you mean --record <folder>?"),
      ("loopback", "There is no command “loopback”; did you mean --loopback?"),
      ("call record out/", "“record” belongs to no option; did you mean --record out/?"),
      ("--room 100 record out/", "“record” belongs to no option; did you mean --record out/?"),
      ("recrod out/", "There is no command “recrod”; did you mean --record out/?"),
      ("ws://localhost:3000", "There is no command “ws://localhost:3000”; did you mean --server ws://localhost:3000?"),
    ])
  func words(line: String, sentence: String) {
    #expect(advice(line) == sentence)
  }

  @Test("a misspelt command is answered with the command, and another word with all commands")
  func commands() {
    #expect(advice("laod") == "There is no command “laod”; did you mean load?")
    #expect(advice("xyzzy") == "There is no command “xyzzy”; there are call, load, inspect and config.")
  }

  @Test(
    "an unknown option is answered with the commands that have it, or with the nearest option of this command",
    arguments: [
      ("--json", "chatbot call has no option --json; load and inspect have it."),
      ("--record out --json=x", "chatbot call has no option --json; load and inspect have it."),
      ("load --publishers 3 --record out", "chatbot load has no option --record; call has it."),
      ("--recrod out/", "There is no option --recrod; did you mean --record?"),
      ("--plya x.webm", "There is no option --plya; did you mean --play?"),
      ("--dur 10s", "There is no option --dur; did you mean --duration?"),
      ("-record out", "There is no option -record; did you mean --record?"),
      ("--jsn", "There is no option --jsn; chatbot help call lists the options."),
      ("-l", "There is no option -l; --loopback, --loop and --log-level begin with that letter."),
      ("-x", "There is no option -x; chatbot help call lists the options."),
    ])
  func options(line: String, sentence: String) {
    #expect(advice(line) == sentence)
  }

  @Test(
    "nothing is said of arguments that belong to something",
    arguments: [
      "--record out", "call --duration -5s --say=--no", "load --publishers 3 --json", "inspect a b --json -", "--help",
      "config show call --anything", "--play -", "--say -- ",
    ])
  func fine(line: String) {
    #expect(advice(line) == nil)
  }

  @Test("text of the command line is shown without control characters, and shortened")
  func hostile() {
    let sentence = UsageAdvice(["\u{1B}[31m" + String(repeating: "x", count: 500)], of: program.root).sentence ?? ""
    #expect(!sentence.contains("\u{1B}") && sentence.count < 150)
  }
}

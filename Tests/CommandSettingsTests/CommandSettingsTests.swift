import CommandSettings
import Testing

@Suite("settings of a command")
struct CommandSettingsTests {
  private func settings(
    _ line: String, file: String = "", _ environment: [String: String] = [:]
  ) throws -> CommandSettings {
    var arguments = line.split(separator: " ").map(String.init)
    if !file.isEmpty { arguments.append("--config=chatbot.yaml") }
    return try CommandSettings(arguments, of: program, environment: environment) { _ in file }
  }

  private func sentence(_ line: String, file: String = "", _ environment: [String: String] = [:]) -> String? {
    let error = #expect(throws: SettingsError.self) { try settings(line, file: file, environment) }
    return error?.description
  }

  @Test("the command line is preferred to a variable, a variable to a file, a section to what is above it")
  func order() throws {
    let file = "server: ws://top\nroom: top\nrecord: top\nduration: 1s\ncall:\n  record: section\n  duration: 2s\n"
    let environment = ["CHATBOT_DURATION": "3s", "CHATBOT_SERVER": "ws://variable"]
    let found = try settings("call --server ws://line", file: file, environment)
    #expect(
      found.arguments == [
        "call", "--room=top", "--record=section", "--duration=3s", "--server", "ws://line", "--config=chatbot.yaml",
      ])
    #expect(
      found.options.map { "\($0.name): \($0.origin)" } == [
        "server: the command line", "room: chatbot.yaml, line 2", "record: chatbot.yaml, line 6",
        "duration: the variable CHATBOT_DURATION", "udp-port: the default",
      ])
  }

  @Test("without a subcommand the options are those of the default command, and come first")
  func defaultCommand() throws {
    #expect(try settings("--record out", ["CHATBOT_ROOM": "100"]).arguments == ["--room=100", "--record", "out"])
    #expect(try settings("", ["CHATBOT_ROOM": "100"]).arguments == ["--room=100"])
  }

  @Test("only the options of the command are added")
  func otherCommands() throws {
    let environment = ["CHATBOT_ROOM": "100", "CHATBOT_PUBLISHERS": "3"]
    #expect(
      try settings("load", file: "room: 1\nserver: ws://a", environment).arguments
        == ["load", "--server=ws://a", "--publishers=3", "--config=chatbot.yaml"])
    #expect(try settings("inspect out", ["CHATBOT_JSON": "-"]).arguments == ["inspect", "--json=-", "out"])
  }

  @Test(
    "a name that is a flag in one command and has a value in another is set in a section, or by a variable of that kind"
  )
  func kinds() throws {
    let kinds = "json is a file in inspect, and a flag in load"
    for command in ["call", "load", "inspect"] {
      #expect(sentence(command, file: "\njson: x") == "chatbot.yaml, line 2: \(kinds); put it into a section.")
    }
    let file = "load:\n  json: true\ninspect:\n  json: report.json"
    #expect(try settings("load", file: file).arguments == ["load", "--json", "--config=chatbot.yaml"])
    #expect(
      try settings("inspect", file: file).arguments == ["inspect", "--json=report.json", "--config=chatbot.yaml"])
    let found = try settings("load", file: file, ["CHATBOT_JSON": "report.json"])
    #expect(found.arguments == ["load", "--json", "--config=chatbot.yaml"])
    #expect(found.warnings == ["CHATBOT_JSON is neither true nor false, and is ignored: \(kinds)."])
    #expect(try settings("load", ["CHATBOT_JSON": "true"]).arguments == ["load", "--json"])
    #expect(try settings("call", ["CHATBOT_JSON": "report.json"]).warnings == [])
    #expect(try settings("inspect", ["CHATBOT_JSON": "report.json"]).warnings == [])
  }

  @Test("the variable CHATBOT_CONFIG names the file")
  func fileByVariable() throws {
    var path: String?
    let found = try CommandSettings([], of: program, environment: ["CHATBOT_CONFIG": "/etc/chatbot.yaml"]) {
      path = $0
      return "room: 7"
    }
    #expect(path == "/etc/chatbot.yaml" && found.arguments == ["--room=7"])
  }

  @Test("flags are true or false, and false gives the opposite where there is one")
  func flags() throws {
    let file = "loopback: true\nquiet: false\nmdns: false\n"
    #expect(try settings("", file: file).arguments == ["--loopback", "--no-mdns", "--config=chatbot.yaml"])
    #expect(try settings("--mdns", file: file).arguments == ["--loopback", "--mdns", "--config=chatbot.yaml"])
    #expect(
      try settings("", file: file, ["CHATBOT_MDNS": "true"]).arguments
        == ["--loopback", "--mdns", "--config=chatbot.yaml"])
    #expect(try settings("", ["CHATBOT_NO_MDNS": "true"]).arguments == ["--no-mdns"])
    #expect(
      sentence("", file: "\nloopback: maybe")
        == "loopback is true or false, not “maybe” (chatbot.yaml, line 2).")
    #expect(
      sentence("", ["CHATBOT_LOOPBACK": "1"])
        == "loopback is true or false, not “1” (the variable CHATBOT_LOOPBACK).")
  }

  @Test("of flags that exclude each other the preferred source decides")
  func exclusiveFlags() throws {
    #expect(try settings("--loop", file: "once: true").arguments == ["--loop", "--config=chatbot.yaml"])
    #expect(
      try settings("", file: "once: true", ["CHATBOT_LOOP": "true"]).arguments
        == ["--loop", "--config=chatbot.yaml"])
  }

  @Test("a variable with false overrules the file, and leaves the file's value of a flag that excludes it")
  func falseVariables() throws {
    #expect(
      try settings("", file: "loopback: true", ["CHATBOT_LOOPBACK": "false"]).arguments == ["--config=chatbot.yaml"])
    #expect(
      try settings("", file: "once: true", ["CHATBOT_LOOP": "false"]).arguments == ["--once", "--config=chatbot.yaml"])
    #expect(
      try settings("", file: "no-mdns: true", ["CHATBOT_MDNS": "true"]).arguments
        == ["--mdns", "--config=chatbot.yaml"])
    #expect(
      try settings("", file: "mdns: true", ["CHATBOT_NO_MDNS": "true"]).arguments
        == ["--no-mdns", "--config=chatbot.yaml"])
  }

  @Test(
    "a section overrules flags above all sections that its own exclude",
    arguments: [
      ("once: true\ncall:\n  loop: true", ["--loop"]), ("loop: true\ncall:\n  once: true", ["--once"]),
      ("no-mdns: true\ncall:\n  mdns: true", ["--mdns"]), ("mdns: true\ncall:\n  no-mdns: true", ["--no-mdns"]),
      ("no-mdns: true\ncall:\n  mdns: false", ["--no-mdns"]), ("once: true\ncall:\n  loop: false", ["--once"]),
      ("loopback: true\ncall:\n  loopback: false", []), ("once: true\nload:\n  publishers: 3", ["--once"]),
    ])
  func exclusiveFlagsOfSections(file: String, arguments: [String]) throws {
    #expect(try settings("", file: file).arguments == arguments + ["--config=chatbot.yaml"])
  }

  @Test("a repeatable option has a list in a file, and a value on each line in a variable")
  func repeatable() throws {
    #expect(try settings("", file: "say: [a, b]").arguments == ["--say=a", "--say=b", "--config=chatbot.yaml"])
    #expect(try settings("", ["CHATBOT_SAY": "a, b\nc\n"]).arguments == ["--say=a, b", "--say=c"])
    #expect(try settings("--say x", file: "say: [a, b]").arguments == ["--say", "x", "--config=chatbot.yaml"])
    #expect(sentence("", file: "room: [a, b]") == "room has one value, not 2 (chatbot.yaml, line 1).")
  }

  @Test("an unknown key is refused with its line and the nearest key, or the commands that have it")
  func unknownKeys() {
    #expect(
      sentence("", file: "\nrecrod: out")
        == "chatbot.yaml, line 2: No command has an option recrod; did you mean record?")
    #expect(sentence("", file: "cal:\n- x") == "chatbot.yaml, line 1: No command has an option cal; did you mean call?")
    #expect(
      sentence("", file: "call: yes")
        == "chatbot.yaml, line 1: call is a section, so its keys are on further lines, indented.")
    #expect(
      sentence("", file: "call:\n  publishers: 3")
        == "chatbot.yaml, line 2: chatbot call has no option publishers; these have it: load.")
    #expect(
      sentence("", file: "token: s3cret")
        == "chatbot.yaml, line 1: No command has an option token; did you mean token-file?")
    #expect(
      sentence("load", file: "config: x")
        == "chatbot.yaml, line 1: A file cannot name another file with config.")
    #expect(
      sentence("", file: "room")
        == "chatbot.yaml, line 1: A line is “key: value”, where the key is the long name of an option, but this is “room”."
    )
  }

  @Test("an unknown variable is a warning with the nearest one; secrets and the variables of others are none")
  func unknownVariables() throws {
    let environment = [
      "CHATBOT_RECROD": "out", "CHATBOT_TOKEN": "s3cret", "CHATBOT_JOURNAL": "x", "CHATBOT_SERVICE_HOST": "10.0.0.1",
      "CHATBOT_PORT": "tcp://10.0.0.1:80", "CHATBOT_PUBLISHERS": "3", "PATH": "/bin", "CHATBOT_ROOM": "",
    ]
    let found = try settings("", environment)
    #expect(found.arguments == [])
    #expect(
      found.warnings == [
        "No option has the variable CHATBOT_RECROD, which is ignored; did you mean CHATBOT_RECORD?"
      ])
  }

  @Test("nothing is read when help is asked for, or for a command without options")
  func help() throws {
    let environment = ["CHATBOT_ROOM": "100", "CHATBOT_XYZ": "1"]
    for line in [
      "--help", "help call", "call -h", "--version", "--generate-completion-script bash", "config show call",
    ] {
      let found = try settings(line, environment)
      #expect(found.arguments == line.split(separator: " ").map(String.init) && found.warnings == [], "\(line)")
    }
  }

  @Test("a message that names an option is explained by where its value comes from")
  func origins() throws {
    let found = try settings("--room 1", file: "duration: soon\nsay: x", ["CHATBOT_UDP_PORT": "x"])
    #expect(
      found.origins(namedIn: "The value 'soon' is invalid for '--duration <time>'")
        == ["--duration is from chatbot.yaml, line 1."])
    #expect(
      found.origins(namedIn: "--udp-port is a number, --say-file is not, --room neither")
        == ["--udp-port is from the variable CHATBOT_UDP_PORT."])
  }

  @Test("the description is read from what swift-argument-parser prints")
  func dump() throws {
    let dump = """
      {"command":{"arguments":[{"isOptional":true,"isRepeating":false,"kind":"flag","names":[{"kind":"short","name":"h"},\
      {"kind":"long","name":"help"}],"parsingStrategy":"default","preferredName":{"kind":"long","name":"help"},\
      "shouldDisplay":true}],"commandName":"chatbot","defaultSubcommand":"call","shouldDisplay":true,"subcommands":[\
      {"arguments":[{"abstract":"How long. (default: 0s)","isOptional":true,"isRepeating":true,"kind":"option","names":\
      [{"kind":"long","name":"act"},{"kind":"long","name":"fault"}],"parsingStrategy":"unconditional","preferredName":\
      {"kind":"long","name":"fault"},"sectionTitle":"Network","shouldDisplay":true,"valueName":"time"}],\
      "commandName":"call","shouldDisplay":true}]},"serializationVersion":0}
      """
    let root = try CommandDescription(dump: dump)
    #expect(root.name == "chatbot" && root.defaultSubcommand == "call")
    #expect(root.options == [OptionDescription(.flag, "help", short: ["h"])])
    var expected = OptionDescription(
      .option, "fault", "act", valueName: "time", defaultValue: "0s", section: "Network", isRepeating: true,
      takesAnyWord: true)
    expected.abstract = "How long. (default: 0s)"
    #expect(root.subcommands[0].options == [expected])
    #expect(throws: (any Error).self) { try CommandDescription(dump: "{}") }
  }
}

@Suite("the table of settings")
struct SettingsTableTests {
  @Test("each value is shown as in a file, with its origin, and secrets in addresses are hidden")
  func table() throws {
    let arguments = ["--room", "100", "--no-mdns", "--loopback", "--config", "c.yaml"]
    let file = "server: wss://bot:s3cret@calls.example/x?token=s3cret\nsay: [a, \"b, c\"]\n"
    let settings = try CommandSettings(arguments, of: program, environment: ["CHATBOT_DURATION": "5s"]) { _ in file }
    let lines = SettingsTable(settings).lines
    #expect(
      lines == [
        "server: wss://…@calls.example/x?…  # c.yaml, line 1", "room: 100                          # the command line",
        "duration: 5s                       # the variable CHATBOT_DURATION",
        "say: [a, \"b, c\"]                   # c.yaml, line 2",
        "loopback: true                     # the command line",
        "mdns: false                        # the command line", "# The defaults:", "# udp-port: 0",
        "# Without a value: record, receive-files, loop, once, play, token-file, on-finish, on-segment, log-level, quiet",
      ])
    #expect(try !SettingsFile(lines.joined(separator: "\n"), sections: []).entries.isEmpty)
  }

  @Test("what a file may only have in a section is shown in one, so that the table can be read again")
  func section() throws {
    let settings = try CommandSettings(
      ["inspect", "--json", "report.json", "--config", "c.yaml"], of: program, environment: [:]
    ) { _ in "" }
    let lines = SettingsTable(settings).lines
    #expect(lines == ["inspect:", "  json: report.json  # the command line"])
    let again = try CommandSettings(["inspect", "--config", "c.yaml"], of: program, environment: [:]) { _ in
      lines.joined(separator: "\n")
    }
    #expect(again.arguments == ["inspect", "--json=report.json", "--config", "c.yaml"])
  }

  @Test("of a command only the program is shown")
  func commands() throws {
    let arguments = ["--on-finish", "curl -H 'Token: s3cret' https://a.example", "--on-segment", "upload"]
    let settings = try CommandSettings(arguments, of: program, environment: [:]) { _ in "" }
    #expect(
      SettingsTable(settings).lines.prefix(2)
        == ["on-finish: curl …   # the command line", "on-segment: upload  # the command line"])
  }

  @Test(
    "a secret in a value is hidden",
    arguments: [
      ("exec:python3 adapter.py --token s3cret", "exec:python3 …"),
      ("turn:user:s3cret@turn.example", "turn:…@turn.example"),
      ("wss://a.example/room", "wss://a.example/room"), ("out/", "out/"), ("a?b", "a?b"),
      ("exec:adapter", "exec:adapter"), ("exec:adapter\t--token s3cret", "exec:adapter …"),
      ("exec:adapter\n--token\ts3cret", "exec:adapter …"),
    ])
  func secrets(value: String, shown: String) {
    #expect(HiddenSecrets.of(value) == shown)
  }
}

@Suite("the overview of options")
struct OptionOverviewTests {
  @Test("options are below their headings, in lines of the width, and a flag and its opposite are one")
  func overview() {
    let command = CommandDescription(
      name: "call",
      options: [
        OptionDescription(.option, "room", valueName: "name", section: "Room"),
        OptionDescription(.option, "server", valueName: "url", section: "Room"),
        OptionDescription(.flag, "mdns", section: "Network"), OptionDescription(.flag, "no-mdns", section: "Network"),
        OptionDescription(.flag, "loopback"), OptionDescription(.flag, "help"),
        OptionDescription(.flag, "secret", isHidden: true),
      ])
    #expect(
      OptionOverview(command, columns: 34).text(otherHeading: "Call") == """
          Room     --room <name>
                   --server <url>
          Network  --[no-]mdns
          Call     --loopback
        """)
  }
}

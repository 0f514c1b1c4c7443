import ArgumentParser
import CommandSettings

/// Prints the manual page; `make install` calls it.
struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Print the manual page, in the macros of man(7).", shouldDisplay: false)

  func run() throws {
    let root = try CommandLineSettings.program().root
    let exitCodes = ExitStatus.table.split(separator: "\n").dropFirst().joined(separator: "\n")
    let configuration = """
      The values of options come from the command line, else from environment variables, else from the file of --config or
      CHATBOT_CONFIG. The variable of --ice-server is CHATBOT_ICE_SERVER; repeatable options have one value on each line,
      flags are true or false. The file is YAML: “key: value” by the long names of options, with a section for each command.
      “chatbot config show COMMAND” shows where each value comes from. Secrets are in variables of their own:
      \(CommandLineSettings.secrets.sorted().joined(separator: ", ")).
      """
    let page = ManualPage(
      root, version: ProgramVersion.text,
      sections: [
        ManualPage.Section(title: "Configuration", text: configuration),
        ManualPage.Section(title: "Exit status", text: exitCodes),
      ])
    print(page.text, terminator: "")
  }
}
